#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "bcos/bcos.h"
#include "tests/scratch.hpp"

/// Every wrong call of the C interface gets a code and a message, and changes nothing.
namespace {

const double kNaN = std::numeric_limits<double>::quiet_NaN();
const double kInfinity = std::numeric_limits<double>::infinity();

class Misuse : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(bcos_optimizer_create("bcosw_c", nullptr, &optimizer_), BCOS_OK);
    parameter_ = tensor(x_.data());
    ASSERT_EQ(bcos_optimizer_add(optimizer_, "x", &parameter_, 0, nullptr), BCOS_OK);
    plan_parameter_.x = tensor(px_.data());
    plan_parameter_.m = tensor(pm_.data());
    ASSERT_EQ(bcos_plan_create(&method_, 1, &plan_parameter_, 1, nullptr, &plan_), BCOS_OK);
    gradient_.data = g_.data();
  }
  void TearDown() override {
    EXPECT_EQ(x_, (std::vector<float>{1, 2, 3}));
    EXPECT_EQ(px_, (std::vector<float>{1, 2, 3}));
    EXPECT_EQ(steps_, 0U);
    bcos_optimizer_destroy(optimizer_);
    bcos_plan_destroy(plan_);
    EXPECT_GE(cases_, 1);
  }

  bcos_tensor tensor(void* data) const {
    bcos_tensor t = BCOS_TENSOR_INIT;
    t.data = data;
    t.rank = 1;
    t.shape = &size_;
    return t;
  }

  /// The call fails with this code and says something about `what`.
  void fails(int code, const std::string& what, int received) {
    ++cases_;
    EXPECT_EQ(received, code) << what;
    EXPECT_NE(std::string(bcos_error_message()).find(what), std::string::npos)
        << bcos_error_message() << " does not mention " << what;
    EXPECT_EQ(bcos_error_message()[0], '[');
  }

  int step(const double* alphas, size_t alpha_count, const bcos_gradient* gradients,
           size_t gradient_count, bcos_report* report = nullptr) {
    return bcos_optimizer_step(optimizer_, alphas, alpha_count, gradients, gradient_count, report);
  }
  int update(const bcos_gradient* gradients, const double* alphas, uint64_t* steps,
             double scale = 1, bcos_report* report = nullptr) {
    return bcos_plan_update(plan_, gradients, alphas, steps, scale, report);
  }

  int64_t size_ = 3;
  std::vector<float> x_ = {1, 2, 3}, px_ = {1, 2, 3}, pm_ = {0, 0, 0}, g_ = {1, 1, 1};
  bcos_tensor parameter_;
  bcos_parameter plan_parameter_ = BCOS_PARAMETER_INIT;
  bcos_gradient gradient_ = BCOS_GRADIENT_INIT;
  bcos_method_options options_ = BCOS_METHOD_OPTIONS_INIT;
  const char* method_ = "bcosw_c";
  bcos_optimizer* optimizer_ = nullptr;
  bcos_plan* plan_ = nullptr;
  uint64_t steps_ = 0;
  const double alpha_ = 0.1;
  int cases_ = 0;
};

