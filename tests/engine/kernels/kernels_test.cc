#include "engine/kernels/kernels.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>

#include "bcos/target.hpp"
#include "engine/update/coefficients.hpp"
#include "tests/engine/bits.hpp"
#include "tests/engine/guarded_array.hpp"
#include "tests/engine/random_numbers.hpp"

namespace bcos::kernels {
namespace {

using testing::GuardedArray;
using testing::Random;
using testing::same_bits;

constexpr std::size_t kTwoVectors = 32;  // of the widest target, in float32
constexpr std::size_t kMisalignments = 4;

template <class T>
struct Case {
  Coefficients<T> c;
  int range;  // of magnitudes, as a power of two
  const char* what;
};

template <class T>
std::vector<Case<T>> coefficient_cases() {
  StepNumbers numbers;
  numbers.factor = 0.75;
  numbers.alpha = 0.01;
  numbers.delta = 0.001;
  numbers.beta = 0.9;
  numbers.p = 0.96;
  numbers.q = 0.01;
  numbers.eps_root = 1e-12;
  numbers.lambda = 0.1;
  std::vector<Case<T>> cases;
  const int extreme = sizeof(T) == 4 ? 120 : 1000;
  const auto add = [&](int range, const char* what) {
    cases.push_back({coefficients<T>(numbers, StepRule::sqrt), range, what});
  };
  add(3, "plain");
  numbers.factor = 1;
  add(3, "the gradient as it comes");
  numbers.factor = 0.75;
  add(extreme, "huge and tiny with eps_root");
  numbers.eps_root = 0;
  add(extreme, "huge and tiny without eps");
  numbers.eps = 1e-3;
  add(3, "eps");
  numbers.coupled = true;
  add(3, "coupled");
  numbers.adopt = true;
  add(3, "beginning where states are zero");
  numbers.adopt_raw = true;
  numbers.unstarted = true;
  add(3, "beginning from the raw gradient");
  numbers.adopt = false;
  numbers.coupled = false;
  add(3, "unstarted");
  return cases;
}

template <class T>
struct Inputs {
  std::array<std::vector<T>, 6> streams;  // x g m v u oracle

