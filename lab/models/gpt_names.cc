#include "lab/models/gpt_names.hpp"

#include <algorithm>
#include <array>

namespace bcos::lab::models {
namespace {

constexpr std::string_view kPrefix = "transformer.";
constexpr std::string_view kHead = "lm_head.";

/// "attn.bias" of "h.11.attn.bias"; nothing if the name does not begin with a block.
std::string_view inside_block(std::string_view name) {
  if (!name.starts_with("h.")) return {};
  name.remove_prefix(2);
  const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  if (digits == 0 || digits == name.size() || name[digits] != '.') return {};
  return name.substr(digits + 1);
}

}  // namespace

std::string to_hugging_face(std::string_view name) {
  return name.starts_with(kHead) ? std::string(name) : std::string(kPrefix).append(name);
}

std::optional<std::string> from_hugging_face(std::string_view name) {
  const std::string_view rest =
      name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : std::string_view();
  const std::string_view ours = rest.empty() || rest.starts_with(kHead) ? name : rest;
  const std::string_view inside = inside_block(ours);
  if (inside == "attn.bias" || inside == "attn.masked_bias") return std::nullopt;
  return std::string(ours);
}

bool is_transposed(std::string_view name) {
  constexpr std::array<std::string_view, 4> linear = {"attn.c_attn.weight", "attn.c_proj.weight",
                                                      "mlp.c_fc.weight", "mlp.c_proj.weight"};
  return std::ranges::find(linear, inside_block(name)) != linear.end();
}

}  // namespace bcos::lab::models
