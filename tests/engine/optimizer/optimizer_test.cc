#include "bcos/optimizer.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "bcos/safetensors.hpp"
#include "bcos/text.hpp"
#include "tests/engine/bits.hpp"
#include "tests/engine/expect_error.hpp"
#include "tests/engine/random_numbers.hpp"
#include "tests/golden/optimizer_run.hpp"
#include "tests/scratch.hpp"

namespace bcos::testing {
namespace {

class Files : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = scratch_path(std::string("optimizer-") + test->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name = "optimizer.safetensors") const {
    return (folder_ / name).string();
  }

 private:
  std::filesystem::path folder_;
};

/// Two layers in two groups, float32 and float64, with gradients that depend on the step alone.
struct Net {
  std::vector<float> weight = Random(1).numbers<float>(12 * 10);
  std::vector<double> bias = Random(2).numbers<double>(10);
  Optimizer optimizer;
  ParameterId w, b;

  explicit Net(const Method& method, const OptimizerOptions& options = {})
      : optimizer(method, {}, options) {
    w = optimizer.add("layer.weight", weight, {12, 10});
    const GroupId plain = optimizer.add_group(method, {.lambda = 0.0});
    b = optimizer.add("layer.bias", bias, {10}, plain);
  }

  StepReport step(std::uint64_t t) {
    const auto gw = Random(100 + t).numbers<float>(weight.size());
    const auto gb = Random(200 + t).numbers<double>(bias.size());
    return optimizer.step(0.01, {{w, gw}, {b, gb}});
  }
  std::vector<double> everything() const {
    std::vector<double> all(weight.begin(), weight.end());
    all.insert(all.end(), bias.begin(), bias.end());
    return all;
  }
};

TEST(AnOptimizer, ReadsLikeItsExample) {
  std::vector<float> weights(256 * 128, 1.0F);
  const std::vector<float> gradient(256 * 128, 0.5F);
  Optimizer opt(bcosw_c, {.lambda = 0.1});
  auto w = opt.add("layer0.weight", weights, {256, 128});
  const StepReport report = opt.step(5e-4, {{w, gradient}});
  EXPECT_EQ(report.elements, 256U * 128U);
  EXPECT_FLOAT_EQ(weights[0], (1 - 5e-4F * 0.1F) - 5e-4F);
  EXPECT_EQ(opt.state_bytes(), 256U * 128U * 4U);
  EXPECT_EQ(opt.state(w).steps, 1U);
  EXPECT_EQ(opt.name(w), "layer0.weight");
  EXPECT_EQ(opt.find("layer0.weight").index, w.index);
}

TEST(AnOptimizer, KeepsOneStateWhereAdamKeepsTwo) {
  std::vector<float> x(1000);
  Optimizer ours(bcosw_c), theirs(adamw), none(sgd);
  ours.add("x", x);
  theirs.add("x", x);
  none.add("x", x);
  EXPECT_EQ(ours.state_bytes(), 4000U);
  EXPECT_EQ(theirs.state_bytes(), 8000U);
  EXPECT_EQ(none.state_bytes(), 0U);
}

TEST(AnOptimizer, TakesAParameterLater) {
  std::vector<float> a = {1, 2}, b = {3};
  const std::vector<float> ga = {1, 1}, gb = {1};
  Optimizer opt(adamw);
  const auto first = opt.add("a", a);
  opt.step(0.1, {{first, ga}});
  const auto second = opt.add("b", b);
  opt.step(0.1, {{first, ga}, {second, gb}});
  EXPECT_EQ(opt.state(first).steps, 2U);
  EXPECT_EQ(opt.state(second).steps, 1U);
  EXPECT_FLOAT_EQ(b[0], 3 * (1 - 0.1F * 0.01F) - 0.1F);
}

TEST(AnOptimizer, ChangesItsNumbers) {
  std::vector<float> x = {1};
  Optimizer opt(bcosw_c);
  const auto id = opt.add("x", x);
  opt.set_numbers({}, {.beta = 0.5});
  opt.step(0.1, {{id, std::vector<float>{1}}});
  EXPECT_EQ(static_cast<const float*>(opt.state(id).m.data)[0], 0.5F);
  EXPECT_EQ(opt.method().beta, 0.5);
  EXPECT_NE(error_of([&] { opt.set_numbers({}, {.start = Start::first}); }).find("numbers alone"),
            std::string::npos);
}

TEST(AnOptimizer, CountsGuardedSteps) {
  Net net(bcosw_c, {.guard = Guard::skip});
  std::vector<float> bad(120, NAN);
  EXPECT_TRUE(net.optimizer.step(0.1, {{net.w, bad}}).skipped);
  EXPECT_EQ(net.optimizer.skipped_steps(), 1U);
}

TEST(AnOptimizer, DividesGradientsByTheirScale) {
  std::vector<float> x = {1, 2}, y = {1, 2}, z = {1, 2};
  const std::vector<float> g = {0.5F, -3}, scaled = {512, -3072};
  Optimizer whole(sgd), parts(sgd), each(sgd);
  const auto a = whole.add("x", x), b = parts.add("x", y), c = each.add("x", z);
  whole.step(0.1, {{a, g}});
  parts.step(0.1, {{b, scaled}}, 1024);
  const std::vector<ParameterGradient> list = {{c, scaled}};
  const double alphas[] = {0.1};
  each.step(alphas, list, 1024);
  EXPECT_EQ(x, y);
  EXPECT_EQ(x, z);
  EXPECT_NE(error_of([&] { parts.step(0.1, {{b, scaled}}, 0); }).find("grad_scale"),
            std::string::npos);
}

TEST(AParameterThatMoved, GoesOnWithItsState) {
  const std::vector<float> g = {1, -1, 2};
  std::vector<float> here = {1, 2, 3}, stays = {1, 2, 3}, other = {4, 5, 6};
  Optimizer moved(bcosw_c), still(bcosw_c);
  const auto a = moved.add("x", here), b = moved.add("y", other), c = still.add("x", stays);
  moved.step(0.1, {{a, g}, {b, g}});
  still.step(0.1, {{c, g}});
  std::vector<float> there = here;
  moved.move(a, there.data());
  moved.step(0.1, {{a, g}, {b, g}});
  still.step(0.1, {{c, g}});
  EXPECT_EQ(there, stays);
  EXPECT_NE(here, stays) << "the old place is left alone";
  EXPECT_EQ(moved.state(a).steps, 2U);
}

TEST(ParametersThatMoved, MayTakeEachOthersPlaces) {
  std::vector<double> both = {1, 2, 3, 4};
  const std::vector<double> g = {1, 1};
  Optimizer opt(sgd);
  const auto a = opt.add("a", std::span(both).first(2)), b = opt.add("b", std::span(both).last(2));
  opt.step(1, {{a, g}});
  opt.move(a, &both[2]);
  opt.move(b, &both[0]);
  opt.step(1, {{a, g}});
  EXPECT_EQ(both, (std::vector<double>{0, 1, 2, 3}));
}

TEST(ParametersThatMoved, AreRefusedOnTopOfEachOther) {
  std::vector<double> x = {1, 2}, y = {3, 4};
  const std::vector<double> g = {1, 1};
  Optimizer opt(sgd);
  const auto a = opt.add("a", x);
  opt.add("b", y);
  opt.move(a, &y[1]);
  EXPECT_NE(error_of([&] {
              opt.step(1, {{a, g}});
            }).find("for 'a' but received memory that overlaps 'b'"),
            std::string::npos);
  EXPECT_EQ(y, (std::vector<double>{3, 4}));
  opt.move(a, x.data());
  opt.step(1, {{a, g}});
  EXPECT_EQ(x, (std::vector<double>{0, 1}));
}

/// A column-major matrix steps as a row-major one does, its states lie as it does, and files hold
/// them row-major.
TEST_F(Files, OfAColumnMajorParameterAreThoseOfARowMajorOne) {
  const std::int64_t shape[] = {2, 3}, columns[] = {1, 2};
  std::vector<float> by_rows = {1, 2, 3, 4, 5, 6}, by_columns = {1, 4, 2, 5, 3, 6};
  const std::vector<float> g_rows = {.1F, .2F, .3F, -.4F, -.5F, -.6F};
  const std::vector<float> g_columns = {.1F, -.4F, .2F, -.5F, .3F, -.6F};
  Optimizer rows(adamw), strided(adamw), loaded(adamw);
  const auto r = rows.add("x", {by_rows.data(), DType::f32, shape, {}});
  const auto c = strided.add("x", {by_columns.data(), DType::f32, shape, columns});
  for (int t = 0; t < 3; ++t) {
    rows.step(0.1, {{r, g_rows}});
    strided.step(0.1, {{c, Gradient{.data = g_columns.data(), .strides = columns}}});
  }
  EXPECT_EQ(by_columns, (std::vector<float>{by_rows[0], by_rows[3], by_rows[1], by_rows[4],
                                            by_rows[2], by_rows[5]}));
  EXPECT_EQ(static_cast<const float*>(strided.state(c).v.data)[1],
            static_cast<const float*>(rows.state(r).v.data)[3]);
  EXPECT_EQ(strided.state(c).m.strides[1], 2);
  rows.save(path("rows"));
  strided.save(path("columns"));
  const auto bytes_in = [](const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  EXPECT_EQ(bytes_in(path("rows")), bytes_in(path("columns")));
  std::vector<float> again = by_columns;
  const auto l = loaded.add("x", {again.data(), DType::f32, shape, columns});
  loaded.load(path("rows"));
  strided.step(0.1, {{c, Gradient{.data = g_columns.data(), .strides = columns}}});
  loaded.step(0.1, {{l, Gradient{.data = g_columns.data(), .strides = columns}}});
  EXPECT_EQ(again, by_columns);
}

TEST(AnOptimizer, TakesInterleavedViewsOfOneArray) {
  std::vector<float> x = {1, 2, 3, 4};
  const std::int64_t two[] = {2};
  const std::int64_t every_other[] = {2};
  Optimizer opt(bcosw_c);
  opt.add("even", {x.data(), DType::f32, two, every_other});
  opt.add("odd", {x.data() + 1, DType::f32, two, every_other});
  EXPECT_EQ(opt.parameters(), 2U);
}

TEST(AnOptimizer, NamesWrongUse) {
  const std::int64_t three[] = {3};
  std::vector<float> x = {1, 2, 3};
  Optimizer opt(bcosw_c);
  const auto id = opt.add("layer.weight", x);
  EXPECT_NE(error_of([&] { opt.add("layer.weight", x); }).find("there already"), std::string::npos);
  EXPECT_NE(error_of([&] { opt.add("", x); }).find("name"), std::string::npos);
  EXPECT_EQ(error_of([&] { opt.add("tied", std::span(x).subspan(2)); }),
            "[plan] expected memory of its own for 'tied' but received memory that overlaps "
            "'layer.weight': is one of them listed twice?");
  EXPECT_EQ(error_of([&] { opt.add("y", {nullptr, DType::f32, three, {}}); }),
            "[plan] expected memory for x of 'y' but received null");
  EXPECT_NE(error_of([&] { opt.add("y", x, {2, 2}); }).find("expected 4 elements"),
            std::string::npos);
  EXPECT_NE(error_of([&] { opt.add("y", x, {3}, GroupId{3}); }).find("group < 1"),
            std::string::npos);
  EXPECT_EQ(
      error_of([&] { opt.step(0.1, {{id, std::vector<float>{1}}}); }),
      "[step] expected 3 float32 elements as the gradient of 'layer.weight' but received 1 of "
      "float32");
  EXPECT_NE(error_of([&] { opt.step(0.1, {{id, std::vector<double>{1, 2, 3}}}); }).find("float64"),
            std::string::npos);
  EXPECT_NE(error_of([&] { opt.step(0.1, {{id, x}, {id, x}}); }).find("two"), std::string::npos);
  EXPECT_NE(error_of([&] { opt.step(0.1, {{ParameterId{7}, x}}); }).find("parameter < 1"),
            std::string::npos);
  EXPECT_NE(error_of([&] { opt.find("layer.wieght"); }).find("did you mean 'layer.weight'"),
            std::string::npos);
  EXPECT_NE(error_of([&] { Optimizer bad(bcosw_c, {.beta_v = 0.9}); }).find("beta_v"),
            std::string::npos);
}

TEST_F(Files, GoOnWithEqualBits) {
  for (const NamedMethod& named : named_methods()) {
    for (const Layout layout : {Layout::coordinate, Layout::row}) {
      Method method = *named.method;
      method.blocks = Blocks::of(layout);
      Net first(method);
      for (std::uint64_t t = 0; t < 4; ++t) first.step(t);
      first.optimizer.save(path());
      Net second(method);
      second.weight = first.weight;
      second.bias = first.bias;
      second.optimizer.load(path());
      for (std::uint64_t t = 4; t < 9; ++t) {
        first.step(t);
        second.step(t);
      }
      EXPECT_TRUE(same_bits(first.everything(), second.everything())) << named.id;
      first.optimizer.save(path());
      second.optimizer.save(path("second"));
      std::ifstream a(path(), std::ios::binary), b(path("second"), std::ios::binary);
      EXPECT_EQ(std::string(std::istreambuf_iterator<char>(a), {}),
                std::string(std::istreambuf_iterator<char>(b), {}));
    }
  }
}

struct GoldenRun {
  std::vector<float> weight = golden_parameter(6);
  std::vector<float> bias = golden_parameter(3);
  Optimizer optimizer{bcosw_c};
  ParameterId w = optimizer.add("weight", weight, {2, 3});
  ParameterId b = optimizer.add("bias", bias, {3}, optimizer.add_group(bcosw_m));

  void step(std::uint64_t t) {
    optimizer.step(kGoldenAlpha, {{w, golden_gradient(6, t)}, {b, golden_gradient(3, t)}});
  }
};

TEST_F(Files, AgreeWithTheGoldenOneAndGoOnFromIt) {
  GoldenRun run;
  for (std::uint64_t t = 0; t < kGoldenSteps; ++t) run.step(t);
  run.optimizer.save(path());
  EXPECT_EQ(content(path()), content(BCOS_GOLDEN_OPTIMIZER));

  GoldenRun resumed;
  resumed.optimizer.load(BCOS_GOLDEN_OPTIMIZER);
  std::ranges::copy(run.weight, resumed.weight.begin());
  std::ranges::copy(run.bias, resumed.bias.begin());
  run.step(kGoldenSteps);
  resumed.step(kGoldenSteps);
  EXPECT_EQ(run.weight, resumed.weight);
  EXPECT_EQ(run.bias, resumed.bias);
}

TEST_F(Files, AreMatchedByNameNotByOrder) {
  Net net(bcosw_c);
  for (std::uint64_t t = 0; t < 3; ++t) net.step(t);
  net.optimizer.save(path());
  Optimizer other(bcosw_c, {.lambda = 0.0});
  std::vector<double> bias(10);
  std::vector<float> weight(120);
  other.add("layer.bias", bias);
  const GroupId decayed = other.add_group(bcosw_c);
  const auto w = other.add("layer.weight", weight, {12, 10}, decayed);
  other.load(path());
  const auto* ours = static_cast<const float*>(net.optimizer.state(net.w).m.data);
  const auto* theirs = static_cast<const float*>(other.state(w).m.data);
  EXPECT_EQ(std::vector<float>(ours, ours + 120), std::vector<float>(theirs, theirs + 120));
  EXPECT_EQ(other.state(w).steps, 3U);
}

TEST_F(Files, OfAnotherKindAreRefusedBeforeAnythingChanges) {
  Net net(bcosw_c);
  net.step(0);
  net.optimizer.save(path());
  const auto refused = [&](const char* what, const std::function<void(Optimizer&)>& make,
                           const Method& method = bcosw_c) {
    Optimizer other(method, {.lambda = 0.1});
    make(other);
    const std::string message = error_of([&] { other.load(path()); });
    EXPECT_NE(message.find(what), std::string::npos) << message;
    for (std::size_t i = 0; i < other.parameters(); ++i) {
      EXPECT_EQ(other.state({i}).steps, 0U);
      const TensorView m = other.state({i}).m;
      if (m.data != nullptr && m.dtype == DType::f32) {
        EXPECT_EQ(static_cast<const float*>(m.data)[0], 0);
      }
    }
  };
  std::vector<float> weight(120), bias32(10);
  std::vector<double> bias(10), bias2(10);
  const auto group = [](Optimizer& o) { return o.add_group(bcosw_c, {.lambda = 0.0}); };
  refused("expected state for 'extra'", [&](Optimizer& o) {
    o.add("layer.weight", weight, {12, 10});
    o.add("layer.bias", bias, {10}, group(o));
    o.add("extra", bias2);
  });
  refused("expected state for 'extra'", [&](Optimizer& o) {
    o.add("extra", bias2);
    o.add("layer.weight", weight, {12, 10});
    o.add("layer.bias", bias, {10}, group(o));
  });
  refused("which it does not have", [&](Optimizer& o) { o.add("layer.weight", weight, {12, 10}); });
  refused("expected shape [10, 12]", [&](Optimizer& o) {
    o.add("layer.weight", weight, {10, 12});
    o.add("layer.bias", bias, {10}, group(o));
  });
  refused("expected dtype float32", [&](Optimizer& o) {
    o.add("layer.weight", weight, {12, 10});
    o.add("layer.bias", bias32, {10}, group(o));
  });
  refused("expected the state of", [&](Optimizer& o) {
    o.add("layer.weight", weight, {12, 10});
    o.add("layer.bias", bias, {10});  // the file's group has lambda 0
  });
  refused(
      "convert() keeps the momentum",
      [&](Optimizer& o) {
        o.add("layer.weight", weight, {12, 10});
        o.add("layer.bias", bias, {10}, o.add_group(adamw, {.lambda = 0.0}));
      },
      adamw);
}

TEST_F(Files, WithAStateOfAnotherShapeAreRefused) {
  std::vector<float> x(6);
  Optimizer optimizer(bcosw_c);
  const auto id = optimizer.add("x", x, {2, 3});
  optimizer.save(path());
  const auto metadata = safetensors::File::open(path()).metadata();
  const std::vector<float> m(6, 1);
  const safetensors::TensorData turned{"m/x", "F32", {3, 2}, std::as_bytes(std::span(m))};
  safetensors::write(path(), {&turned, 1}, metadata);
  EXPECT_NE(error_of([&] { optimizer.load(path()); }).find("as F32 of shape [2, 3]"),
            std::string::npos);
  EXPECT_EQ(static_cast<const float*>(optimizer.state(id).m.data)[0], 0);
}

TEST_F(Files, KeepTheNumberOfSkippedSteps) {
  Net net(bcosw_c, {.guard = Guard::skip});
  net.optimizer.step(0.1, {{net.w, std::vector<float>(120, NAN)}});
  net.optimizer.save(path());
  Net other(bcosw_c);
  other.optimizer.load(path());
  EXPECT_EQ(other.optimizer.skipped_steps(), 1U);
}

TEST_F(Files, WithOtherNumbersLoadOnRequest) {
  Net net(bcosw_c);
  net.step(0);
  net.optimizer.save(path());
  Method slower = bcosw_c;
  slower.beta = 0.95;
  Net other(slower);
  EXPECT_NE(error_of([&] { other.optimizer.load(path()); }).find("expected the state of"),
            std::string::npos);
  other.optimizer.load(path(), {.other_numbers = true});
  EXPECT_EQ(other.optimizer.method().beta, 0.95);
  EXPECT_EQ(other.optimizer.state(other.w).steps, 1U);
}

TEST_F(Files, OfAdamWConvertToBcosWithTheirMomentum) {
  for (const char* id : {"adamw", "bcosw_m", "sign_momentum"}) {
    Net theirs(method_by_name(id));
    for (std::uint64_t t = 0; t < 5; ++t) theirs.step(t);
    theirs.optimizer.save(path());
    Net ours(bcosw_c);
    ours.optimizer.convert(path());
    const auto* before = static_cast<const float*>(theirs.optimizer.state(theirs.w).m.data);
    const auto* after = static_cast<const float*>(ours.optimizer.state(ours.w).m.data);
    EXPECT_EQ(std::vector<float>(before, before + 120), std::vector<float>(after, after + 120));
    EXPECT_EQ(ours.optimizer.state(ours.w).steps, 5U);
    ours.step(5);
  }
  Net gradient(bcosw_g);
  gradient.step(0);
  gradient.optimizer.save(path());
  Net ours(bcosw_c);
  EXPECT_NE(error_of([&] { ours.optimizer.convert(path()); }).find("with momentum"),
            std::string::npos);
  Net adam_again(adamw);
  EXPECT_NE(error_of([&] { adam_again.optimizer.convert(path()); }).find("momentum alone"),
            std::string::npos);
}

TEST_F(Files, SayWhenTheyAreMissingOrSomethingElse) {
  Net net(bcosw_c);
  EXPECT_NE(error_of([&] { net.optimizer.load(path("none")); }).find("none"), std::string::npos);
  const std::vector<float> values = {1};
  safetensors::write(
      path(),
      std::vector<safetensors::TensorData>{{"x", "F32", {1}, std::as_bytes(std::span(values))}},
      {});
  EXPECT_NE(error_of([&] { net.optimizer.load(path()); }).find("expected an optimizer file"),
            std::string::npos);
  EXPECT_NE(error_of([&] { net.optimizer.save("/nonexistent/folder/file"); }).find("/nonexistent"),
            std::string::npos);
}

TEST(StateFromElsewhere, GoesOnWhereItCameFrom) {
  Net net(bcosw_m);
  for (std::uint64_t t = 0; t < 3; ++t) net.step(t);
  Net other(bcosw_m);
  other.weight = net.weight;
  other.bias = net.bias;
  for (const ParameterId id : {net.w, net.b}) {
    const ParameterState from = net.optimizer.state(id), to = other.optimizer.state(id);
    const std::size_t bytes = id.index == net.w.index ? 120 * sizeof(float) : 10 * sizeof(double);
    std::memcpy(to.m.data, from.m.data, bytes);
    std::memcpy(to.v.data, from.v.data, bytes);
    other.optimizer.set_steps(id, from.steps);
  }
  net.step(3);
  other.step(3);
  EXPECT_TRUE(same_bits(net.everything(), other.everything()));
  EXPECT_NE(error_of([&] { net.optimizer.set_steps(net.w, ~0ULL); }).find("2^63"),
            std::string::npos);
  EXPECT_NE(error_of([&] { net.optimizer.set_steps(ParameterId{9}, 1); }).find("set_steps"),
            std::string::npos);
}

TEST(ParameterNames, ThatNoFileCanHoldAreRefusedAtOnce) {
  Optimizer optimizer(bcosw_c);
  std::vector<float> x(3);
  for (const char* name : {"", "x\ny", "../x", "\xff\xfe"}) {
    EXPECT_NE(error_of([&] { optimizer.add(name, x); }).find("name"), std::string::npos) << name;
  }
  EXPECT_EQ(optimizer.parameters(), 0U);
}

TEST_F(Files, WithMetadataThatIsNoneAreRefused) {
  Optimizer optimizer(bcosw_c);
  std::vector<float> x = {1, 2};
  optimizer.add("x", x);
  const std::vector<float> m = {3, 4};
  const auto file_with = [&](const std::string& groups, const std::string& parameters,
                             const std::string& skipped) {
    const safetensors::TensorData tensor{"m/x", "F32", {2}, std::as_bytes(std::span(m))};
    safetensors::write(path(), {&tensor, 1},
                       {{"kind", "bcos optimizer"},
                        {"format", "1"},
                        {"groups", groups},
                        {"parameters", parameters},
                        {"skipped_steps", skipped}});
  };
  const auto refusal_of = [&](const std::string& groups, const std::string& parameters,
                              const std::string& skipped) {
    file_with(groups, parameters, skipped);
    return error_of([&] { optimizer.load(path()); });
  };
  const std::string groups = "[" + to_json(bcosw_c) + "]";
  const auto parameters = [](const char* shape, const char* group, const char* steps) {
    return std::string(R"([{"name":"x","shape":)") + shape + R"(,"dtype":"F32","group":)" + group +
           R"(,"steps":)" + steps + "}]";
  };
  file_with(groups, parameters("[2]", "0", "5"), "0");
  optimizer.load(path());
  for (const auto& [shape, group, steps] :
       {std::array{"[2]", "0", "-5"}, std::array{"[2]", "0", "1.7"}, std::array{"[2]", "0.0", "5"},
        std::array{"[2.0]", "0", "5"}, std::array{"[2]", "0", "18446744073709551615"}}) {
    EXPECT_NE(refusal_of(groups, parameters(shape, group, steps), "0").find("whole number"),
              std::string::npos)
        << shape << group << steps;
  }
  EXPECT_NE(refusal_of(groups, parameters("[2]", "0", "5"), "-1").find("whole number"),
            std::string::npos);
  EXPECT_NE(refusal_of(groups, parameters("[2]", "1", "5"), "0").find("expected group < 1"),
            std::string::npos);
  const std::string once = parameters("[2]", "0", "5");
  const std::string twice =
      once.substr(0, once.size() - 1) + "," + once.substr(1);  // two entries of one list
  EXPECT_NE(refusal_of(groups, twice, "0").find("each name once"), std::string::npos);
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_NE(refusal_of(deep, parameters("[2]", "0", "5"), "0").find("levels"), std::string::npos);
  EXPECT_NE(refusal_of(groups, deep, "0").find("levels"), std::string::npos);
  EXPECT_EQ(optimizer.state({0}).steps, 5U) << "of the good file, untouched by the others";
}

TEST_F(Files, ThatDifferInNumbersSayHowToLoadThem) {
  std::vector<float> x = {1, 2};
  Optimizer saved(bcosw_c), other(bcosw_c, {.beta = 0.8});
  saved.add("x", x);
  saved.save(path());
  other.add("x", x);
  EXPECT_NE(error_of([&] { other.load(path()); }).find("other_numbers"), std::string::npos);
  other.load(path(), {.other_numbers = true});
}

TEST(AnOptimizer, RefusesAWrongNormWhenItIsGiven) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double wrong : {0.0, -1.0, nan}) {
    EXPECT_NE(error_of([&] {
                Optimizer(bcosw_c, {}, {.max_norm = wrong});
              }).find("[Optimizer] expected max_norm > 0"),
              std::string::npos);
    Optimizer optimizer(bcosw_c);
    EXPECT_NE(error_of([&] { optimizer.set_max_norm(wrong); }).find("[set_max_norm]"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace bcos::testing
