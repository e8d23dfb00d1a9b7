#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Between our names of a GPT's tensors and those in files of Hugging Face's GPT2LMHeadModel.
namespace bcos::lab::models {

/// "h.0.attn.c_attn.weight" is "transformer.h.0.attn.c_attn.weight"; lm_head.weight keeps its name.
std::string to_hugging_face(std::string_view name);

/// The way back; also from names without "transformer.", as older files have them. Nothing for
/// the masks that old files carry (attn.bias, attn.masked_bias), which are no parameters. A name
/// that means nothing to us comes back as something no model has.
std::optional<std::string> from_hugging_face(std::string_view name);

/// Whether files hold this tensor (by our name) as [in, out]: their Conv1D against our Linear.
bool is_transposed(std::string_view name);

}  // namespace bcos::lab::models