TEST_F(Misuse, OfNullPointers) {
  bcos_optimizer* optimizer = nullptr;
  bcos_plan* plan = nullptr;
  uint64_t number = 0;
  uint32_t states = 0;
  double alpha = 0;
  void* data = nullptr;
  const int code = BCOS_INVALID_ARGUMENT;
  fails(code, "null", bcos_optimizer_create(nullptr, nullptr, &optimizer));
  fails(code, "null", bcos_optimizer_create("bcosw_c", nullptr, nullptr));
  fails(code, "null", bcos_optimizer_add_group(nullptr, "bcosw_c", &number));
  fails(code, "null", bcos_optimizer_add_group(optimizer_, nullptr, &number));
  fails(code, "null", bcos_optimizer_add(nullptr, "y", &parameter_, 0, &number));
  fails(code, "null", bcos_optimizer_add(optimizer_, nullptr, &parameter_, 0, &number));
  fails(code, "null", bcos_optimizer_add(optimizer_, "y", nullptr, 0, &number));
  fails(code, "null", bcos_optimizer_step(nullptr, &alpha_, 1, &gradient_, 1, nullptr));
  fails(code, "null", step(nullptr, 1, &gradient_, 1));
  fails(code, "null", step(&alpha_, 1, nullptr, 1));
  fails(code, "null", bcos_optimizer_set_numbers(nullptr, 0, "bcosw_c"));
  fails(code, "null", bcos_optimizer_set_numbers(optimizer_, 0, nullptr));
  fails(code, "null", bcos_optimizer_set_grad_scale(nullptr, 1));
  fails(code, "null", bcos_optimizer_set_max_norm(nullptr, 1));
  fails(code, "null", bcos_optimizer_move(nullptr, 0, px_.data()));
  fails(code, "null", bcos_optimizer_move(optimizer_, 0, nullptr));
  fails(code, "null", bcos_optimizer_parameters(nullptr, &number));
  fails(code, "null", bcos_optimizer_parameters(optimizer_, nullptr));
  fails(code, "null", bcos_optimizer_groups(nullptr, &number));
  fails(code, "null", bcos_optimizer_groups(optimizer_, nullptr));
  fails(code, "null", bcos_optimizer_name(nullptr, 0, nullptr, 0, nullptr));
  fails(code, "null", bcos_optimizer_name(optimizer_, 0, nullptr, 1, nullptr));
  fails(code, "null", bcos_optimizer_find(nullptr, "x", &number));
  fails(code, "null", bcos_optimizer_find(optimizer_, nullptr, &number));
  fails(code, "null", bcos_optimizer_find(optimizer_, "x", nullptr));
  fails(code, "null", bcos_optimizer_method(nullptr, 0, nullptr, 0, nullptr));
  fails(code, "null", bcos_optimizer_method(optimizer_, 0, nullptr, 1, nullptr));
  fails(code, "null", bcos_optimizer_skipped_steps(nullptr, &number));
  fails(code, "null", bcos_optimizer_skipped_steps(optimizer_, nullptr));
  fails(code, "null", bcos_method_make(nullptr, &options_, nullptr, 0, nullptr));
  fails(code, "null", bcos_method_make("sgd", nullptr, nullptr, 0, nullptr));
  fails(code, "null", bcos_method_make("sgd", &options_, nullptr, 1000, nullptr));
  fails(code, "null", bcos_optimizer_save(nullptr, "file"));
  fails(code, "null", bcos_optimizer_save(optimizer_, nullptr));
  fails(code, "null", bcos_optimizer_load(nullptr, "file"));
  fails(code, "null", bcos_optimizer_load_state(nullptr, "file"));
  fails(code, "null", bcos_optimizer_load(optimizer_, nullptr));
  fails(code, "null", bcos_optimizer_convert(nullptr, "file"));
  fails(code, "null", bcos_optimizer_convert(optimizer_, nullptr));
  fails(code, "null", bcos_optimizer_state(nullptr, 0, "m", &data, &number));
  fails(code, "null", bcos_optimizer_state(optimizer_, 0, nullptr, &data, &number));
  fails(code, "null", bcos_optimizer_state(optimizer_, 0, "m", nullptr, &number));
  fails(code, "null", bcos_optimizer_steps(nullptr, 0, &number));
  fails(code, "null", bcos_optimizer_steps(optimizer_, 0, nullptr));
  fails(code, "null", bcos_optimizer_set_steps(nullptr, 0, 1));
  fails(code, "null", bcos_optimizer_state_bytes(nullptr, &number));
  fails(code, "null", bcos_optimizer_state_bytes(optimizer_, nullptr));
  fails(code, "null", bcos_plan_create(nullptr, 1, &plan_parameter_, 1, nullptr, &plan));
  fails(code, "null", bcos_plan_create(&method_, 1, nullptr, 1, nullptr, &plan));
  fails(code, "null", bcos_plan_create(&method_, 1, &plan_parameter_, 1, nullptr, nullptr));
  fails(code, "null", bcos_plan_update(nullptr, &gradient_, &alpha_, &steps_, 1, nullptr));
  fails(code, "null", update(nullptr, &alpha_, &steps_));
  fails(code, "null", update(&gradient_, nullptr, &steps_));
  fails(code, "null", update(&gradient_, &alpha_, nullptr));
  fails(code, "null", bcos_plan_set_numbers(nullptr, 0, "bcosw_c"));
  fails(code, "null", bcos_plan_set_numbers(plan_, 0, nullptr));
  fails(code, "null", bcos_method_text(nullptr, nullptr, 0, nullptr));
  fails(code, "null", bcos_method_text("sgd", nullptr, 10, nullptr));
  fails(code, "null", bcos_method_states(nullptr, &states));
  fails(code, "null", bcos_method_states("sgd", nullptr));
  fails(code, "null", bcos_method_blocks("sgd", nullptr, 1, &number));
  fails(code, "null", bcos_method_blocks("sgd", &size_, 1, nullptr));
  fails(code, "null", bcos_schedule_alpha(nullptr, 0, &alpha));
  fails(code, "null", bcos_schedule_alpha("{}", 0, nullptr));
  EXPECT_EQ(optimizer, nullptr);
  EXPECT_EQ(plan, nullptr);
}

