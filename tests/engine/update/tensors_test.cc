#include <gtest/gtest.h>

#include "bcos/methods.hpp"
#include "tests/engine/bits.hpp"
#include "tests/engine/expect_error.hpp"
#include "tests/engine/random_numbers.hpp"
#include "tests/engine/stepper.hpp"

/// Tensors as people have them.
namespace bcos::testing {
namespace {

std::vector<Method> on_every_layout() {
  std::vector<Method> methods;
  Method two_est = bcosw_m;
  two_est.rule = StepRule::two_est;
  for (Method method : {bcosw_c, adamw, two_est}) {
    for (const Layout layout : {Layout::coordinate, Layout::tensor, Layout::row, Layout::column}) {
      method.blocks = Blocks::of(layout);
      methods.push_back(method);
    }
  }
  return methods;
}

/// A matrix that lies column by column, with gaps.
struct Strided {
  static constexpr std::int64_t kRows = 70, kColumns = 145, kGap = 3;
  std::vector<std::int64_t> shape = {kRows, kColumns};
  std::vector<std::int64_t> strides = {1, kRows + kGap};

  static std::size_t at(std::size_t row, std::size_t column) {
    return column * (kRows + kGap) + row;
  }
  static std::vector<float> spread(const std::vector<float>& dense) {
    std::vector<float> values(kColumns * (kRows + kGap), -7);
    for (std::size_t r = 0; r < kRows; ++r) {
      for (std::size_t c = 0; c < kColumns; ++c) values[at(r, c)] = dense[r * kColumns + c];
    }
    return values;
  }
  static std::vector<float> packed(const std::vector<float>& values) {
    std::vector<float> dense(kRows * kColumns);
    for (std::size_t r = 0; r < kRows; ++r) {
      for (std::size_t c = 0; c < kColumns; ++c) dense[r * kColumns + c] = values[at(r, c)];
    }
    return dense;
  }
};

void step_like_dense_ones(const StepOptions& options) {
  const Strided layout;
  Random random(61);
  const std::size_t n = Strided::kRows * Strided::kColumns;
  const auto x0 = random.numbers<float>(n);
  std::vector<std::vector<float>> gradients;
  for (int t = 0; t < 3; ++t) gradients.push_back(random.numbers<float>(n));

  for (const Method& method : on_every_layout()) {
    Stepper<float> dense(method, x0, layout.shape);
    for (const auto& g : gradients) dense.step(g, 0.01, options);

    // x, m and u strided, the gradient in its turn.
    std::vector<float> x = Strided::spread(x0);
    std::vector<float> m(x.size(), -7), u(x.size(), -7), v(n);
    const std::int64_t blocks[] = {
        static_cast<std::int64_t>(block_count(method.blocks, layout.shape))};
    Parameter parameter;
    parameter.x = {x.data(), DType::f32, layout.shape, layout.strides};
    parameter.m = {m.data(), DType::f32, layout.shape, layout.strides};
    parameter.u = {u.data(), DType::f32, layout.shape, layout.strides};
    parameter.v = {v.data(), DType::f32, blocks, {}};
    Plan plan({&method, 1}, {&parameter, 1});
    std::uint64_t steps = 0;
    const double alpha = 0.01;
    for (std::size_t t = 0; t < gradients.size(); ++t) {
      const auto spread = Strided::spread(gradients[t]);
      Gradient gradient{.data = gradients[t].data()};
      if (t % 2 == 0) gradient = {.data = spread.data(), .strides = layout.strides};
      plan.update({&gradient, 1}, {&alpha, 1}, {&steps, 1}, options);
    }
    EXPECT_TRUE(same_bits(dense.x(), Strided::packed(x)));
    if (!dense.m().empty()) {
      EXPECT_TRUE(same_bits(dense.m(), Strided::packed(m)));
    }
    for (std::size_t c = 0; c < Strided::kColumns; ++c) {
      EXPECT_EQ(x[Strided::at(Strided::kRows, c)], -7) << "the gap was written";
    }
  }
}

TEST(StridedTensors, StepLikeDenseOnes) { step_like_dense_ones({}); }
TEST(StridedTensors, StepLikeDenseOnesWithinLimits) { step_like_dense_ones({.max_norm = 2.0}); }

/// A tensor of four dimensions whose memory has them in any order.
struct Permuted {
  static inline const std::vector<std::int64_t> kShape = {6, 17, 2, 3};
  static constexpr std::size_t kSize = 6 * 17 * 2 * 3;
  std::vector<std::int64_t> strides = std::vector<std::int64_t>(4);

