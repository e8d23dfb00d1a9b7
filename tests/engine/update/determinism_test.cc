#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <thread>
#include <tuple>

#include "bcos/methods.hpp"
#include "bcos/text.hpp"
#include "tests/engine/bits.hpp"
#include "tests/engine/random_numbers.hpp"
#include "tests/engine/stepper.hpp"

namespace bcos::testing {
namespace {

/// Runs the tasks on as many threads as asked for, in an order of its own.
struct ShuffledThreads {
  int threads;
  std::uint64_t seed;

  static void run(void* context, std::size_t count, Executor::Task task, void* argument) {
    const auto* self = static_cast<const ShuffledThreads*>(context);
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    Random random(self->seed);
    for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    std::atomic<std::size_t> next{0};
    std::vector<std::thread> pool;
    for (int k = 0; k < self->threads; ++k) {
      pool.emplace_back([&] {
        for (std::size_t i = next++; i < count; i = next++) task(argument, order[i]);
      });
    }
    for (std::thread& thread : pool) thread.join();
  }
};

std::vector<Method> methods_with_blocks() {
  std::vector<Method> methods;
  for (const NamedMethod& named : named_methods()) methods.push_back(*named.method);
  for (const Layout layout : {Layout::tensor, Layout::row, Layout::column}) {
    for (Method method : {bcosw_c, bcosw_m, adamw}) {
      method.blocks = Blocks::of(layout);
      methods.push_back(method);
    }
  }
  Method heads = bcosw_c;
  heads.blocks = Blocks::of_heads(6);
  methods.push_back(heads);
  return methods;
}

template <class T>
std::vector<T> after_steps(const Method& method, const std::vector<std::int64_t>& shape,
                           const PlanOptions& plan, const StepOptions& options, int steps = 3) {
  Random random(17);
  const std::uint64_t n = size_of(shape);
  Stepper<T> stepper(method, random.numbers<T>(n), shape, plan);
  for (int t = 0; t < steps; ++t) stepper.step(random.numbers<T>(n), 0.01, options);
  return stepper.everything();
}

// Large enough for several chunks of 64 Ki elements, with odd sizes.
const std::vector<std::int64_t> kShape = {606, 677};

// A step without limits goes the plain way, a limited one another.
const StepOptions kLimits[] = {{}, {.max_norm = 1.0, .guard = Guard::skip}};

TEST(Bits, DoNotDependOnThreadsOrOrder) {
  for (const StepOptions& options : kLimits) {
    for (const Method& method : methods_with_blocks()) {
      const auto alone = after_steps<float>(method, kShape, {.executor = {.threads = 1}}, options);
      for (int threads = 2; threads <= 8; ++threads) {
        ShuffledThreads shuffled{threads, static_cast<std::uint64_t>(threads)};
        const PlanOptions plan{.executor = {&ShuffledThreads::run, &shuffled, threads}};
        EXPECT_TRUE(same_bits(alone, after_steps<float>(method, kShape, plan, options)))
            << to_json(method) << " with " << threads << " threads";
      }
    }
  }
}

TEST(Bits, OfTheNormOfAListDoNotDependOnThreads) {
  std::vector<std::vector<float>> x, g, m;
  const std::vector<std::int64_t> sizes = {100, 300'001, 7, 70'000};
  Random random(19);
  for (const std::int64_t size : sizes) {
    x.push_back(random.numbers<float>(static_cast<std::size_t>(size)));
    g.push_back(random.numbers<float>(static_cast<std::size_t>(size)));
    m.push_back(x.back());
  }
  const auto norm_with = [&](int threads) {
    std::vector<Parameter> parameters(sizes.size());
    std::vector<Gradient> gradients(sizes.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      parameters[i].x = {x[i].data(), DType::f32, {&sizes[i], 1}, {}};
      parameters[i].m = {m[i].data(), DType::f32, {&sizes[i], 1}, {}};
      gradients[i].data = g[i].data();
    }
    std::vector<std::uint64_t> steps(sizes.size(), 0);
    const double alpha = 0.01;
    ShuffledThreads shuffled{threads, 2};
    const PlanOptions plan{.executor = {&ShuffledThreads::run, &shuffled, threads}};
    const StepReport report =
        update({&bcosw_c, 1}, parameters, gradients, {&alpha, 1}, steps, {.max_norm = 1.0}, plan);
    return std::vector<double>{*report.norm};
  };
  for (const int threads : {2, 3}) EXPECT_TRUE(same_bits(norm_with(1), norm_with(threads)));
}

TEST(Bits, OfLargeBlocksWithStridedGradientsDoNotDependOnThreads) {
  for (const auto& [layout, rows, columns] :
       {std::tuple{Layout::tensor, 600, 700}, std::tuple{Layout::row, 3, 140'001}}) {
    Method method = bcosw_c;
    method.blocks = Blocks::of(layout);
    Random random(53);
    const std::uint64_t n = size_of({rows, columns});
    const std::vector<float> x = random.numbers<float>(n);
    const std::vector<float> g = random.numbers<float>(n);
    const std::int64_t transposed[] = {1, rows};
    const auto stepped = [&](int threads) {
      ShuffledThreads shuffled{threads, 3};
      const PlanOptions plan{.executor = {&ShuffledThreads::run, &shuffled, threads}};
      Stepper<float> stepper(method, x, {rows, columns}, plan);
      for (int t = 0; t < 2; ++t) {
        stepper.step_with({.data = g.data(), .strides = transposed}, 0.01);
      }
      EXPECT_NE(stepper.x().back(), x.back());
      return stepper.everything();
    };
    const auto alone = stepped(1);
    for (const int threads : {2, 3}) EXPECT_TRUE(same_bits(alone, stepped(threads)));
  }
}

TEST(Bits, DoNotDependOnHowLongTheRangesOfWorkAre) {
  const std::vector<std::int64_t> large = {3001, 5657};
  for (const Layout layout : {Layout::coordinate, Layout::row}) {
    Method method = bcosw_c;
    method.blocks = Blocks::of(layout);
    const auto alone = after_steps<float>(method, large, {.executor = {.threads = 1}}, {}, 2);
    ShuffledThreads shuffled{2, 2};
    const PlanOptions plan{.executor = {&ShuffledThreads::run, &shuffled, 2}};
    EXPECT_TRUE(same_bits(alone, after_steps<float>(method, large, plan, {}, 2)));
  }
}

TEST(Bits, DoNotDependOnTheTarget) {
  const std::vector<std::int64_t> shape = {66, 130};
  for (const Method& method : methods_with_blocks()) {
    const auto narrow = after_steps<float>(method, shape, {.target = Target::scalar}, {});
    const auto wide = after_steps<double>(method, shape, {.target = Target::scalar}, {});
    for (const Target target : available_targets()) {
      EXPECT_TRUE(same_bits(narrow, after_steps<float>(method, shape, {.target = target}, {})))
          << to_json(method) << " on " << name(target);
      EXPECT_TRUE(same_bits(wide, after_steps<double>(method, shape, {.target = target}, {})))
          << to_json(method) << " on " << name(target);
    }
  }
}

TEST(TheDefaultTarget, IsTheFastestAvailable) {
  const char* asked_for = std::getenv("BCOS_TARGET");
  const std::string before = asked_for == nullptr ? "" : asked_for;
  unsetenv("BCOS_TARGET");
  EXPECT_EQ(name(default_target()), name(available_targets().back()));
  EXPECT_EQ(available_targets().front(), Target::scalar);
  if (asked_for != nullptr) setenv("BCOS_TARGET", before.c_str(), 1);
}

TEST(Bits, DoNotDependOnWhoLooks) {
  for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{66, 130}, {3, 5000}}) {
    for (const StepOptions& options : kLimits) {
      for (Method method : methods_with_blocks()) {
        if (method.blocks.layout == Layout::heads) method.blocks = Blocks::of_heads(3);
        Random random(37);
        const std::vector<float> x = random.numbers<float>(size_of(shape));
        Stepper<float> alone(method, x, shape);
        Stepper<float> watched(method, x, shape);
        watched.tap();
        for (int t = 0; t < 5; ++t) {
          std::vector<float> g = random.wild_numbers<float>(x.size(), 30);
          alone.step(g, 0.01, options);
          watched.step(g, 0.01, options);
        }
        EXPECT_TRUE(same_bits(alone.everything(), watched.everything())) << to_json(method);
      }
    }
  }
}

/// Steps a tensor in pieces cut at the given rows (or elements), each a parameter of its own.
std::vector<float> sharded(const Method& method, std::int64_t columns,
                           const std::vector<std::int64_t>& cuts) {
  Random random(23);
  const std::int64_t n = cuts.back() * columns;
  std::vector<float> x = random.numbers<float>(static_cast<std::size_t>(n));
  std::vector<std::vector<float>> gradients;
  for (int t = 0; t < 3; ++t)
    gradients.push_back(random.numbers<float>(static_cast<std::size_t>(n)));
  std::vector<float> result;
  for (std::size_t k = 0; k + 1 < cuts.size(); ++k) {
    const auto from = cuts[k] * columns;
    const auto to = cuts[k + 1] * columns;
    std::vector<std::int64_t> shape = {cuts[k + 1] - cuts[k], columns};
    Stepper<float> shard(method, {x.begin() + from, x.begin() + to}, shape);
    for (const auto& g : gradients) {
      shard.step(std::vector<float>(g.begin() + from, g.begin() + to), 0.01);
    }
    result.insert(result.end(), shard.x().begin(), shard.x().end());
  }
  return result;
}

/// Also where a block has one element, and whatever the other lists hold.
TEST(Bits, DoNotDependOnTheListsOfOtherShards) {
  for (const Method& named : {bcosw_c, bcosw_m, adamw, bcosw_g}) {
    Random random(31);
    const std::vector<float> x = random.numbers<float>(4);
    Method whole = named;
    whole.blocks = Blocks::of_lists({{0, 1}, {2}, {3}});
    Method rest = named;
    rest.blocks = Blocks::of_lists({{0}, {1}});
    for (int round = 0; round < 50; ++round) {
      Stepper<float> all(whole, x);
      Stepper<float> shard(rest, {x[2], x[3]});
      for (int t = 0; t < 4; ++t) {
        const std::vector<float> g = random.numbers<float>(4);
        all.step(g, 0.01);
        shard.step({g[2], g[3]}, 0.01);
      }
      ASSERT_TRUE(same_bits(shard.x(), {all.x()[2], all.x()[3]})) << to_json(named);
    }
  }
}

TEST(Bits, DoNotDependOnShards) {
  Random random(29);
  for (const NamedMethod& named : named_methods()) {
    for (const Layout layout : {Layout::coordinate, Layout::row}) {
      Method method = *named.method;
      method.blocks = Blocks::of(layout);
      const std::int64_t columns = layout == Layout::row ? 137 : 1;
      const std::int64_t rows = layout == Layout::row ? 60 : 5000;
      const auto whole = sharded(method, columns, {0, rows});
      for (int round = 0; round < 10; ++round) {
        std::vector<std::int64_t> cuts = {0, rows};
        for (int k = 0; k < 4; ++k) {
          cuts.push_back(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(rows))));
        }
        std::ranges::sort(cuts);
        EXPECT_TRUE(same_bits(whole, sharded(method, columns, cuts))) << named.id;
      }
    }
  }
}

