#pragma once

#include <string>

namespace bcos::lab {

class Model;

/// GPT-2 weights as Hugging Face's GPT2LMHeadModel stores them in a safetensors file. The model is
/// a GPT with learned positions and biases, else Error(invalid_argument).
///
/// Loading takes F64, F32, F16 and BF16. A tensor that is missing, too many, or of another shape or
/// type is Error(mismatch) with its name, and the model stays as it was. A file without
/// lm_head.weight means the token embedding; a tied model accepts one that is equal to it.
void load_gpt2(Model& model, const std::string& path);

/// Throws Error(io) with the old file left in place.
void save_gpt2(const Model& model, const std::string& path);

}  // namespace bcos::lab
