#pragma once

#include <string>

namespace bcos::lab::models {

class Model;

/// GPT-2 weights as Hugging Face's GPT2LMHeadModel stores them in a safetensors file. The model is
/// a GPT with learned positions, else Error(invalid_argument); to load, it has biases as well.
///
/// Loading takes F64, F32, F16 and BF16. A tensor that is missing, too many, or of another shape or
/// type is Error(mismatch) with its name, and the model stays as it was. A file without
/// lm_head.weight means the token embedding; a tied model accepts one that is equal to it.
void load_gpt2(Model& model, const std::string& path);

/// A model without biases is written with biases of 0, which is the same function. Throws Error(io)
/// with the old file left in place.
void save_gpt2(const Model& model, const std::string& path);

/// The config.json that Hugging Face's transformers read beside such a file.
std::string gpt2_config(const Model& model);

}  // namespace bcos::lab::models
