#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "bcos/text.hpp"
#include "tests/engine/oracle.hpp"
#include "tests/engine/random_method.hpp"
#include "tests/engine/random_numbers.hpp"
#include "tests/engine/stepper.hpp"

namespace bcos::testing {
namespace {

std::vector<std::int64_t> random_shape(Random& random) {
  const std::vector<std::vector<std::int64_t>> shapes = {
      {1}, {7}, {64}, {3, 5}, {16, 9}, {1, 40}, {33, 1}, {4, 3, 6}, {50, 70}, {}};
  return shapes[random.below(shapes.size())];
}

/// Block lists in an order of their own.
Blocks random_lists(Random& random, std::uint64_t n) {
  IndexLists lists(1 + random.below(std::min<std::uint64_t>(n, 5)));
  for (std::uint64_t i = 0; i < n; ++i) lists[random.below(lists.size())].push_back(i);
  std::erase_if(lists, [](const auto& list) { return list.empty(); });
  return Blocks::of_lists(lists);
}

template <class T>
void agrees_with_the_oracle(Method method, std::uint64_t seed, double tolerance) {
  Random random(seed);
  const std::vector<std::int64_t> shape = random_shape(random);
  const std::uint64_t n = size_of(shape);
  if (random.below(4) == 0) method.blocks = random_lists(random, n);
  // Formulas are compared here; denominators that vanish have tests of their own.
  if (method.eps == 0 && method.eps_root < 1e-6) method.eps_root = 1e-6;
  // An error of d grows by gamma / eps_root under this rule. Where terms of up to 4 cancel in d
  // float32 leaves 4e-7, and the gammas sum to 0.05: no more than 2e-6 of x.
  if (method.rule == StepRule::inv && sizeof(T) < sizeof(double)) {
    method.eps_root = std::max(method.eps_root, 1e-2);
  }
  method.init_on_first_nonzero = false;
  validate(method);

  const std::vector<T> x0 = random.numbers<T>(n);
  Stepper<T> engine(method, x0, shape);
  Oracle oracle(method, {x0.begin(), x0.end()}, shape);
  for (int t = 0; t < 6; ++t) {
    const std::vector<T> g = random.numbers<T>(n, std::ldexp(1.0, t % 3));
    const double alpha = 0.02 / (t + 1);
    std::vector<T> d2(block_count(method.blocks, shape));
    for (T& value : d2) value = static_cast<T>(std::abs(random.signed_unit()) + 0.1);
    Gradient gradient;
    gradient.data = g.data();
    if (method.estimator == Estimator::oracle) gradient.oracle = d2.data();
    engine.step_with(gradient, alpha);
    oracle.step({g.begin(), g.end()}, alpha, {d2.begin(), d2.end()});
    for (std::size_t i = 0; i < n; ++i) {
      const double scale = std::max(1.0, std::abs(oracle.x()[i]));
      RC_ASSERT(std::abs(oracle.x()[i] - static_cast<double>(engine.x()[i])) <= tolerance * scale);
    }
  }
}

TEST(RandomMethods, AgreeWithTheOracleInFloat64) {
  EXPECT_TRUE(rc::check("float64", [] {
    const Method method = *random_method();
    agrees_with_the_oracle<double>(method, *rc::gen::arbitrary<std::uint64_t>(), 1e-10);
  }));
}

TEST(RandomMethods, AgreeWithTheOracleInFloat32) {
  EXPECT_TRUE(rc::check("float32", [] {
    const Method method = *random_method();
    agrees_with_the_oracle<float>(method, *rc::gen::arbitrary<std::uint64_t>(), 2e-5);
  }));
}

}  // namespace
}  // namespace bcos::testing
