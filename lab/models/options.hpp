#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bcos::lab::models {

/// A model in words and numbers. The defaults are GPT-2's smallest; a kind reads the fields that
/// are listed for it and no others.
struct ModelOptions {
  std::string kind = "gpt";  ///< gpt, resnet, vit or mlp

  // gpt and vit
  int layers = 12;
  int width = 768;
  int heads = 12;
  double dropout = 0;

  // gpt
  int context = 1024;
  std::string positions = "learned";  ///< or rotary
  std::string activation = "gelu";    ///< GPT-2's tanh form, or relu
  bool bias = true;                   ///< false: neither in the linear layers nor in LayerNorm
  bool tied = true;                   ///< the output layer is the token embedding
  int vocab_size = 50257;
  int pad_vocab_to = 1;  ///< rows of the embedding, rounded up; those above vocab_size stay unused

  // resnet
  int depth = 20;  ///< 6n + 2: 20, 32, 56, ...

  // resnet, vit and mlp; vit and mlp need images of exactly this size
  int image_size = 32;
  int channels = 3;
  int classes = 10;

  // vit
  int patch = 16;
  double drop_path = 0;  ///< of the last layer; grows linearly from 0 at the first

  // mlp
  std::vector<int> hidden = {256, 128};

  // all
  double label_smoothing = 0;  ///< of the loss in training mode
};

/// Throws Error(invalid_argument) with the field, its bound and its value.
void validate(const ModelOptions& options);

/// vocab_size rounded up to a multiple of pad_vocab_to.
std::int64_t padded_vocab(const ModelOptions& options);

}  // namespace bcos::lab::models
