#include "engine/kernels/kernels.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>

#include "bcos/target.hpp"
#include "engine/update/rounded.hpp"
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
  StepNumbers numbers;
  int range;  // of magnitudes, as a power of two
  const char* what;

  Coefficients<T> of(Recipe recipe) const {
    StepNumbers n = numbers;
    n.b = recipe.b;
    return coefficients<T>(n, recipe);
  }
};

template <class T>
std::vector<Case<T>> cases() {
  StepNumbers n;
  n.factor = 0.75;
  n.alpha = 0.01;
  n.delta = 0.001;
  n.beta = 0.9;
  n.p = 0.96;
  n.q = 0.01;
  n.eps_root = 1e-12;
  n.lambda = 0.1;
  n.reads_m = n.reads_v = n.reads_u = true;
  std::vector<Case<T>> all;
  const int extreme = sizeof(T) == 4 ? 120 : 1000;
  const auto add = [&](int range, const char* what) { all.push_back({n, range, what}); };
  add(3, "usual");
  add(extreme, "huge and tiny with eps_root");
  n.eps_root = 0;
  add(extreme, "huge and tiny without eps");
  n.factor = sizeof(T) == 4 ? 1e-43 : 1e-320;
  add(extreme, "a factor below the normal range");
  n.factor = 0.75;
  n.eps = 1e-3;
  add(3, "eps");
  n.coupled = true;
  add(3, "coupled");
  n.starts_from_gradient = true;
  add(3, "starting where states are zero");
  n.starts_from_raw = true;
  n.reads_m = n.reads_v = n.reads_u = false;
  add(3, "starting from the raw gradient");
  n.starts_from_gradient = false;
  n.coupled = false;
  add(3, "states that are not read");
  return all;
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

/// Runs a kernel on copies of the inputs at the end of their page, `shift` elements in; gives back
/// everything it may have written.
template <class T, class Run>
std::vector<T> written(const Inputs<T>& inputs, std::size_t shift, bool tapped, const Run& run) {
  const std::size_t n = inputs.streams[0].size();
  std::vector<std::unique_ptr<GuardedArray<T>>> arrays;
  for (std::size_t i = 0; i < 10; ++i) {
    // Spare elements behind the end differ by stream, so that alignments do.
    std::vector<T> values = i < 6 ? inputs.streams[i] : std::vector<T>(n, T(7));
    values.insert(values.end(), (shift + i) % kMisalignments, T(42));
    arrays.push_back(std::make_unique<GuardedArray<T>>(values));
  }
  Tile<T> tile;
  constexpr Stream kOrder[] = {kX, kG, kM, kV, kU, kOracle, kTapG, kTapD, kTapV, kTapUpdate};
  for (std::size_t i = 0; i < (tapped ? 10 : 6); ++i) tile.data[kOrder[i]] = arrays[i]->data();
  tile.tapped = tapped;
  tile.ahead = 192;
  run(tile, n);
  std::vector<T> all;
  for (const auto& array : arrays) {
    const std::vector<T> values = array->values();
    for (std::size_t i = n; i < values.size(); ++i) EXPECT_EQ(values[i], T(42)) << "behind the end";
    all.insert(all.end(), values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n));
  }
  return all;
}

template <class Visit>
void for_each_recipe(const Visit& visit) {
  for (std::size_t i = 0; i < Recipe::kCount; ++i) {
    if (Recipe::at(i).valid()) visit(Recipe::at(i));
  }
}

TEST(Recipes, AreTheTwentyFourThatMethodsHave) {
  int valid = 0;
  for (std::size_t i = 0; i < Recipe::kCount; ++i) {
    const Recipe recipe = Recipe::at(i);
    EXPECT_EQ(recipe.index(), i);
    valid += recipe.valid() ? 1 : 0;
    for (const Target target : available_targets()) {
      EXPECT_EQ(kernels_of<float>(target).coordinate[i] != nullptr, recipe.valid());
      EXPECT_EQ(kernels_of<double>(target).apply[i] != nullptr, recipe.valid());
      EXPECT_EQ(kernels_of<float>(target).sum[i] != nullptr, recipe.valid() && recipe.sums());
    }
  }
  EXPECT_EQ(valid, 24);
}

template <class T>
class EveryKernel : public ::testing::Test {};
using LaneTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(EveryKernel, LaneTypes);

template <class T>
void check_coordinate_kernels(std::size_t first, std::size_t last) {
  const Kernels<T>& scalar = kernels_of<T>(Target::scalar);
  for (const Target target : available_targets()) {
    const Kernels<T>& kernels = kernels_of<T>(target);
    for_each_recipe([&](Recipe recipe) {
      for (const Case<T>& given : cases<T>()) {
        const Coefficients<T> c = given.of(recipe);
        for (std::size_t n = first; n <= last; ++n) {
          const Inputs<T> inputs(n, given.range, recipe.index() * 1000 + n);
          for (const bool tapped : {false, true}) {
            const auto run = [&](const Kernels<T>& which, std::size_t shift) {
              return written(inputs, shift, tapped, [&](const Tile<T>& tile, std::size_t k) {
                which.coordinate[recipe.index()](c, tile, k);
              });
            };
            ASSERT_TRUE(same_bits(run(scalar, 0), run(kernels, n % kMisalignments)))
                << name(target) << ", recipe " << recipe.index() << ", n " << n << ", "
                << given.what;
          }
        }
      }
    });
  }
}

