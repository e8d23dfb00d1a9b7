#include <gtest/gtest.h>

#include "bcos/methods.hpp"
#include "tests/engine/expect_error.hpp"
#include "tests/engine/random_numbers.hpp"
#include "tests/engine/stepper.hpp"

/// Where parameters, states and gradients may lie.
namespace bcos::testing {
namespace {

using Shape = std::vector<std::int64_t>;

std::string error_of_plan(const std::vector<Parameter>& parameters, const Method& method = sgd) {
  return error_of([&] { const Plan plan({&method, 1}, parameters); });
}

Parameter at(float* data, const Shape& shape, const Shape& strides = {}) {
  Parameter parameter;
  parameter.x = {data, DType::f32, shape, strides};
  return parameter;
}

void take(const std::vector<Parameter>& parameters) { const Plan plan({&sgd, 1}, parameters); }

constexpr const char* kOverlap = "memory of its own";

TEST(StridedMemory, IsComparedElementByElement) {
  std::vector<float> x(64);
  const Shape square = {4, 4}, rows = {4, 1}, columns = {1, 4}, wide = {8, 1};
  const Shape half = {4, 2}, every_other = {8, 2};
  EXPECT_NE(
      error_of_plan({at(x.data(), square, columns), at(x.data(), square, columns)}).find(kOverlap),
      std::string::npos);
  EXPECT_NE(
      error_of_plan({at(x.data(), square, rows), at(x.data(), square, columns)}).find(kOverlap),
      std::string::npos);
  EXPECT_NE(
      error_of_plan({at(x.data(), square, wide), at(x.data() + 3, square, wide)}).find(kOverlap),
      std::string::npos);
  // Halves of a matrix, and every other column of one.
  EXPECT_NO_THROW(take({at(x.data(), square, wide), at(x.data() + 4, square, wide)}));
  EXPECT_NO_THROW(take({at(x.data(), half, every_other), at(x.data() + 1, half, every_other)}));
  EXPECT_NO_THROW(take({at(x.data(), half, every_other), at(x.data() + 1, half, every_other),
                        at(x.data() + 4, half, every_other)}));
  Parameter on_itself = at(x.data(), square, columns);
  on_itself.m = {x.data() + 1, DType::f32, square, wide};
  EXPECT_NE(error_of_plan({on_itself}, bcos_c).find(kOverlap), std::string::npos);
}

TEST(Strides, OverlapOnlyWhereTwoIndicesNameOnePlace) {
  std::vector<float> x(64);
  EXPECT_NO_THROW(take({at(x.data(), {2, 3}, {3, 2})}));  // 0 2 4 3 5 7
  EXPECT_NO_THROW(take({at(x.data() + 32, {2, 3}, {-3, 1})}));
  EXPECT_NE(error_of_plan({at(x.data(), {3, 3}, {2, 1})}).find("overlapping strides"),
            std::string::npos);
  EXPECT_NE(error_of_plan({at(x.data(), {2, 3}, {4, 2})}).find("overlapping strides"),
            std::string::npos);
}

TEST(Strides, StayWithinMemory) {
  std::vector<float> x(4);
  for (const std::int64_t far : {std::int64_t{1} << 61, std::int64_t{1} << 62, INT64_MIN}) {
    EXPECT_NE(error_of_plan({at(x.data(), {2, 2}, {1, far})}).find("stay within memory"),
              std::string::npos)
        << far;
  }
  Stepper<float> stepper(sgd, {1, 2, 3, 4}, {2, 2});
  const Shape far = {1, std::int64_t{1} << 61};
  EXPECT_NE(error_of([&] {
              stepper.step_with({.data = x.data(), .strides = far}, 0.1);
            }).find("stay within memory"),
            std::string::npos);
}

/// x, m and v of one parameter, x of another.
struct Two {
  std::vector<float> x = {1, 2, 3}, m = {0, 0, 0}, v = {0, 0, 0}, y = {4, 5, 6};
  std::vector<float> n = {0, 0, 0}, w = {0, 0, 0};
  Shape three = {3};
  std::vector<Parameter> parameters() {
    Parameter first = at(x.data(), three), second = at(y.data(), three);
    first.m = {m.data(), DType::f32, three, {}};
    first.v = {v.data(), DType::f32, three, {}};
    second.m = {n.data(), DType::f32, three, {}};
    second.v = {w.data(), DType::f32, three, {}};
    first.name = "x";
    second.name = "y";
    return {first, second};
  }
};

TEST(AGradient, LiesApartFromEverythingThatAStepWrites) {
  Two two;
  Plan plan({&adamw, 1}, two.parameters());
  const std::vector<float> g = {1, 1, 1};
  std::uint64_t steps[] = {0, 0};
  const double alpha = 0.1;
  for (const float* taken :
       {two.y.data(), two.n.data(), two.w.data(), two.v.data(), two.x.data()}) {
    const std::vector<Gradient> gradients = {{.data = taken}, {.data = g.data()}};
    EXPECT_NE(error_of([&] {
                plan.update(gradients, {&alpha, 1}, steps);
              }).find("the gradient of 'x' apart from what a step writes"),
              std::string::npos);
  }
  EXPECT_EQ(two.x, (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(steps[0], 0U);
}

TEST(Taps, AreAlignedAndLieApart) {
  Two two;
  const std::vector<Parameter> parameters = two.parameters();
  Plan plan({&adamw, 1}, {parameters.data(), 1});
  const std::vector<float> g = {1, 1, 1};
  std::vector<float> seen(8);
  std::uint64_t steps = 0;
  const double alpha = 0.1;
  const auto error = [&](const Tap& tap) {
    const Gradient gradient{.data = g.data(), .tap = tap};
    return error_of([&] { plan.update({&gradient, 1}, {&alpha, 1}, {&steps, 1}); });
  };
  EXPECT_NE(
      error({.g = reinterpret_cast<char*>(seen.data()) + 1}).find("the tap of g of 'x' aligned"),
      std::string::npos);
  EXPECT_NE(error({.d = two.x.data()}).find("apart from what a step writes"), std::string::npos);
  EXPECT_NE(error({.v = two.m.data() + 2}).find("apart from what a step writes"),
            std::string::npos);
  EXPECT_NE(error({.g = seen.data(), .update = seen.data() + 2}).find("received an overlap"),
            std::string::npos);
  EXPECT_NE(error({.update = const_cast<float*>(g.data())}).find("received an overlap"),
            std::string::npos);
  EXPECT_EQ(two.x, (std::vector<float>{1, 2, 3}));
  const Gradient apart{.data = g.data(), .tap = {.g = seen.data(), .update = seen.data() + 3}};
  EXPECT_NO_THROW(plan.update({&apart, 1}, {&alpha, 1}, {&steps, 1}));
}

TEST(APlan, GrowsAndGoesOn) {
  Two grown;
  Two whole;
  const std::vector<float> g = {1, -2, 3};
  const std::vector<Gradient> gradients = {{.data = g.data()}, {.data = g.data()}};
  const double alphas[] = {0.1, 0.2};
  Plan plan;
  EXPECT_EQ(plan.add_group(adamw), 0U);
  EXPECT_EQ(plan.add(grown.parameters()[0]), 0U);
  std::uint64_t steps[] = {0, 0};
  plan.update({gradients.data(), 1}, {alphas, 1}, {steps, 1});
  EXPECT_EQ(plan.add_group(adam), 1U);
  Parameter second = grown.parameters()[1];
  second.group = 2;
  EXPECT_NE(error_of([&] { plan.add(second); }).find("group < 2"), std::string::npos);
  second.group = 1;
  EXPECT_EQ(plan.add(second), 1U);
  EXPECT_EQ(plan.parameters(), 2U);
  EXPECT_EQ(plan.parameter(1).name, "y");
  plan.update(gradients, alphas, steps);

  const Method groups[] = {adamw, adam};
  std::vector<Parameter> all = whole.parameters();
  all[1].group = 1;
  Plan at_once(groups, all);
  std::uint64_t counted[] = {0, 0};
  const std::vector<Gradient> first_alone = {{.data = g.data()}, {}};
  at_once.update(first_alone, alphas, counted);
  at_once.update(gradients, alphas, counted);
  EXPECT_EQ(grown.x, whole.x);
  EXPECT_EQ(grown.y, whole.y);
  EXPECT_EQ(steps[0], 2U);
  EXPECT_EQ(steps[1], 1U);
}

TEST(APlan, IsAsItWasAfterAParameterThatItRefused) {
  Two two;
  Plan plan({&adamw, 1}, {});
  plan.add(two.parameters()[0]);
  Parameter wrong = two.parameters()[1];
  wrong.v = {two.x.data() + 1, DType::f32, two.three, {}};  // its x and m were good
  EXPECT_NE(error_of([&] { plan.add(wrong); }).find("memory of its own for 'y'"),
            std::string::npos);
  EXPECT_EQ(plan.parameters(), 1U);
  EXPECT_EQ(plan.add(two.parameters()[1]), 1U);
}

TEST(AParameter, MovesAndTakesItsPlaceInThePlan) {
  Two two;
  Plan plan({&adamw, 1}, two.parameters());
  const std::vector<float> g = {1, 1, 1};
  const std::vector<Gradient> gradients = {{.data = g.data()}, {.data = g.data()}};
  std::uint64_t steps[] = {0, 0};
  const double alpha = 0.1;
  plan.update(gradients, {&alpha, 1}, steps);
  // The two change places, one by one.
  Parameter first = two.parameters()[0], second = two.parameters()[1];
  std::swap(first.x.data, second.x.data);
  std::swap(two.x, two.y);
  std::vector<float> expected = two.x;
  plan.move(0, first);
  plan.move(1, second);
  plan.move(1, second);
  plan.update(gradients, {&alpha, 1}, steps);
  EXPECT_NE(two.x, expected);

  first.x.data = second.x.data;
  plan.move(0, first);
  EXPECT_NE(error_of([&] { plan.update(gradients, {&alpha, 1}, steps); }).find(kOverlap),
            std::string::npos);
  const Shape two_alone = {2};
  first.x.shape = two_alone;
  EXPECT_NE(error_of([&] { plan.move(0, first); }).find("its dtype and shape"), std::string::npos);
  EXPECT_NE(error_of([&] { plan.move(2, first); }).find("parameter < 2"), std::string::npos);
}

TEST(APlan, KnowsItsDevices) {
  Two two;
  Parameter elsewhere = two.parameters()[0];
  elsewhere.device = 1;
  EXPECT_NE(error_of_plan({elsewhere}, adamw).find("device < 1"), std::string::npos);
  EXPECT_NE(error_of([] { const Plan plan({.backends = {nullptr}}); }).find("received null"),
            std::string::npos);
}

}  // namespace
}  // namespace bcos::testing
