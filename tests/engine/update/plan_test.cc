#include <fcntl.h>
#include <gtest/gtest.h>

#include <cfenv>
#include <cstdlib>
#include <new>

#include "bcos/methods.hpp"
#include "bcos/optimizer.hpp"
#include "bcos/text.hpp"
#include "tests/engine/bits.hpp"
#include "tests/engine/expect_error.hpp"
#include "tests/engine/random_numbers.hpp"
#include "tests/engine/stepper.hpp"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace {
std::atomic<bool> counting{false};  // in all threads
std::atomic<std::size_t> allocated{0};
std::atomic<int> left_until_failure{-1};  // allocations; below 0: none fails

[[maybe_unused]] void count(std::size_t size) {
  if (counting) allocated += size;
  if (left_until_failure >= 0 && left_until_failure-- == 0) throw std::bad_alloc();
}
}  // namespace

// Counts what a step allocates. Sanitizers bring their own allocator: leave it to them.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define BCOS_SANITIZED
#endif
#endif
#else
#define BCOS_SANITIZED
#endif
#if !defined(BCOS_SANITIZED)
// Not inlined: g++ would see malloc and free beside calls of new and delete, and warn.
__attribute__((noinline)) void* operator new(std::size_t size) {
  count(size);
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
__attribute__((noinline)) void* operator new(std::size_t size, std::align_val_t alignment) {
  count(size);
  const auto unit = static_cast<std::size_t>(alignment);
  void* memory = std::aligned_alloc(unit, (size + unit - 1) / unit * unit);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
__attribute__((noinline)) void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
__attribute__((noinline)) void operator delete(void* memory, std::size_t,
                                               std::align_val_t) noexcept {
  std::free(memory);
}
__attribute__((noinline)) void operator delete(void* memory) noexcept { std::free(memory); }
__attribute__((noinline)) void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
#endif

namespace bcos::testing {
namespace {

/// What some more steps allocate, in all threads.
template <class Step>
std::size_t bytes_of_steps(const Step& step) {
  allocated = 0;
  counting = true;
  for (int t = 0; t < 5; ++t) step();
  counting = false;
  return allocated;
}

TEST(APlan, AllocatesNothingAfterTheFirstStep) {
  Method rows = bcosw_c;
  rows.blocks = Blocks::of(Layout::row);
  Method whole = bcosw_m;
  whole.blocks = Blocks::of(Layout::tensor);
  const std::vector<Method> groups = {bcosw_c, adamw, rows, whole};
  const std::int64_t shape[] = {400, 500};
  const std::int64_t one[] = {1};
  const std::int64_t all[] = {400 * 500};
  std::vector<std::vector<float>> memory(groups.size() * 4, std::vector<float>(400 * 500, 0.5F));
  std::vector<Parameter> parameters(groups.size());
  std::vector<Gradient> gradients(groups.size());
  for (std::size_t i = 0; i < groups.size(); ++i) {
    parameters[i].x = {memory[4 * i].data(), DType::f32, shape, {}};
    parameters[i].m = {memory[4 * i + 1].data(), DType::f32, shape, {}};
    parameters[i].v = {memory[4 * i + 2].data(), DType::f32, i == 3 ? Dims(one) : Dims(all), {}};
    parameters[i].group = i;
    gradients[i].data = memory[4 * i + 3].data();
  }
  Plan plan(groups, parameters);
  std::vector<std::uint64_t> steps(groups.size(), 0);
  const std::vector<double> alphas(groups.size(), 0.01);
  const StepOptions options{.max_norm = 1.0, .guard = Guard::skip};
  plan.update(gradients, alphas, steps, options);
  EXPECT_EQ(bytes_of_steps([&] { plan.update(gradients, alphas, steps, options); }), 0U);
}

template <class T>
void allocates_nothing(const Method& method, bool transposed) {
  const std::vector<std::int64_t> shape = {96, 80};
  const std::int64_t apart[] = {1, 96};
  Stepper<T> stepper(method, std::vector<T>(96 * 80, T(0.5)), shape);
  const std::vector<T> g(96 * 80, T(0.25));
  const Parameter parameter = stepper.view();
  Plan plan({&method, 1}, {&parameter, 1});
  Gradient gradient{.data = g.data()};
  if (transposed) gradient.strides = apart;
  std::uint64_t steps = 0;
  const double alpha = 0.01;
  const auto step = [&] { plan.update({&gradient, 1}, {&alpha, 1}, {&steps, 1}); };
  step();
  EXPECT_EQ(bytes_of_steps(step), 0U) << to_json(method) << (transposed ? ", transposed" : "");
}

TEST(APlan, AllocatesNothingWhateverTheBlocks) {
  IndexLists lists(3);
  for (std::uint64_t i = 0; i < 96 * 80; ++i) lists[i % 3].push_back(i);
  for (const Blocks& blocks :
       {Blocks::of(Layout::coordinate), Blocks::of(Layout::tensor), Blocks::of(Layout::row),
        Blocks::of(Layout::column), Blocks::of_heads(4), Blocks::of_lists(lists)}) {
    for (Method method : {bcosw_c, bcosw_m, adamw}) {
      method.blocks = blocks;
      for (const bool transposed : {false, true}) {
        allocates_nothing<float>(method, transposed);
        allocates_nothing<double>(method, transposed);
      }
    }
  }
}

TEST(AnOptimizer, AllocatesNothingAfterTheFirstStep) {
  std::vector<float> x(1000, 1);
  const std::vector<float> g(1000, 0.1F);
  Optimizer optimizer(bcosw_c);
  const auto id = optimizer.add("x", x, {10, 100});
  const ParameterGradient gradients[] = {{id, g}};
  const double alpha = 0.1;
  const auto step = [&] { optimizer.step(alpha, std::span(gradients)); };
  step();
  EXPECT_EQ(bytes_of_steps(step), 0U);
}

#if !defined(BCOS_SANITIZED)
/// Whichever allocation of an add fails, the optimizer is as it was and goes on.
TEST(AnOptimizer, SurvivesEveryFailedAllocation) {
  const std::vector<float> g(6, 0.1F);
  int failures = 0;
  for (bool failed = true; failed; ++failures) {
    std::vector<float> x(6, 1), y(6, 1);
    Optimizer optimizer(adamw);
    const auto first = optimizer.add("x", x, {2, 3});
    optimizer.step(0.1, {{first, g}});
    failed = false;
    try {
      left_until_failure = failures;
      optimizer.add("a name that does not fit into a short string", y, {2, 3});
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    left_until_failure = -1;
    ASSERT_EQ(optimizer.parameters(), failed ? 1U : 2U);
    if (failed) optimizer.add("a name that does not fit into a short string", y, {2, 3});
    const auto second = optimizer.find("a name that does not fit into a short string");
    optimizer.step(0.1, {{first, g}, {second, g}});
    ASSERT_EQ(optimizer.state(first).steps, 2U);
    ASSERT_EQ(optimizer.state(second).steps, 1U);
  }
  EXPECT_GT(failures, 10);
}
#endif

TEST(AnOptimizer, KeepsTheShapesThatItHasShown) {
  std::vector<float> x(6, 1);
  std::vector<std::vector<float>> more(100, x);
  Optimizer optimizer(adamw);
  const auto id = optimizer.add("x", x, {2, 3});
  const ParameterState state = optimizer.state(id);
  for (std::size_t i = 0; i < more.size(); ++i) optimizer.add(std::to_string(i), more[i]);
  EXPECT_EQ(state.m.shape[1], 3);
  EXPECT_EQ(state.v.shape[0], 6);
}

TEST(APlan, TakesNewNumbersButNoNewMethod) {
  Stepper<float> stepper(bcosw_c, {1, 2});
  const Parameter parameter = stepper.view();
  Plan plan({&bcosw_c, 1}, {&parameter, 1});
  Method faster = bcosw_c;
  faster.beta = 0.5;
  plan.set_numbers(0, faster);
  const std::vector<float> g = {1, 1};
  const Gradient gradient{.data = g.data()};
  std::uint64_t steps = 0;
  const double alpha = 0.1;
  plan.update({&gradient, 1}, {&alpha, 1}, {&steps, 1});
  EXPECT_EQ(stepper.m()[0], 0.5F);
  EXPECT_NE(error_of([&] { plan.set_numbers(0, adamw); }).find("make a new plan"),
            std::string::npos);
  faster.beta = 1.5;
  EXPECT_NE(error_of([&] { plan.set_numbers(0, faster); }).find("beta"), std::string::npos);
  EXPECT_NE(error_of([&] { plan.set_numbers(1, bcosw_c); }).find("group < 1"), std::string::npos);
}

TEST(APlan, RefusesATargetThisCpuDoesNotHave) {
  Stepper<float> stepper(bcosw_c, {1, 2});
  const Parameter parameter = stepper.view();
#if defined(__x86_64__)
  const Target foreign = Target::neon;
#else
  const Target foreign = Target::avx2;
#endif
  EXPECT_NE(error_of([&] {
              const Plan plan({&bcosw_c, 1}, {&parameter, 1}, {.target = foreign});
            }).find("target this CPU can run"),
            std::string::npos);
}

TEST(ACallersFloatEnvironment, ChangesNoBitsAndComesBack) {
  Random random(81);
  const auto x = random.numbers<float>(1000, 1e-38);
  const auto g = random.numbers<float>(1000, 1e-39);
  Method method = bcosw_c;
  method.eps_root = 0;
  Stepper<float> plain(method, x), disturbed(method, x);
  plain.step(g, 1e-38);
  std::fesetround(FE_UPWARD);
#if defined(__x86_64__)
  _mm_setcsr(_mm_getcsr() | 0x8040);  // flush denormal results and operands to zero
  const unsigned before = _mm_getcsr() & ~0x3fU;
#endif
  disturbed.step(g, 1e-38);
  EXPECT_EQ(std::fegetround(), FE_UPWARD);
#if defined(__x86_64__)
  EXPECT_EQ(_mm_getcsr() & ~0x3fU, before);
  _mm_setcsr(0x1f80);
#endif
  std::fesetround(FE_TONEAREST);
  EXPECT_TRUE(same_bits(plain.everything(), disturbed.everything()));
}

}  // namespace
}  // namespace bcos::testing