TEST(Bits, AreTheSameForOneTensorAndForAListThatSharesItsChunks) {
  Random random(31);
  std::vector<float> x = random.numbers<float>(100'000);
  const std::vector<float> g = random.numbers<float>(100'000);
  Stepper<float> flat(bcosw_c, x);
  flat.step(g, 0.01);

  std::vector<float> m(x.size());
  std::vector<std::int64_t> sizes;
  for (std::int64_t left = 100'000; left > 0;) {
    const auto size = std::min<std::int64_t>(left, static_cast<std::int64_t>(random.below(3000)));
    sizes.push_back(size);
    left -= size;
  }
  std::vector<Parameter> parameters;
  std::vector<Gradient> gradients;
  std::int64_t at = 0;
  for (const std::int64_t& size : sizes) {
    Parameter parameter;
    parameter.x = {x.data() + at, DType::f32, {&size, 1}, {}};
    parameter.m = {m.data() + at, DType::f32, {&size, 1}, {}};
    parameters.push_back(parameter);
    gradients.push_back({.data = g.data() + at});
    at += size;
  }
  std::vector<std::uint64_t> steps(parameters.size(), 0);
  const double alpha = 0.01;
  update({&bcosw_c, 1}, parameters, gradients, {&alpha, 1}, steps);
  EXPECT_TRUE(same_bits(flat.x(), x));
}

}  // namespace
}  // namespace bcos::testing
