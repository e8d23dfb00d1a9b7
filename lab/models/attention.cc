#include "lab/models/attention.hpp"

#include <torch/types.h>

namespace bcos::lab::models {

Rotary::Rotary(std::int64_t context, std::int64_t size) {
  const auto f64 = torch::dtype(torch::kDouble);
  const torch::Tensor exponents =
      torch::arange(size / 2, f64).mul(-2.0 / static_cast<double>(size));
  angles_ = torch::outer(torch::arange(context, f64), torch::pow(10000.0, exponents));
}

Rotary::Turn Rotary::turn(std::int64_t length, const torch::Tensor& like,
                          std::int64_t first) const {
  const torch::Tensor angles = angles_.narrow(0, first, length);
  return {angles.cos().to(like.options()), angles.sin().to(like.options())};
}

torch::Tensor rotated(const torch::Tensor& x, const Rotary::Turn& turn) {
  const std::vector<torch::Tensor> half = x.chunk(2, -1);
  return torch::cat(
      {half[0] * turn.cos - half[1] * turn.sin, half[1] * turn.cos + half[0] * turn.sin}, -1);
}

torch::Tensor attend(const torch::Tensor& qkv, const AttentionOptions& options) {
  const std::int64_t batch = qkv.size(0);
  const std::int64_t length = qkv.size(1);
  const std::int64_t width = qkv.size(2) / 3;
  const std::vector<torch::Tensor> parts = qkv.split(width, -1);
  const auto by_head = [&](const torch::Tensor& part) {
    return part.view({batch, length, options.heads, width / options.heads}).transpose(1, 2);
  };
  torch::Tensor query = by_head(parts[0]);
  torch::Tensor key = by_head(parts[1]);
  if (options.turn != nullptr) {
    query = rotated(query, *options.turn);
    key = rotated(key, *options.turn);
  }
  const torch::Tensor mixed = at::scaled_dot_product_attention(
      query, key, by_head(parts[2]), std::nullopt, options.dropout, options.causal);
  return mixed.transpose(1, 2).reshape({batch, length, width});
}

}  // namespace bcos::lab::models