TEST_F(Misuse, OfStructSizesAndVersions) {
  for (const uint32_t size : {0U, 1U, 4U, 8U, 15U}) {
    bcos_tensor t = parameter_;
    t.struct_size = size;
    fails(BCOS_INVALID_ARGUMENT, "struct_size",
          bcos_optimizer_add(optimizer_, "y", &t, 0, nullptr));
    bcos_gradient g = gradient_;
    g.struct_size = size;
    fails(BCOS_INVALID_ARGUMENT, "struct_size", step(&alpha_, 1, &g, 1));
    fails(BCOS_INVALID_ARGUMENT, "struct_size", update(&g, &alpha_, &steps_));
    bcos_report r = BCOS_REPORT_INIT;
    r.struct_size = size;
    fails(BCOS_INVALID_ARGUMENT, "struct_size", step(&alpha_, 1, &gradient_, 1, &r));
    fails(BCOS_INVALID_ARGUMENT, "struct_size", update(&gradient_, &alpha_, &steps_, 1, &r));
    bcos_options o = BCOS_OPTIONS_INIT;
    o.struct_size = size;
    bcos_optimizer* optimizer = nullptr;
    fails(BCOS_INVALID_ARGUMENT, "struct_size", bcos_optimizer_create("bcosw_c", &o, &optimizer));
    bcos_method_options n = BCOS_METHOD_OPTIONS_INIT;
    n.struct_size = size;
    fails(BCOS_INVALID_ARGUMENT, "struct_size", bcos_method_make("sgd", &n, nullptr, 0, nullptr));
    bcos_parameter p = plan_parameter_;
    p.struct_size = size;
    bcos_plan* plan = nullptr;
    fails(BCOS_INVALID_ARGUMENT, "struct_size",
          bcos_plan_create(&method_, 1, &p, 1, nullptr, &plan));
  }
}

/// A newer program with longer structs, as an array of them, works with this library.
TEST(LongerStructs, OfNewerProgramsAreRead) {
  struct Longer {
    bcos_gradient known = BCOS_GRADIENT_INIT;
    double added = 7;
  };
  std::vector<float> x[2] = {{1}, {2}};
  const std::vector<float> g = {1};
  const int64_t one = 1;
  bcos_optimizer* optimizer = nullptr;
  ASSERT_EQ(bcos_optimizer_create("bcosw_c", nullptr, &optimizer), BCOS_OK);
  Longer gradients[2];
  for (size_t i = 0; i < 2; ++i) {
    bcos_tensor t = BCOS_TENSOR_INIT;
    t.data = x[i].data();
    t.rank = 1;
    t.shape = &one;
    ASSERT_EQ(bcos_optimizer_add(optimizer, i == 0 ? "a" : "b", &t, 0, nullptr), BCOS_OK);
    gradients[i].known.struct_size = sizeof(Longer);
    gradients[i].known.parameter = i;
    gradients[i].known.data = g.data();
  }
  const double alpha = 0.1;
  ASSERT_EQ(bcos_optimizer_step(optimizer, &alpha, 1, &gradients[0].known, 2, nullptr), BCOS_OK);
  EXPECT_NE(x[0][0], 1);
  EXPECT_NE(x[1][0], 2);
  bcos_optimizer_destroy(optimizer);
}

TEST(AMessage, ThatIsTooLongIsCut) {
  bcos_optimizer* optimizer = nullptr;
  const std::string name(5000, 'x');
  EXPECT_EQ(bcos_optimizer_create(name.c_str(), nullptr, &optimizer), BCOS_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(bcos_error_message()).size(), 1023U);
}

/// bcos.h: 0 is none.
TEST(Options, WithoutAMaxNormDoNotClip) {
  bcos_options options = BCOS_OPTIONS_INIT;
  EXPECT_EQ(options.max_norm, 0);
  bcos_optimizer* optimizer = nullptr;
  EXPECT_EQ(bcos_optimizer_create("bcosw_c", &options, &optimizer), BCOS_OK);
  bcos_optimizer_destroy(optimizer);
}