  Inputs(std::size_t n, int range, std::uint64_t seed) {
    Random random(seed);
    for (auto& stream : streams) stream = random.wild_numbers<T>(n, range);
    for (T& v : streams[3]) v = std::abs(v);
    for (T& oracle : streams[5]) oracle = std::abs(oracle) + T(0.5);
  }
};

/// How a kernel walks over memory, which changes nothing.
struct Way {
  bool tiled = false;
  bool followed = false;  ///< by another tensor
};

/// Runs a kernel on copies of the inputs at the end of their page, `shift` elements in; gives back
/// everything it may have written.
template <class T, class Run>
std::vector<T> written(const Inputs<T>& inputs, std::size_t shift, bool tapped, Way way,
                       const Run& run) {
  const std::size_t n = inputs.streams[0].size();
  std::vector<std::unique_ptr<GuardedArray<T>>> arrays;
  for (std::size_t i = 0; i < 10; ++i) {
    // Spare elements behind the end differ by stream, so that alignments do.
    std::vector<T> values = i < 6 ? inputs.streams[i] : std::vector<T>(n, T(7));
    values.insert(values.end(), (shift + i) % kMisalignments, T(42));
    arrays.push_back(std::make_unique<GuardedArray<T>>(values));
  }
  Streams<T> s;
  s.x = arrays[0]->data();
  s.g = arrays[1]->data();
  s.m = arrays[2]->data();
  s.v = arrays[3]->data();
  s.u = arrays[4]->data();
  s.oracle = arrays[5]->data();
  if (tapped) {
    s.tap_g = arrays[6]->data();
    s.tap_d = arrays[7]->data();
    s.tap_v = arrays[8]->data();
    s.tap_update = arrays[9]->data();
  }
  s.tapped = tapped;
  s.tiled = way.tiled;
  const Streams<T> next = s;
  if (way.followed) s.next = &next;
  run(s, n);
  std::vector<T> all;
  for (const auto& array : arrays) {
    const std::vector<T> values = array->values();
    for (std::size_t i = n; i < values.size(); ++i) EXPECT_EQ(values[i], T(42)) << "behind the end";
    all.insert(all.end(), values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n));
  }
  return all;
}

template <class T>
class EveryKernel : public ::testing::Test {};
using LaneTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(EveryKernel, LaneTypes);

template <class T>
void check_coordinate_kernels(std::size_t first, std::size_t last, Way way) {
  const Kernels<T>& scalar = kernels_of<T>(Target::scalar);
  for (const Target target : available_targets()) {
    const Kernels<T>& kernels = kernels_of<T>(target);
    for (std::size_t recipe = 0; recipe < kRecipes; ++recipe) {
      ASSERT_EQ(kernels.coordinate[recipe] == nullptr, scalar.coordinate[recipe] == nullptr);
      if (kernels.coordinate[recipe] == nullptr) continue;
      for (const Case<T>& given : coefficient_cases<T>()) {
        for (std::size_t n = first; n <= last; ++n) {
          const Inputs<T> inputs(n, given.range, recipe * 1000 + n);
          for (const bool tapped : {false, true}) {
            const auto run = [&](const Kernels<T>& which, std::size_t shift, Way its_way) {
              return written(inputs, shift, tapped, its_way,
                             [&](const Streams<T>& s, std::size_t k) {
                               which.coordinate[recipe](given.c, s, k);
                             });
            };
            ASSERT_TRUE(same_bits(run(scalar, 0, {}), run(kernels, n % kMisalignments, way)))
                << name(target) << ", recipe " << recipe << ", n " << n << ", " << given.what;
          }
        }
      }
    }
  }
}

TYPED_TEST(EveryKernel, GivesTheBitsOfTheScalarOneAtEveryLength) {
  check_coordinate_kernels<TypeParam>(0, kTwoVectors + 1, {});
}

TYPED_TEST(EveryKernel, GivesTheSameBitsThroughTiles) {
  check_coordinate_kernels<TypeParam>(0, 2, {.tiled = true});
  check_coordinate_kernels<TypeParam>(kTwoVectors - 1, kTwoVectors + 1, {.tiled = true});
  check_coordinate_kernels<TypeParam>(1030, 1031, {.tiled = true});
}

TYPED_TEST(EveryKernel, GivesTheSameBitsBeforeAnotherTensor) {
  check_coordinate_kernels<TypeParam>(0, 2, {.followed = true});
  check_coordinate_kernels<TypeParam>(kTwoVectors - 1, kTwoVectors + 1, {.followed = true});
  check_coordinate_kernels<TypeParam>(1030, 1031, {.followed = true});
}

TYPED_TEST(EveryKernel, SumsAndAppliesBlocksWithTheBitsOfTheScalarOne) {
  using T = TypeParam;
  const Kernels<T>& scalar = kernels_of<T>(Target::scalar);
  for (const Target target : available_targets()) {
    const Kernels<T>& kernels = kernels_of<T>(target);
    for (const Case<T>& given : coefficient_cases<T>()) {
      for (std::size_t n = 0; n <= 2 * kLanes + 3; ++n) {
        const Inputs<T> inputs(n, std::min(given.range, 100), n);
        for (std::size_t recipe = 0; recipe < kRecipes; ++recipe) {
          if (kernels.add_sums[recipe] == nullptr) continue;
          const auto sums = [&](const Kernels<T>& which) {
            Sums total;
            written(inputs, 0, false, {}, [&](const Streams<T>& s, std::size_t k) {
              which.add_sums[recipe](given.c, s, k, 1.0, total);
              which.add_sums[recipe](given.c, s, k, 0.25, total);
            });
            return std::vector<double>{combine(total.a), combine(total.b), combine(total.u)};
          };
          ASSERT_TRUE(same_bits(sums(scalar), sums(kernels)))
              << name(target) << ", recipe " << recipe << ", n " << n << ", " << given.what;
        }
        for (const bool momentum : {false, true}) {
          for (const bool with_u : {false, true}) {
            for (const bool tapped : {false, true}) {
              const auto apply = [&](const Kernels<T>& which, bool tiled) {
                return written(inputs, n % kMisalignments, tapped, Way{.tiled = tiled},
                               [&](const Streams<T>& s, std::size_t k) {
                                 which.apply[momentum][with_u](given.c, s.block_from(0), k, T(0.37),
                                                               T(tapped ? 4 : 1));
                               });
              };
              for (const bool tiled : {false, true}) {
                ASSERT_TRUE(same_bits(apply(scalar, false), apply(kernels, tiled)))
                    << name(target) << ", n " << n << ", " << given.what;
              }
            }
          }
        }
      }
    }
  }
}

/// What kernels make of memory and of sums.
template <class T>
struct Stepped {
  std::vector<T> memory;
  Totals totals;

