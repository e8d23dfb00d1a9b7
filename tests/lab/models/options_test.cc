#include "lab/models/options.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/lab/models/testing.hpp"

namespace bcos::lab::models {
namespace {

std::string refusal(const ModelOptions& options) {
  return message_of([&] { validate(options); });
}

TEST(ModelOptions, OfEveryKindAreFineAsTheyBegin) {
  for (const char* kind : {"gpt", "resnet", "vit", "mlp"}) {
    EXPECT_NO_THROW(validate({.kind = kind})) << kind;
  }
}

TEST(ModelOptions, AreRefusedByFieldBoundAndValue) {
  EXPECT_EQ(refusal({.kind = "lstm"}),
            "[model] expected kind to be one of gpt, resnet, vit, mlp but received 'lstm'");
  EXPECT_EQ(refusal({.width = 768, .heads = 5}),
            "[model] expected heads to divide width = 768 but received heads = 5");
  EXPECT_EQ(refusal({.layers = 0}),
            "[model] expected 1 <= layers <= 16777216 but received layers = 0");
  EXPECT_EQ(refusal({.dropout = 1}), "[model] expected 0 <= dropout < 1 but received dropout = 1");
  EXPECT_EQ(refusal({.activation = "swish"}),
            "[model] expected activation to be one of gelu, relu but received 'swish'");
  EXPECT_EQ(refusal({.kind = "resnet", .depth = 18}),
            "[model] expected depth = 6n + 2 (20, 32, 56, ...) but received depth = 18");
  EXPECT_EQ(refusal({.kind = "vit", .width = 192, .heads = 3, .image_size = 28}),
            "[model] expected image_size to be a multiple of patch = 16 but received image_size = "
            "28");
  EXPECT_EQ(refusal({.kind = "mlp", .hidden = {8, -1}}),
            "[model] expected 1 <= hidden[1] <= 16777216 but received hidden[1] = -1");
}

TEST(ModelOptions, OfRotaryPositionsNeedPairs) {
  EXPECT_EQ(refusal({.width = 15, .heads = 3, .positions = "rotary"}),
            "[model] expected an even width / heads for rotary positions but received 15 / 3 = 5");
  EXPECT_NO_THROW(validate({.width = 15, .heads = 3}));
}

TEST(ModelOptions, ThatAreNotNumbersAreRefused) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(validate({.dropout = nan}), Error);
  EXPECT_THROW(validate({.kind = "vit", .drop_path = nan}), Error);
  EXPECT_THROW(validate({.kind = "mlp", .label_smoothing = nan}), Error);
}

TEST(ModelOptions, OfOtherKindsAreNotRead) {
  EXPECT_NO_THROW(validate({.kind = "mlp", .heads = 5, .depth = 18, .patch = 5}));
}

TEST(APaddedVocabulary, IsTheNextMultiple) {
  EXPECT_EQ(padded_vocab({.vocab_size = 50257, .pad_vocab_to = 1}), 50257);
  EXPECT_EQ(padded_vocab({.vocab_size = 50257, .pad_vocab_to = 128}), 50304);
  EXPECT_EQ(padded_vocab({.vocab_size = 128, .pad_vocab_to = 64}), 128);
}

}  // namespace
}  // namespace bcos::lab::models
