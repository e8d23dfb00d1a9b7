#include "lab/models/gpt_file.hpp"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <filesystem>

#include "bcos/safetensors.hpp"
#include "lab/models/gpt.hpp"
#include "lab/models/make.hpp"
#include "tests/lab/models/testing.hpp"
#include "tests/scratch.hpp"

namespace bcos::lab::models {
namespace {

using torch::Tensor;

/// A tensor of a file, to be changed and written again.
struct Entry {
  std::string name;
  std::string dtype;
  std::vector<std::uint64_t> shape;
  std::vector<std::byte> data;
};

class AGpt2File : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = bcos::testing::scratch_path(std::string("gpt2-") + test->name());
    std::filesystem::create_directories(folder_);
    path_ = folder_ / "model.safetensors";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static std::shared_ptr<Model> drawn(const ModelOptions& options, std::uint64_t seed) {
    torch::manual_seed(seed);
    auto model = make_model(options);
    const torch::NoGradGuard no_grad;
    for (Tensor& parameter : model->parameters()) parameter.normal_();
    return model;
  }

  std::vector<Entry> saved_entries() const {
    save_gpt2(*drawn(small_gpt(), 1), path_);
    const auto file = safetensors::File::open(path_);
    std::vector<Entry> entries;
    for (const auto& tensor : file.tensors()) {
      entries.push_back({tensor.name, tensor.dtype, tensor.shape,
                         std::vector<std::byte>(tensor.end - tensor.begin)});
      file.read(tensor, entries.back().data);
    }
    return entries;
  }

  void write(const std::vector<Entry>& entries) const {
    std::vector<safetensors::TensorData> tensors;
    for (const Entry& e : entries) tensors.push_back({e.name, e.dtype, e.shape, e.data});
    safetensors::write(path_, tensors, {});
  }

  /// The message of loading the file into a model, which must stay as it is.
  std::string refusal(const ModelOptions& options = small_gpt()) const {
    const auto model = drawn(options, 2);
    std::vector<Tensor> before;
    for (const Tensor& parameter : model->parameters()) before.push_back(parameter.clone());
    std::string message = message_of([&] { load_gpt2(*model, path_); });
    const auto after = model->parameters();
    for (std::size_t i = 0; i < before.size(); ++i) {
      EXPECT_TRUE(before[i].equal(after[i])) << "the model was changed";
    }
    const std::size_t place = message.find(path_);
    EXPECT_NE(place, std::string::npos) << message;
    return place == std::string::npos ? message : message.replace(place, path_.size(), "F");
  }

  static Entry& named(std::vector<Entry>& entries, const std::string& name) {
    const auto found = std::ranges::find(entries, name, &Entry::name);
    EXPECT_NE(found, entries.end()) << name;
    return *found;
  }

  void expect_loads_equal(const ModelOptions& options, const Model& expected) const {
    const auto loaded = drawn(options, 3);
    load_gpt2(*loaded, path_);
    for (const auto& item : expected.named_parameters()) {
      EXPECT_TRUE(loaded->named_parameters()[item.key()].equal(item.value())) << item.key();
    }
  }