  bool has_bits_of(const Stepped& other) const {
    return same_bits(memory, other.memory) && same_bits(sums(), other.sums());
  }
  std::vector<double> sums() const { return {totals.a, totals.b, totals.u}; }
};

template <class T, class Run>
Stepped<T> stepped(const Inputs<T>& inputs, std::size_t misalignment, const Run& run) {
  Stepped<T> result;
  result.memory = written(inputs, misalignment, false, {},
                          [&](const Streams<T>& s, std::size_t) { result.totals = run(s); });
  return result;
}

constexpr bool has_momentum(std::size_t recipe) { return recipe >= kRecipes / 2; }

/// All short ones, and some for each of the distances by which sums run ahead of moves: all of the
/// block, 64 elements of it, a quarter, and half a page.
std::vector<std::size_t> swept_lengths() {
  std::vector<std::size_t> lengths;
  for (std::size_t n = 0; n < 2 * kLanes + 3; ++n) lengths.push_back(n);
  for (std::size_t n = 2 * kLanes + 3; n <= 7 * kLanes; n += 7) lengths.push_back(n);
  lengths.insert(lengths.end(), {333, 1024, 2100});
  return lengths;
}

/// Calls check(case, recipe, kernels, n) for all that can be advanced.
template <class T, class Check>
void for_everything_advanced(const Check& check) {
  for (const Case<T>& given : coefficient_cases<T>()) {
    if (!given.c.plain()) continue;
    for (const std::size_t n : swept_lengths()) {
      for (std::size_t recipe = 0; recipe < kRecipes; ++recipe) {
        for (const Target target : available_targets()) {
          const Kernels<T>& kernels = kernels_of<T>(target);
          const bool exists = kAdvances<T> && kernels.add_sums[recipe] != nullptr;
          ASSERT_EQ(kernels.advance[recipe] != nullptr, exists);
          ASSERT_EQ(kernels.sweep[recipe] != nullptr, exists);
          if (!exists) continue;
          SCOPED_TRACE(fmt::format("{}, recipe {}, n {}, {}", name(target), recipe, n, given.what));
          check(given, recipe, kernels, n);
          if (::testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

TYPED_TEST(EveryKernel, AdvancesAndMovesWithTheBitsOfSummingAndApplying) {
  using T = TypeParam;
  const Kernels<T>& scalar = kernels_of<T>(Target::scalar);
  for_everything_advanced<T>(
      [&](const Case<T>& given, std::size_t recipe, const Kernels<T>& kernels, std::size_t n) {
        const bool with_u = recipe % kRules == static_cast<std::size_t>(StepRule::two_est);
        const bool momentum = has_momentum(recipe);
        const Inputs<T> inputs(n, std::min(given.range, 100), n);
        for (const T scale : {T(1), T(4)}) {
          const auto expected = stepped<T>(inputs, 0, [&](const Streams<T>& s) -> Totals {
            Sums sums;
            scalar.add_sums[recipe](given.c, s.block_from(0), n, 1.0, sums);
            scalar.apply[momentum][with_u](given.c, s.block_from(0), n, T(0.37), scale);
            return {combine(sums.a), combine(sums.b), combine(sums.u)};
          });
          const auto received = stepped<T>(inputs, n % kMisalignments, [&](const Streams<T>& s) {
            const Totals totals = kernels.advance[recipe](given.c, s.block_from(0), n);
            kernels.move[momentum](given.c, s.block_from(0), n, T(0.37), scale);
            return totals;
          });
          EXPECT_TRUE(received.has_bits_of(expected));
        }
      });
}

TYPED_TEST(EveryKernel, SweepsOneBlockWhileItAdvancesTheNext) {
  using T = TypeParam;
  const Kernels<T>& scalar = kernels_of<T>(Target::scalar);
  for_everything_advanced<T>([&](const Case<T>& given, std::size_t recipe,
                                 const Kernels<T>& kernels, std::size_t n) {
    const std::size_t momentum = has_momentum(recipe) ? 1 : 0;
    // What an earlier sweep left over: nothing, less than this one leaves, more.
    for (const std::size_t left : {std::size_t{0}, n / 3, n + 37}) {
      const Inputs<T> inputs(2 * n + left, std::min(given.range, 100), n);
      // Either block comes to lie before the guard.
      for (const auto& [block, next] : {std::pair(left, left + n), std::pair(left + n, left)}) {
        const auto expected = stepped<T>(inputs, 0, [&](const Streams<T>& s) {
          scalar.move[momentum](given.c, s.block_from(0), left, T(0.81), T(1));
          scalar.move[momentum](given.c, s.block_from(block), n, T(0.37), T(1));
          return scalar.advance[recipe](given.c, s.block_from(next), n);
        });
        const auto received = stepped<T>(inputs, n % kMisalignments, [&](const Streams<T>& s) {
          Unmoved<T> rest{0, left, T(0.81)};
          const Totals totals = kernels.sweep[recipe](given.c, s, block, next, n, T(0.37), rest);
          kernels.move[momentum](given.c, s.block_from(rest.begin), rest.end - rest.begin,
                                 rest.gamma, T(1));
          return totals;
        });
        EXPECT_TRUE(received.has_bits_of(expected));
      }
    }
  });
}

TYPED_TEST(EveryKernel, AddsSquaresWithTheBitsOfTheScalarOne) {
  using T = TypeParam;
  for (std::size_t n = 0; n <= 3 * kLanes; ++n) {
    const GuardedArray<T> g(Random(n).wild_numbers<T>(n, 60));
    double expected[kLanes] = {};
    kernels_of<T>(Target::scalar).add_squares(g.data(), n, 0.5, expected);
    for (const Target target : available_targets()) {
      double lanes[kLanes] = {};
      kernels_of<T>(target).add_squares(g.data(), n, 0.5, lanes);
      EXPECT_EQ(combine(lanes), combine(expected)) << name(target) << ", n " << n;
    }
  }
}

/// Power-of-two scaling is exact: where plain squares are in range, both ways give the same bits.
TYPED_TEST(EveryKernel, GivesTheSameBitsOnTheScaledPathWherePlainSquaresAreInRange) {
  using T = TypeParam;
  constexpr std::size_t n = 500;
  for (const Case<T>& given : coefficient_cases<T>()) {
    if (given.range > 10) continue;
    Coefficients<T> scaled = given.c;
    scaled.v_low = std::numeric_limits<T>::max();  // nothing is in range
    for (const Estimate estimate : {Estimate::instant, Estimate::ema_d, Estimate::ema_g,
                                    Estimate::cond_full, Estimate::cond_pair}) {
      const std::size_t recipe = Recipe{true, estimate, StepRule::sqrt}.index();
      const Inputs<T> inputs(n, 10, static_cast<std::uint64_t>(estimate));
      const auto run = [&](const Coefficients<T>& c) {
        return written(inputs, 0, false, {}, [&](const Streams<T>& s, std::size_t k) {
          kernels_of<T>(Target::scalar).coordinate[recipe](c, s, k);
        });
      };
      EXPECT_TRUE(same_bits(run(given.c), run(scaled)))
          << given.what << ", estimate " << static_cast<int>(estimate);
    }
  }
}

}  // namespace
}  // namespace bcos::kernels