TYPED_TEST(EveryKernel, GivesTheBitsOfTheScalarOneAtEveryLength) {
  check_coordinate_kernels<TypeParam>(0, kTwoVectors + 1);
}

TYPED_TEST(EveryKernel, GivesTheBitsOfTheScalarOneOnLongRuns) {
  check_coordinate_kernels<TypeParam>(1030, 1031);
}

/// The quick form and the careful one: a tap sends all elements through the careful one.
TYPED_TEST(EveryKernel, GivesTheSameBitsToThoseWhoLook) {
  using T = TypeParam;
  for_each_recipe([&](Recipe recipe) {
    for (const Case<T>& given : cases<T>()) {
      const Inputs<T> inputs(333, given.range, recipe.index());
      const auto states = [&](bool tapped) {
        std::vector<T> all = written(inputs, 0, tapped, [&](const Tile<T>& tile, std::size_t n) {
          kernels_of<T>(default_target()).coordinate[recipe.index()](given.of(recipe), tile, n);
        });
        all.resize(333 * 6);
        return all;
      };
      ASSERT_TRUE(same_bits(states(false), states(true)))
          << "recipe " << recipe.index() << ", " << given.what;
    }
  });
}

TYPED_TEST(EveryKernel, SumsAndAppliesBlocksWithTheBitsOfTheScalarOne) {
  using T = TypeParam;
  const Kernels<T>& scalar = kernels_of<T>(Target::scalar);
  for (const Target target : available_targets()) {
    const Kernels<T>& kernels = kernels_of<T>(target);
    for (const Case<T>& given : cases<T>()) {
      for (std::size_t n = 0; n <= 2 * kLanes + 3; ++n) {
        const Inputs<T> inputs(n, std::min(given.range, 100), n);
        for_each_recipe([&](Recipe recipe) {
          const Coefficients<T> c = given.of(recipe);
          const std::size_t index = recipe.index();
          for (const double scale : {1.0, 0.25}) {
            const auto sums = [&](const Kernels<T>& which) {
              Sums total;
              written(inputs, 0, false, [&](const Tile<T>& tile, std::size_t k) {
                total = which.sum[index](c, tile, k, scale, nullptr);
              });
              return std::vector<double>{total.a, total.b, total.third};
            };
            if (recipe.sums()) {
              ASSERT_TRUE(same_bits(sums(scalar), sums(kernels)))
                  << name(target) << ", recipe " << index << ", n " << n << ", " << given.what;
            }
          }
          for (const bool tapped : {false, true}) {
            const auto apply = [&](const Kernels<T>& which) {
              return written(inputs, n % kMisalignments, tapped,
                             [&](const Tile<T>& tile, std::size_t k) {
                               which.apply[index](c, tile, k, T(0.37), T(tapped ? 4 : 1));
                             });
            };
            ASSERT_TRUE(same_bits(apply(scalar), apply(kernels)))
                << name(target) << ", recipe " << index << ", n " << n << ", " << given.what;
          }
        });
      }
    }
  }
}

/// Columns are summed a part at a time.
TYPED_TEST(EveryKernel, SumsARunInSeveralCallsAsInOne) {
  using T = TypeParam;
  const Inputs<T> inputs(300, 10, 5);
  for (const Target target : available_targets()) {
    for_each_recipe([&](Recipe recipe) {
      if (!recipe.sums()) return;
      const auto sum = kernels_of<T>(target).sum[recipe.index()];
      const Coefficients<T> c = cases<T>()[0].of(recipe);
      written(inputs, 0, false, [&](const Tile<T>& tile, std::size_t n) {
        Lanes lanes;
        sum(c, tile, 64, 1, &lanes);
        sum(c, tile.from(64), 112, 1, &lanes);
        const Sums parts = sum(c, tile.from(176), n - 176, 1, &lanes);
        const Sums whole = sum(c, tile, n, 1, nullptr);
        EXPECT_EQ(parts.a, whole.a);
        EXPECT_EQ(parts.b, whole.b);
        EXPECT_EQ(parts.third, whole.third);
      });
    });
  }
}

/// Power-of-two scaling is exact: where squares as they are stay in range, both ways give the same
/// bits.
TYPED_TEST(EveryKernel, GivesTheSameBitsOnNumbersNearOneWhereSquaresAreInRange) {
  using T = TypeParam;
  for (const Case<T>& given : cases<T>()) {
    if (given.range > 10) continue;
    for_each_recipe([&](Recipe recipe) {
      if (recipe.rule != StepRule::sqrt || !recipe.sums()) return;
      const Inputs<T> inputs(500, 10, recipe.index());
      const auto run = [&](const Coefficients<T>& c) {
        return written(inputs, 0, false, [&](const Tile<T>& tile, std::size_t n) {
          kernels_of<T>(Target::scalar).coordinate[recipe.index()](c, tile, n);
        });
      };
      const Coefficients<T> c = given.of(recipe);
      Coefficients<T> scaled = c;
      scaled.v_low = std::numeric_limits<T>::max();  // nothing is in range
      EXPECT_TRUE(same_bits(run(c), run(scaled))) << given.what << ", recipe " << recipe.index();
    });
  }
}

}  // namespace
}  // namespace bcos::kernels