TEST(ATensor, HasUpToSixtyFourDimensions) {
  const std::vector<int64_t> shape(65, 1);
  uint64_t blocks = 0;
  EXPECT_EQ(bcos_method_blocks("bcosw_c", shape.data(), 64, &blocks), BCOS_OK);
  EXPECT_EQ(blocks, 1U);
  EXPECT_EQ(bcos_method_blocks("bcosw_c", shape.data(), 65, &blocks), BCOS_INVALID_ARGUMENT);
}

TEST(LoadState, TakesTheStateOfOtherNumbersAndLoadRefusesIt) {
  const std::string path = bcos::testing::scratch_path("other-numbers");
  std::vector<float> x = {1};
  const int64_t one = 1;
  bcos_tensor t = BCOS_TENSOR_INIT;
  t.data = x.data();
  t.rank = 1;
  t.shape = &one;
  bcos_optimizer* saved = nullptr;
  bcos_optimizer* other = nullptr;
  ASSERT_EQ(bcos_optimizer_create("bcosw_c", nullptr, &saved), BCOS_OK);
  ASSERT_EQ(bcos_optimizer_create(R"({"method":"bcosw_c","beta":0.8})", nullptr, &other), BCOS_OK);
  for (bcos_optimizer* optimizer : {saved, other}) {
    ASSERT_EQ(bcos_optimizer_add(optimizer, "x", &t, 0, nullptr), BCOS_OK);
  }
  ASSERT_EQ(bcos_optimizer_set_steps(saved, 0, 7), BCOS_OK);
  ASSERT_EQ(bcos_optimizer_save(saved, path.c_str()), BCOS_OK);
  EXPECT_EQ(bcos_optimizer_load(other, path.c_str()), BCOS_MISMATCH);
  EXPECT_EQ(bcos_optimizer_load_state(other, path.c_str()), BCOS_OK);
  uint64_t steps = 0;
  EXPECT_EQ(bcos_optimizer_steps(other, 0, &steps), BCOS_OK);
  EXPECT_EQ(steps, 7U);
  bcos_optimizer_destroy(saved);
  bcos_optimizer_destroy(other);
  std::remove(path.c_str());
}

