#include "lab/models/gpt_names.hpp"

#include <gtest/gtest.h>

namespace bcos::lab::models {
namespace {

TEST(TheNamesOfAGpt, GoToHuggingFaceAndBack) {
  for (const char* name : {"wte.weight", "wpe.weight", "h.0.ln_1.bias", "h.11.attn.c_attn.weight",
                           "h.3.attn.c_attn.bias", "ln_f.weight"}) {
    EXPECT_EQ(to_hugging_face(name), std::string("transformer.") + name);
    EXPECT_EQ(from_hugging_face(to_hugging_face(name)), name);
    EXPECT_EQ(from_hugging_face(name), name) << "as older files have it";
  }
  EXPECT_EQ(to_hugging_face("lm_head.weight"), "lm_head.weight");
  EXPECT_EQ(from_hugging_face("lm_head.weight"), "lm_head.weight");
}

TEST(TheNamesOfAGpt, DoNotCoverTheMasksOfOldFiles) {
  EXPECT_EQ(from_hugging_face("h.0.attn.bias"), std::nullopt);
  EXPECT_EQ(from_hugging_face("transformer.h.11.attn.masked_bias"), std::nullopt);
  EXPECT_NE(from_hugging_face("h.x.attn.bias"), std::nullopt) << "no block";
  EXPECT_NE(from_hugging_face("h..attn.bias"), std::nullopt) << "no block";
  EXPECT_NE(from_hugging_face("h.1"), std::nullopt) << "nothing in the block";
}

TEST(TheNamesOfAGpt, StayStrangeWhenTheyAre) {
  EXPECT_EQ(from_hugging_face("transformer.lm_head.weight"), "transformer.lm_head.weight");
  EXPECT_EQ(from_hugging_face("transformer."), "transformer.");
  EXPECT_EQ(from_hugging_face(""), "");
}

TEST(TheLinearLayersOfABlock, AreTransposedInFiles) {
  EXPECT_TRUE(is_transposed("h.0.attn.c_attn.weight"));
  EXPECT_TRUE(is_transposed("h.0.attn.c_proj.weight"));
  EXPECT_TRUE(is_transposed("h.10.mlp.c_fc.weight"));
  EXPECT_TRUE(is_transposed("h.10.mlp.c_proj.weight"));
  for (const char* name : {"wte.weight", "wpe.weight", "lm_head.weight", "h.0.ln_1.weight",
                           "h.0.attn.c_attn.bias", "mlp.c_fc.weight"}) {
    EXPECT_FALSE(is_transposed(name)) << name;
  }
}

}  // namespace
}  // namespace bcos::lab::models
