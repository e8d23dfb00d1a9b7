#include "lab/models/options.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "engine/error.hpp"

namespace bcos::lab::models {
namespace {

constexpr std::string_view kFunction = "model";
constexpr int kMost = 1 << 24;  ///< the product of two sizes, times bytes, is far below 2^63

void check_size(std::string_view field, int value, int least = 1) {
  if (value >= least && value <= kMost) return;
  throw fail(kFunction, "expected {} <= {} <= {} but received {} = {}", least, field, kMost, field,
             value);
}

void check_rate(std::string_view field, double value) {
  if (value >= 0 && value < 1) return;
  throw fail(kFunction, "expected 0 <= {} < 1 but received {} = {}", field, field, value);
}

void check_word(std::string_view field, std::string_view value,
                std::span<const std::string_view> known) {
  if (std::ranges::find(known, value) != known.end()) return;
  throw fail(kFunction, "expected {} to be one of {} but received '{}'", field,
             fmt::join(known, ", "), value);
}

void check_heads(const ModelOptions& options) {
  check_size("layers", options.layers);
  check_size("width", options.width);
  check_size("heads", options.heads);
  check_rate("dropout", options.dropout);
  if (options.width % options.heads != 0) {
    throw fail(kFunction, "expected heads to divide width = {} but received heads = {}",
               options.width, options.heads);
  }
}

void check_gpt(const ModelOptions& options) {
  constexpr std::array<std::string_view, 2> positions = {"learned", "rotary"};
  constexpr std::array<std::string_view, 2> activations = {"gelu", "relu"};
  check_heads(options);
  check_size("context", options.context);
  check_size("vocab_size", options.vocab_size);
  check_size("pad_vocab_to", options.pad_vocab_to);
  check_word("positions", options.positions, positions);
  check_word("activation", options.activation, activations);
  if (options.positions == "rotary" && options.width / options.heads % 2 != 0) {
    throw fail(kFunction,
               "expected an even width / heads for rotary positions but received {} / {} = {}",
               options.width, options.heads, options.width / options.heads);
  }
}

void check_images(const ModelOptions& options, int least_size) {
  check_size("image_size", options.image_size, least_size);
  check_size("channels", options.channels);
  check_size("classes", options.classes, 2);
}

void check_resnet(const ModelOptions& options) {
  check_size("depth", options.depth, 8);
  if (options.depth % 6 != 2) {
    throw fail(kFunction, "expected depth = 6n + 2 (20, 32, 56, ...) but received depth = {}",
               options.depth);
  }
  check_images(options, 4);  // halved twice
}

void check_vit(const ModelOptions& options) {
  check_heads(options);
  check_images(options, 1);
  check_size("patch", options.patch);
  check_rate("drop_path", options.drop_path);
  if (options.image_size % options.patch != 0) {
    throw fail(kFunction,
               "expected image_size to be a multiple of patch = {} but received image_size = {}",
               options.patch, options.image_size);
  }
}

void check_mlp(const ModelOptions& options) {
  check_images(options, 1);
  for (std::size_t i = 0; i < options.hidden.size(); ++i) {
    check_size(fmt::format("hidden[{}]", i), options.hidden[i]);
  }
}

}  // namespace

void validate(const ModelOptions& options) {
  constexpr std::array<std::string_view, 4> kinds = {"gpt", "resnet", "vit", "mlp"};
  check_word("kind", options.kind, kinds);
  check_rate("label_smoothing", options.label_smoothing);
  if (options.kind == "gpt") check_gpt(options);
  if (options.kind == "resnet") check_resnet(options);
  if (options.kind == "vit") check_vit(options);
  if (options.kind == "mlp") check_mlp(options);
}

std::int64_t padded_vocab(const ModelOptions& options) {
  const std::int64_t step = options.pad_vocab_to;
  return (options.vocab_size + step - 1) / step * step;
}

}  // namespace bcos::lab::models