  explicit Permuted(std::array<std::size_t, 4> outermost_first) {
    std::int64_t stride = 1;
    for (std::size_t k = 4; k-- > 0;) {
      strides[outermost_first[k]] = stride;
      stride *= kShape[outermost_first[k]];
    }
  }
  std::size_t at(std::size_t index) const {
    std::size_t place = 0;
    for (std::size_t k = 4; k-- > 0;) {
      const auto size = static_cast<std::size_t>(kShape[k]);
      place += index % size * static_cast<std::size_t>(strides[k]);
      index /= size;
    }
    return place;
  }
  std::vector<float> of(const std::vector<float>& dense) const {
    std::vector<float> values(kSize);
    for (std::size_t i = 0; i < kSize; ++i) values[at(i)] = dense[i];
    return values;
  }
  std::vector<float> dense(const std::vector<float>& values) const {
    std::vector<float> dense(kSize);
    for (std::size_t i = 0; i < kSize; ++i) dense[i] = values[at(i)];
    return dense;
  }
};

/// With and without somebody who looks: taps are row-major whatever x is.
TEST(PermutedTensors, StepLikeDenseOnesAndAreSeenLikeThem) {
  Random random(63);
  const auto x0 = random.numbers<float>(Permuted::kSize);
  const auto g0 = random.numbers<float>(Permuted::kSize);
  const Permuted layouts[] = {Permuted({0, 1, 2, 3}), Permuted({0, 2, 3, 1}),
                              Permuted({3, 2, 1, 0}), Permuted({1, 3, 0, 2})};
  std::vector<Method> methods = on_every_layout();
  methods.push_back(bcosw_c);
  methods.back().blocks = Blocks::of_heads(2);
  for (const Method& method : methods) {
    Stepper<float> dense(method, x0, Permuted::kShape);
    dense.tap();
    dense.step(g0, 0.01);
    dense.step(g0, 0.01);
    for (const Permuted& of_x : layouts) {
      for (const Permuted& of_g : layouts) {
        std::vector<float> x = of_x.of(x0), m(x.size()), u(x.size()), v(x.size());
        const std::vector<float> g = of_g.of(g0);
        const auto blocks = static_cast<std::int64_t>(block_count(method.blocks, Permuted::kShape));
        Parameter parameter;
        parameter.x = {x.data(), DType::f32, Permuted::kShape, of_x.strides};
        parameter.m = {m.data(), DType::f32, Permuted::kShape, of_g.strides};
        parameter.u = {u.data(), DType::f32, Permuted::kShape, of_x.strides};
        parameter.v = {v.data(), DType::f32, {&blocks, 1}, {}};
        Plan plan({&method, 1}, {&parameter, 1});
        std::vector<float> seen_g(x.size()), seen_d(x.size()), seen_update(x.size());
        Gradient gradient{.data = g.data(), .strides = of_g.strides};
        std::uint64_t steps = 0;
        const double alpha = 0.01;
        plan.update({&gradient, 1}, {&alpha, 1}, {&steps, 1});
        gradient.tap = {.g = seen_g.data(), .d = seen_d.data(), .update = seen_update.data()};
        plan.update({&gradient, 1}, {&alpha, 1}, {&steps, 1});
        EXPECT_TRUE(same_bits(dense.x(), of_x.dense(x)));
        EXPECT_TRUE(same_bits(dense.g(), seen_g));
        EXPECT_TRUE(same_bits(dense.d(), seen_d));
        EXPECT_TRUE(same_bits(dense.moved(), seen_update));
        if (!dense.m().empty()) EXPECT_TRUE(same_bits(dense.m(), of_g.dense(m)));
        v.resize(dense.v().size());
        EXPECT_TRUE(same_bits(dense.v(), v));
      }
    }
  }
}

TEST(StridedGradients, GoWithLargeDenseBlocks) {
  Method method = bcosw_c;
  method.blocks = Blocks::of(Layout::tensor);
  Random random(62);
  const std::vector<std::int64_t> shape = {500, 400};
  const std::size_t n = 200'000;
  const auto x0 = random.numbers<float>(n);
  const auto g = random.numbers<float>(n);
  Stepper<float> dense(method, x0, shape), strided(method, x0, shape);
  dense.step(g, 0.01);
  std::vector<float> transposed(n);
  for (std::size_t r = 0; r < 500; ++r) {
    for (std::size_t c = 0; c < 400; ++c) transposed[c * 500 + r] = g[r * 400 + c];
  }
  const std::int64_t strides[] = {1, 500};
  strided.step_with({.data = transposed.data(), .strides = strides}, 0.01);
  EXPECT_TRUE(same_bits(dense.everything(), strided.everything()));
}

TEST(ZeroSizeTensors, AreSteppedAndDoNothing) {
  for (const Method& method : on_every_layout()) {
    Stepper<float> stepper(method, {}, {0, 5});
    const auto report = stepper.step({}, 0.1, {.max_norm = 1.0, .guard = Guard::skip});
    EXPECT_EQ(report.elements, 0U);
    EXPECT_EQ(stepper.steps(), 1U);
  }
}

TEST(ZeroDimensionalTensors, AreOneElement) {
  for (const Method& method : on_every_layout()) {
    const std::vector<float> g = {0.5F};
    std::vector<float> x = {1}, m = {0}, v = {0}, u = {0};
    const std::int64_t one[] = {1};
    Parameter parameter;
    parameter.x = {x.data(), DType::f32, {}, {}};
    parameter.m = {m.data(), DType::f32, {}, {}};
    parameter.u = {u.data(), DType::f32, {}, {}};
    parameter.v = {v.data(), DType::f32, one, {}};
    const Gradient gradient{.data = g.data()};
    std::uint64_t steps = 0;
    const double alpha = 0.1;
    update({&method, 1}, {&parameter, 1}, {&gradient, 1}, {&alpha, 1}, {&steps, 1});
    EXPECT_LT(x[0], 1);
  }
}

TEST(AParameterWithoutAGradient, IsSkippedWholly) {
  const std::vector<float> g = {1, 1};
  std::vector<float> x[2] = {{1, 2}, {3, 4}}, m[2] = {{5, 6}, {7, 8}};
  const std::int64_t two[] = {2};
  std::vector<Parameter> parameters(2);
  for (std::size_t i = 0; i < 2; ++i) {
    parameters[i].x = {x[i].data(), DType::f32, two, {}};
    parameters[i].m = {m[i].data(), DType::f32, two, {}};
  }
  const std::vector<Gradient> gradients = {{}, {.data = g.data()}};
  std::uint64_t steps[] = {3, 3};
  const double alpha = 0.1;
  const auto report = update({&bcosw_c, 1}, parameters, gradients, {&alpha, 1}, steps);
  EXPECT_EQ(x[0], (std::vector<float>{1, 2}));
  EXPECT_EQ(m[0], (std::vector<float>{5, 6}));
  EXPECT_EQ(steps[0], 3U);
  EXPECT_EQ(steps[1], 4U);
  EXPECT_EQ(report.missing, 1U);
  EXPECT_EQ(report.elements, 2U);
  EXPECT_EQ(report.bytes, 40U);
  EXPECT_NE(x[1][0], 3);
}

TEST(MixedLists, StepEveryDtypeAndGroupInOneCall) {
  std::vector<float> x32 = {1, 2, 3}, m32(3), v32(3);
  std::vector<double> x64 = {1, 2, 3}, m64(3), v64(3);
  const std::int64_t three[] = {3};
  std::vector<Parameter> parameters(2);
  parameters[0].x = {x32.data(), DType::f32, three, {}};
  parameters[0].m = {m32.data(), DType::f32, three, {}};
  parameters[0].v = {v32.data(), DType::f32, three, {}};
  parameters[0].group = 1;
  parameters[1].x = {x64.data(), DType::f64, three, {}};
  parameters[1].m = {m64.data(), DType::f64, three, {}};
  const Method groups[] = {bcosw_c, adamw};
  const std::vector<float> g32 = {0.1F, -0.2F, 0.3F};
  const std::vector<double> g64 = {0.1, -0.2, 0.3};
  const std::vector<Gradient> gradients = {{.data = g32.data()}, {.data = g64.data()}};
  std::uint64_t steps[] = {0, 0};
  const double alphas[] = {0.01, 0.02};
  update(groups, parameters, gradients, alphas, steps);
  Stepper<float> adam_alone(adamw, {1, 2, 3});
  adam_alone.step(g32, 0.02);
  Stepper<double> bcos_alone(bcosw_c, {1, 2, 3});
  bcos_alone.step(g64, 0.01);
  EXPECT_EQ(x32, adam_alone.x());
  EXPECT_EQ(x64, bcos_alone.x());
}

TEST(WrongTensors, AreNamed) {
  std::vector<float> x(6), m(6);
  const std::vector<std::int64_t> six = {6}, five = {5};
  const auto plan_of = [&](TensorView vx, TensorView vm, const Method& method = bcosw_c) {
    Parameter parameter;
    parameter.x = vx;
    parameter.m = vm;
    return error_of([&] { const Plan plan({&method, 1}, {&parameter, 1}); });
  };
  const TensorView good_x{x.data(), DType::f32, six, {}};
  const TensorView good_m{m.data(), DType::f32, six, {}};
  EXPECT_EQ(plan_of({nullptr, DType::f32, six, {}}, good_m),
            "[plan] expected memory for x of parameter 0 but received null");
  EXPECT_EQ(plan_of(good_x, {}),
            "[plan] expected m of parameter 0 in the shape of x but received another");
  EXPECT_NE(
      plan_of(good_x, {m.data(), DType::f64, six, {}}).find("as float32 but received float64"),
      std::string::npos);
  EXPECT_NE(plan_of(good_x, good_x).find("memory of its own"), std::string::npos);
  const auto* odd = reinterpret_cast<const char*>(x.data()) + 1;
  EXPECT_NE(
      plan_of({const_cast<char*>(odd), DType::f32, five, {}}, {m.data(), DType::f32, five, {}})
          .find("aligned to 4 bytes"),
      std::string::npos);
  const std::vector<std::int64_t> zero_stride = {0}, two_strides = {1, 1};
  EXPECT_NE(plan_of({x.data(), DType::f32, six, zero_stride}, good_m).find("overlapping strides"),
            std::string::npos);
  EXPECT_NE(plan_of({x.data(), DType::f32, six, two_strides}, good_m).find("1 strides"),
            std::string::npos);
  Method heads = bcosw_c;
  heads.blocks = Blocks::of_heads(4);
  EXPECT_NE(plan_of(good_x, good_m, heads).find("heads"), std::string::npos);

  Stepper<float> stepper(bcosw_c, {1, 2, 3});
  EXPECT_EQ(error_of([&] { stepper.step({1, 1, 1}, -1); }),
            "[update] expected a finite alpha >= 0 but received -1");
  EXPECT_NE(error_of([&] { stepper.step({1, 1, 1}, NAN); }).find("alpha"), std::string::npos);
  EXPECT_NE(
      error_of([&] { stepper.step_with({.data = stepper.x().data()}, 0.1); }).find("overlaps"),
      std::string::npos);
  EXPECT_NE(error_of([&] { stepper.step({1, 1, 1}, 0.1, {.grad_scale = 0}); }).find("grad_scale"),
            std::string::npos);
  EXPECT_NE(error_of([&] { stepper.step({1, 1, 1}, 0.1, {.max_norm = -1.0}); }).find("max_norm"),
            std::string::npos);
  EXPECT_EQ(stepper.x(), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(stepper.steps(), 0U);
}

TEST(AnOracle, MustBeGivenAndPositive) {
  Method method{.direction = Direction::gradient, .estimator = Estimator::oracle, .eps_root = 0};
  Stepper<double> stepper(method, {1, 2});
  EXPECT_NE(error_of([&] { stepper.step({1, 1}, 0.1); }).find("oracle values"), std::string::npos);
  const std::vector<double> g = {1, 1}, zero = {1, 0}, good = {4, 4};
  EXPECT_NE(error_of([&] {
              stepper.step_with({.data = g.data(), .oracle = zero.data()}, 0.1);
            }).find("expected oracle > 0 in block 1"),
            std::string::npos);
  stepper.step_with({.data = g.data(), .oracle = good.data()}, 0.5);
  EXPECT_EQ(stepper.x(), (std::vector<double>{0.75, 1.75}));
}

TEST(AGradient, MayLieNeitherOnXNorOnM) {
  for (const bool on_x : {true, false}) {
    Stepper<float> stepper(bcosw_c, {1, 2, 3});
    stepper.m() = {1, 2, 3};
    const Gradient gradient{.data = on_x ? stepper.x().data() : stepper.m().data()};
    EXPECT_NE(error_of([&] { stepper.step_with(gradient, 0.1); }).find("overlaps x or a state"),
              std::string::npos);
    EXPECT_EQ(stepper.x(), (std::vector<float>{1, 2, 3}));
  }
}

}  // namespace
}  // namespace bcos::testing