TEST_F(Misuse, OfNumbers) {
  bcos_optimizer* optimizer = nullptr;
  for (const double bad : {kNaN, -1.0, kInfinity}) {
    fails(BCOS_INVALID_ARGUMENT, "alpha", step(&bad, 1, &gradient_, 1));
    fails(BCOS_INVALID_ARGUMENT, "alpha", update(&gradient_, &bad, &steps_));
  }
  for (const double bad : {kNaN, 0.0, kInfinity}) {
    fails(BCOS_INVALID_ARGUMENT, "grad_scale", update(&gradient_, &alpha_, &steps_, bad));
  }
  for (const double bad : {kNaN, -1.0}) {
    bcos_options o = BCOS_OPTIONS_INIT;
    o.max_norm = bad;
    fails(BCOS_INVALID_ARGUMENT, "max_norm", bcos_optimizer_create("bcosw_c", &o, &optimizer));
  }
  for (const int bad : {-1, 3, 100}) {
    bcos_options o = BCOS_OPTIONS_INIT;
    o.guard = bad;
    fails(BCOS_INVALID_ARGUMENT, "guard", bcos_optimizer_create("bcosw_c", &o, &optimizer));
  }
  bcos_options o = BCOS_OPTIONS_INIT;
  o.threads = -2;
  fails(BCOS_INVALID_ARGUMENT, "threads", bcos_optimizer_create("bcosw_c", &o, &optimizer));
  o = BCOS_OPTIONS_INIT;
  o.target = "abacus";
  fails(BCOS_INVALID_ARGUMENT, "abacus", bcos_optimizer_create("bcosw_c", &o, &optimizer));
  for (const int bad : {0, -1, 100'000}) {
    fails(BCOS_INVALID_ARGUMENT, "threads", bcos_set_threads(bad));
  }
  fails(BCOS_INVALID_ARGUMENT, "memory", bcos_prefer_huge_pages(nullptr, 1));
  const double two[] = {0.1, 0.1};
  fails(BCOS_MISMATCH, "alphas", step(two, 2, &gradient_, 1));
  fails(BCOS_MISMATCH, "alphas", step(nullptr, 0, &gradient_, 1));
}

TEST_F(Misuse, OfMethodsAndSchedules) {
  bcos_optimizer* optimizer = nullptr;
  double alpha = 0;
  for (const char* text : {"",
                           " ",
                           "bcosw_d",
                           "{",
                           "{}x",
                           "[]",
                           "{\"method\": 3}",
                           "{\"method\": \"nothing\"}",
                           "{\"beta\": 1.5}",
                           "{\"beta\": -0.1}",
                           "{\"beta\": \"x\"}",
                           "{\"beta\": null}",
                           "{\"lambda\": -1}",
                           "{\"eps\": -1e-8}",
                           "{\"betta\": 0.9}",
                           "{\"blocks\": \"rows\"}",
                           "{\"blocks\": [[0, 0]]}",
                           "{\"blocks\": [[-1]]}",
                           "{\"blocks\": [[0.5]]}",
                           "{\"blocks\": \"heads:0\"}",
                           "{\"estimator\": \"magic\"}",
                           "{\"beta\": 1e400}",
                           "{\"method\": \"bcosw_c\", \"beta_v\": 0.9}",
                           "{\"method\": \"sgd\", \"beta\": 0.9}",
                           "{\"beta\": 0.9, \"beta\": 0.8}",
                           "sgd@paper"}) {
    fails(BCOS_INVALID_ARGUMENT, "expected", bcos_optimizer_create(text, nullptr, &optimizer));
  }
  for (const char* text :
       {"", "{", "[]", "{\"curve\": \"round\"}", "{\"warmup\": -1}", "{\"curve\": \"cosine\"}",
        "{\"warmup\": 5, \"total\": 3}", "{\"alpha_max\": -1}", "{\"alfa_max\": 1}"}) {
    fails(BCOS_INVALID_ARGUMENT, "expected", bcos_schedule_alpha(text, 0, &alpha));
  }
  fails(BCOS_INVALID_ARGUMENT, "group", bcos_optimizer_set_numbers(optimizer_, 5, "bcosw_c"));
  fails(BCOS_INVALID_ARGUMENT, "numbers", bcos_optimizer_set_numbers(optimizer_, 0, "sgd"));
  fails(BCOS_MISMATCH, "plan", bcos_plan_set_numbers(plan_, 0, "sgd"));
  fails(BCOS_INVALID_ARGUMENT, "group", bcos_plan_set_numbers(plan_, 9, "bcosw_c"));
}

TEST_F(Misuse, OfTheNumbersOfAMethod) {
  char text[BCOS_METHOD_CAPACITY] = "as before";
  size_t length = 17;
  const auto refused = [&](const char* method, const char* what,
                           const std::function<void(bcos_method_options&)>& change) {
    bcos_method_options o = BCOS_METHOD_OPTIONS_INIT;
    change(o);
    fails(BCOS_INVALID_ARGUMENT, what, bcos_method_make(method, &o, text, sizeof text, &length));
  };
  for (const double bad : {kNaN, -1.0, 1.0, kInfinity, -kInfinity}) {
    refused("bcosw_c", "beta in [0, 1)", [&](bcos_method_options& o) { o.beta = bad; });
    refused("adamw", "beta_v in [0, 1)", [&](bcos_method_options& o) { o.beta_v = bad; });
  }
  for (const double bad : {kNaN, -1.0, kInfinity}) {
    refused("bcosw_c", "eps finite", [&](bcos_method_options& o) { o.eps = bad; });
    refused("bcosw_c", "eps_root finite", [&](bcos_method_options& o) { o.eps_root = bad; });
    refused("bcosw_c", "lambda finite", [&](bcos_method_options& o) { o.lambda = bad; });
    refused("sgd", "c finite", [&](bcos_method_options& o) { o.c = bad; });
  }
  for (const int bad : {-2, 3, 100}) {
    refused("bcosw_c", "decay in 0..2", [&](bcos_method_options& o) { o.decay = bad; });
    refused("bcosw_c", "start in 0..2", [&](bcos_method_options& o) { o.start = bad; });
  }
  for (const int bad : {-2, 2}) {
    refused("bcosw_c", "coupled_start in 0..1",
            [&](bcos_method_options& o) { o.coupled_start = bad; });
    refused("bcosw_c", "block_gain in 0..1", [&](bcos_method_options& o) { o.block_gain = bad; });
    refused("bcosw_c", "init_on_first_nonzero in 0..1",
            [&](bcos_method_options& o) { o.init_on_first_nonzero = bad; });
  }
  refused("bcosw_c", "no beta_v for bcosw_c", [](bcos_method_options& o) { o.beta_v = 0.9; });
  refused("bcosw_c", "did you mean 'row'?", [](bcos_method_options& o) { o.blocks = "rows"; });
  refused("bcosw_d", "bcosw_c", [](bcos_method_options&) {});
  bcos_method_options o = BCOS_METHOD_OPTIONS_INIT;
  fails(BCOS_INVALID_ARGUMENT, "buffer of", bcos_method_make("sgd", &o, text, 20, &length));
  EXPECT_STREQ(text, "as before");
  EXPECT_EQ(length, 17U);
}

TEST_F(Misuse, OfGradientsThatSayWhatTheyAre) {
  const std::vector<double> doubles = {1, 1, 1};
  const bcos_gradient wrong_type = BCOS_GRADIENT_F64(0, doubles.data(), doubles.size());
  const bcos_gradient short_one = BCOS_GRADIENT_F32(0, g_.data(), 2);
  bcos_gradient no_type = BCOS_GRADIENT_F32(0, g_.data(), 3);
  no_type.dtype = 7;
  fails(BCOS_MISMATCH,
        "expected 3 float32 elements as the gradient of 'x' but received 3 of float64",
        step(&alpha_, 1, &wrong_type, 1));
  fails(BCOS_MISMATCH, "3 float32 elements as the gradient of 'x' but received 2 of float32",
        step(&alpha_, 1, &short_one, 1));
  fails(BCOS_MISMATCH, "gradient of parameter 0 but received 3 of float64",
        update(&wrong_type, &alpha_, &steps_));
  fails(BCOS_MISMATCH, "gradient of parameter 0 but received 2 of float32",
        update(&short_one, &alpha_, &steps_));
  fails(BCOS_INVALID_ARGUMENT, "dtype", step(&alpha_, 1, &no_type, 1));
  fails(BCOS_INVALID_ARGUMENT, "dtype", update(&no_type, &alpha_, &steps_));
}

TEST_F(Misuse, OfMoves) {
  std::vector<float> y = {4, 5, 6};
  const bcos_tensor other = tensor(y.data());
  ASSERT_EQ(bcos_optimizer_add(optimizer_, "y", &other, 0, nullptr), BCOS_OK);
  void* m = nullptr;
  ASSERT_EQ(bcos_optimizer_state(optimizer_, 0, "m", &m, nullptr), BCOS_OK);
  fails(BCOS_INVALID_ARGUMENT, "parameter < 2", bcos_optimizer_move(optimizer_, 2, y.data()));
  fails(BCOS_INVALID_ARGUMENT, "aligned",
        bcos_optimizer_move(optimizer_, 0, reinterpret_cast<char*>(px_.data()) + 1));
  fails(BCOS_INVALID_ARGUMENT, "overlap", bcos_optimizer_move(optimizer_, 0, m));
  // Onto another: found by whatever looks at all of them next.
  std::vector<float> z = {7, 8, 9};
  const bcos_tensor third = tensor(z.data());
  ASSERT_EQ(bcos_optimizer_move(optimizer_, 0, y.data()), BCOS_OK);
  fails(BCOS_INVALID_ARGUMENT, "for 'x' but received memory that overlaps 'y'",
        step(&alpha_, 1, &gradient_, 1));
  fails(BCOS_INVALID_ARGUMENT, "overlap", bcos_optimizer_add(optimizer_, "z", &third, 0, nullptr));
  EXPECT_EQ(y, (std::vector<float>{4, 5, 6}));
  ASSERT_EQ(bcos_optimizer_move(optimizer_, 1, x_.data()), BCOS_OK);
  ASSERT_EQ(bcos_optimizer_add(optimizer_, "z", &third, 0, nullptr), BCOS_OK);
  ASSERT_EQ(step(&alpha_, 1, &gradient_, 1), BCOS_OK);
  EXPECT_NE(y[0], 4);
  // Where a parameter was, another may be added.
  std::vector<float> elsewhere = {0, 0, 0};
  ASSERT_EQ(bcos_optimizer_move(optimizer_, 2, elsewhere.data()), BCOS_OK);
  ASSERT_EQ(bcos_optimizer_add(optimizer_, "new", &third, 0, nullptr), BCOS_OK);
  fails(BCOS_INVALID_ARGUMENT, "overlaps 'z'", [&] {
    const bcos_tensor on_z = tensor(elsewhere.data());
    return bcos_optimizer_add(optimizer_, "onto", &on_z, 0, nullptr);
  }());
}

TEST_F(Misuse, OfQuestions) {
  uint64_t id = 5;
  size_t length = 0;
  char text[8] = "before";
  fails(BCOS_INVALID_ARGUMENT, "received 'z'", bcos_optimizer_find(optimizer_, "z", &id));
  std::vector<float> y = {4, 5, 6};
  const bcos_tensor other = tensor(y.data());
  ASSERT_EQ(bcos_optimizer_add(optimizer_, "layer.weight", &other, 0, nullptr), BCOS_OK);
  fails(BCOS_INVALID_ARGUMENT, "did you mean 'layer.weight'?",
        bcos_optimizer_find(optimizer_, "Layer.wieght", &id));
  EXPECT_EQ(id, 5U);
  fails(BCOS_INVALID_ARGUMENT, "parameter < 2",
        bcos_optimizer_name(optimizer_, 2, text, sizeof text, &length));
  fails(BCOS_INVALID_ARGUMENT, "group < 1",
        bcos_optimizer_method(optimizer_, 1, text, sizeof text, &length));
  EXPECT_STREQ(text, "before");
  for (const double bad : {kNaN, 0.0, kInfinity}) {
    fails(BCOS_INVALID_ARGUMENT, "grad_scale", bcos_optimizer_set_grad_scale(optimizer_, bad));
  }
  for (const double bad : {kNaN, -1.0}) {
    fails(BCOS_INVALID_ARGUMENT, "max_norm", bcos_optimizer_set_max_norm(optimizer_, bad));
  }
  // One alpha is for all groups; of more, there is one per group.
  ASSERT_EQ(bcos_optimizer_add_group(optimizer_, "sgd", nullptr), BCOS_OK);
  const double three[] = {0.1, 0.1, 0.1};
  fails(BCOS_MISMATCH, "expected 2 alphas", step(three, 3, &gradient_, 1));
  fails(BCOS_MISMATCH, "expected 2 alphas", step(nullptr, 0, &gradient_, 1));
}

TEST_F(Misuse, OfTensors) {
  const auto add = [&](const std::function<void(bcos_tensor&)>& change, const char* what,
                       int code = BCOS_INVALID_ARGUMENT) {
    bcos_tensor t = parameter_;
    std::vector<float> other(3);
    t.data = other.data();
    change(t);
    fails(code, what, bcos_optimizer_add(optimizer_, "y", &t, 0, nullptr));
  };
  const int64_t negative = -3, huge = int64_t{1} << 62, zero = 0;
  const int64_t large[] = {int64_t{1} << 40, int64_t{1} << 40};
  add([](bcos_tensor& t) { t.data = nullptr; }, "null");
  add([](bcos_tensor& t) { t.dtype = 2; }, "dtype");
  add([](bcos_tensor& t) { t.dtype = -1; }, "dtype");
  add([](bcos_tensor& t) { t.rank = -1; }, "rank");
  add([](bcos_tensor& t) { t.rank = 65; }, "rank");
  add([](bcos_tensor& t) { t.shape = nullptr; }, "shape");
  add([&](bcos_tensor& t) { t.shape = &negative; }, "expected");
  add([&](bcos_tensor& t) { t.strides = &zero; }, "strides");
  add([&](bcos_tensor& t) { t.strides = &huge; }, "strides");
  add(
      [&](bcos_tensor& t) {
        t.shape = large;
        t.rank = 2;
      },
      "expected");
  add([](bcos_tensor& t) { t.data = static_cast<char*>(t.data) + 1; }, "aligned");
  fails(BCOS_INVALID_ARGUMENT, "there already",
        bcos_optimizer_add(optimizer_, "x", &parameter_, 0, nullptr));
  fails(BCOS_INVALID_ARGUMENT, "overlaps 'x'",
        bcos_optimizer_add(optimizer_, "y", &parameter_, 0, nullptr));
  fails(BCOS_INVALID_ARGUMENT, "group",
        bcos_optimizer_add(optimizer_, "y", &parameter_, 4, nullptr));
  fails(BCOS_INVALID_ARGUMENT, "name", bcos_optimizer_add(optimizer_, "", &parameter_, 0, nullptr));

  // Parameters that overlap, states that are missing or of another shape.
  bcos_plan* plan = nullptr;
  const auto refused = [&](const std::function<void(bcos_parameter&)>& change, const char* what,
                           int code) {
    bcos_parameter p = plan_parameter_;
    change(p);
    fails(code, what, bcos_plan_create(&method_, 1, &p, 1, nullptr, &plan));
  };
  refused([](bcos_parameter& p) { p.m.data = nullptr; }, "null", BCOS_INVALID_ARGUMENT);
  refused([](bcos_parameter& p) { p.m.dtype = BCOS_F64; }, "float64", BCOS_MISMATCH);
  refused([&](bcos_parameter& p) { p.m.shape = &zero; }, "shape", BCOS_MISMATCH);
  refused([](bcos_parameter& p) { p.m.data = p.x.data; }, "overlap", BCOS_INVALID_ARGUMENT);
  refused([](bcos_parameter& p) { p.group = 1; }, "group", BCOS_INVALID_ARGUMENT);
  const bcos_parameter twice[] = {plan_parameter_, plan_parameter_};
  fails(BCOS_INVALID_ARGUMENT, "listed twice",
        bcos_plan_create(&method_, 1, twice, 2, nullptr, &plan));
}

TEST_F(Misuse, OfMoreMemoryThanThereIsChangesNothing) {
  const int64_t vast = int64_t{1} << 46;
  bcos_tensor t = tensor(px_.data());
  t.shape = &vast;
  uint64_t id = 17;
  fails(BCOS_OUT_OF_MEMORY, "memory", bcos_optimizer_add(optimizer_, "vast", &t, 0, &id));
  EXPECT_EQ(id, 17U);
  uint64_t bytes = 0;
  ASSERT_EQ(bcos_optimizer_state_bytes(optimizer_, &bytes), BCOS_OK);
  EXPECT_EQ(bytes, 3 * sizeof(float));
  t.shape = &size_;
  EXPECT_EQ(bcos_optimizer_add(optimizer_, "vast", &t, 0, &id), BCOS_OK);
}

TEST_F(Misuse, OfGradientsIdsAndFiles) {
  bcos_gradient g = gradient_;
  g.parameter = 17;
  fails(BCOS_INVALID_ARGUMENT, "parameter", step(&alpha_, 1, &g, 1));
  g = gradient_;
  g.data = reinterpret_cast<const char*>(g_.data()) + 1;
  fails(BCOS_INVALID_ARGUMENT, "aligned", step(&alpha_, 1, &g, 1));
  g.data = x_.data();
  fails(BCOS_INVALID_ARGUMENT, "overlaps", step(&alpha_, 1, &g, 1));
  const bcos_gradient twice[] = {gradient_, gradient_};
  fails(BCOS_INVALID_ARGUMENT, "two", step(&alpha_, 1, twice, 2));
  uint64_t number = 0;
  void* data = nullptr;
  fails(BCOS_INVALID_ARGUMENT, "parameter", bcos_optimizer_steps(optimizer_, 3, &number));
  fails(BCOS_INVALID_ARGUMENT, "parameter", bcos_optimizer_set_steps(optimizer_, 3, 1));
  fails(BCOS_INVALID_ARGUMENT, "parameter",
        bcos_optimizer_state(optimizer_, 3, "m", &data, &number));
  fails(BCOS_INVALID_ARGUMENT, "'w'", bcos_optimizer_state(optimizer_, 0, "w", &data, &number));
  fails(BCOS_IO, "none", bcos_optimizer_load(optimizer_, "/nonexistent/none"));
  fails(BCOS_IO, "none", bcos_optimizer_save(optimizer_, "/nonexistent/none"));
  fails(BCOS_IO, "none", bcos_optimizer_convert(optimizer_, "/nonexistent/none"));
  fails(BCOS_IO, "/", bcos_optimizer_load(optimizer_, "/"));
}

/// Different handles on different threads, sharing the pool.
TEST(EightThreads, UseTheirOwnOptimizersAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int k = 0; k < 8; ++k) {
    threads.emplace_back([&wrong] {
      std::vector<float> x(300'000, 1), g(300'000, 0.5F);
      const int64_t size = 300'000;
      bcos_tensor t = BCOS_TENSOR_INIT;
      t.data = x.data();
      t.rank = 1;
      t.shape = &size;
      bcos_gradient gradient = BCOS_GRADIENT_INIT;
      gradient.data = g.data();
      bcos_optimizer* optimizer = nullptr;
      const double alpha = 0.01;
      if (bcos_optimizer_create("bcosw_c", nullptr, &optimizer) != BCOS_OK) ++wrong;
      if (bcos_optimizer_add(optimizer, "x", &t, 0, nullptr) != BCOS_OK) ++wrong;
      for (int step = 0; step < 5; ++step) {
        if (bcos_optimizer_step(optimizer, &alpha, 1, &gradient, 1, nullptr) != BCOS_OK) ++wrong;
        if (bcos_optimizer_create("nothing", nullptr, &optimizer) == BCOS_OK) ++wrong;
      }
      for (const float value : x) {
        if (value != x[0]) ++wrong;
      }
      bcos_optimizer_destroy(optimizer);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