  std::filesystem::path folder_;
  std::string path_;
};

TEST_F(AGpt2File, BringsEveryNumberBack) {
  for (const bool tied : {true, false}) {
    ModelOptions options = small_gpt();
    options.tied = tied;
    const auto model = drawn(options, 1);
    save_gpt2(*model, path_);
    expect_loads_equal(options, *model);
  }
}

TEST_F(AGpt2File, HasTheNamesAndTheLayoutOfHuggingFace) {
  const auto model = drawn(small_gpt(), 1);
  save_gpt2(*model, path_);
  const auto file = safetensors::File::open(path_);
  EXPECT_EQ(file.metadata().at("format"), "pt");
  EXPECT_EQ(file.tensors().size(), model->parameters().size());
  EXPECT_EQ(file.find("lm_head.weight"), nullptr) << "it is tied";
  ASSERT_NE(file.find("transformer.wte.weight"), nullptr);
  ASSERT_NE(file.find("transformer.h.1.ln_2.bias"), nullptr);

  const auto* tensor = file.find("transformer.h.0.attn.c_attn.weight");
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(tensor->dtype, "F32");
  EXPECT_EQ(tensor->shape, (std::vector<std::uint64_t>{16, 48})) << "[in, out]";
  std::vector<float> numbers(16L * 48);
  file.read(*tensor, std::as_writable_bytes(std::span(numbers)));
  const Tensor weight = model->named_parameters()["h.0.attn.c_attn.weight"].detach();
  const auto ours = weight.accessor<float, 2>();
  for (std::int64_t in = 0; in < 16; ++in) {
    for (std::int64_t out = 0; out < 48; ++out) {
      EXPECT_EQ(numbers[static_cast<std::size_t>(in * 48 + out)], ours[out][in]);
    }
  }
}

TEST_F(AGpt2File, OfOldHasNoPrefixButMasks) {
  const auto model = drawn(small_gpt(), 1);
  std::vector<Entry> entries = saved_entries();
  for (Entry& entry : entries) entry.name = entry.name.substr(std::string("transformer.").size());
  entries.push_back({"h.0.attn.bias", "U8", {1, 1, 2, 2}, std::vector<std::byte>(4)});
  entries.push_back({"h.1.attn.masked_bias", "F32", {}, std::vector<std::byte>(4)});
  write(entries);
  expect_loads_equal(small_gpt(), *model);
}

TEST_F(AGpt2File, MayHoldHalfPrecision) {
  const auto model = drawn(small_gpt(), 1);
  model->to(torch::kBFloat16);
  save_gpt2(*model, path_);
  EXPECT_EQ(safetensors::File::open(path_).find("transformer.wte.weight")->dtype, "BF16");
  model->to(torch::kFloat);
  expect_loads_equal(small_gpt(), *model);
}

TEST_F(AGpt2File, DoesNotKnowOfPadding) {
  ModelOptions padded = small_gpt();
  padded.pad_vocab_to = 8;
  const auto model = drawn(padded, 1);
  save_gpt2(*model, path_);
  const auto plain = drawn(small_gpt(), 2);
  load_gpt2(*plain, path_);
  const Tensor rows = model->named_parameters()["wte.weight"].narrow(0, 0, 11);
  EXPECT_TRUE(plain->named_parameters()["wte.weight"].equal(rows));
  EXPECT_NO_THROW(load_gpt2(*model, path_));
}

TEST_F(AGpt2File, WithoutAHeadMeansTheTokenEmbedding) {
  save_gpt2(*drawn(small_gpt(), 1), path_);
  ModelOptions options = small_gpt();
  options.tied = false;
  const auto model = drawn(options, 2);
  load_gpt2(*model, path_);
  const auto parameters = model->named_parameters();
  EXPECT_TRUE(parameters["lm_head.weight"].equal(parameters["wte.weight"]));
  EXPECT_NE(parameters["lm_head.weight"].data_ptr(), parameters["wte.weight"].data_ptr());
}

TEST_F(AGpt2File, WithAHeadFitsATiedModelOnlyIfTheyAreEqual) {
  std::vector<Entry> entries = saved_entries();
  entries.push_back(named(entries, "transformer.wte.weight"));
  entries.back().name = "lm_head.weight";
  write(entries);
  expect_loads_equal(small_gpt(), *drawn(small_gpt(), 1));

  entries.back().data[2] ^= std::byte{1};
  write(entries);
  EXPECT_EQ(refusal(),
            "[load_gpt2] expected lm_head.weight equal to wte.weight in 'F', because the model "
            "ties them, but received other numbers; set tied = false");
}

TEST_F(AGpt2File, WithoutATensorIsRefusedByItsName) {
  std::vector<Entry> entries = saved_entries();
  std::erase_if(entries, [](const Entry& e) { return e.name == "transformer.h.1.ln_2.bias"; });
  write(entries);
  EXPECT_EQ(refusal(),
            "[load_gpt2] expected tensor h.1.ln_2.bias in 'F' but received none of that name; the "
            "model has 28 tensors, the file 27");
}

TEST_F(AGpt2File, WithATensorTooManyIsRefusedByItsName) {
  std::vector<Entry> entries = saved_entries();
  entries.push_back(named(entries, "transformer.h.1.ln_2.bias"));
  entries.back().name = "transformer.h.2.ln_2.bias";
  write(entries);
  EXPECT_EQ(refusal(),
            "[load_gpt2] expected the 28 tensors of the model in 'F' but received "
            "transformer.h.2.ln_2.bias as well");
}

TEST_F(AGpt2File, WithATensorTwiceIsRefusedByItsName) {
  std::vector<Entry> entries = saved_entries();
  entries.push_back(named(entries, "transformer.ln_f.bias"));
  entries.back().name = "ln_f.bias";
  write(entries);
  EXPECT_EQ(refusal(),
            "[load_gpt2] expected one tensor ln_f.bias in 'F' but received it with and without "
            "'transformer.'");
}

TEST_F(AGpt2File, WithAnotherShapeIsRefusedByItsName) {
  std::vector<Entry> entries = saved_entries();
  std::ranges::reverse(named(entries, "transformer.h.1.mlp.c_proj.weight").shape);
  write(entries);
  EXPECT_EQ(refusal(),
            "[load_gpt2] expected shape [64, 16] of transformer.h.1.mlp.c_proj.weight in 'F' but "
            "received [16, 64]; give the model the layers, width, context and vocab_size of the "
            "file");
}

TEST_F(AGpt2File, OfIntegersIsRefused) {
  std::vector<Entry> entries = saved_entries();
  named(entries, "transformer.ln_f.bias").dtype = "I32";
  write(entries);
  EXPECT_EQ(refusal(),
            "[load_gpt2] expected transformer.ln_f.bias in 'F' as F32, F64, F16 or BF16 but "
            "received I32");
}

TEST_F(AGpt2File, ThatIsDamagedChangesNothing) {
  saved_entries();
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 4);
  refusal();
}

TEST_F(AGpt2File, OfAModelWithoutBiasesHasBiasesOfZero) {
  ModelOptions options = small_gpt();
  options.activation = "relu";
  const ModelOptions with_biases = options;
  options.bias = false;
  const auto model = drawn(options, 1);
  save_gpt2(*model, path_);
  const auto read = drawn(with_biases, 2);
  load_gpt2(*read, path_);
  model->eval();
  read->eval();
  const torch::NoGradGuard no_grad;
  const Tensor tokens = torch::arange(6).view({1, 6});
  EXPECT_TRUE(model->forward(tokens).equal(read->forward(tokens)));
  EXPECT_NE(gpt2_config(*model).find("\"activation_function\": \"relu\""), std::string::npos);
}

TEST_F(AGpt2File, IsForGpt2AndNoOtherModel) {
  ModelOptions options = small_gpt();
  options.positions = "rotary";
  const auto rotary = drawn(options, 1);
  EXPECT_EQ(message_of([&] { save_gpt2(*rotary, path_); }),
            "[save_gpt2] expected a GPT with learned positions, as GPT-2 has them, but received "
            "positions = rotary");
  const auto mlp = make_model({.kind = "mlp", .image_size = 2});
  EXPECT_EQ(message_of([&] { load_gpt2(*mlp, path_); }),
            "[load_gpt2] expected a model of kind gpt but received one of kind mlp");
}

}  // namespace
}  // namespace bcos::lab::models
