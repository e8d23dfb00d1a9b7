#pragma once

#include <torch/types.h>

#include <cstdint>

namespace bcos::lab::models {

/// Rotary positions: pair (i, i + size/2) of a head is turned by position * 10000^(-2i/size), so
/// that products of queries and keys depend on distances alone.
class Rotary {
 public:
  /// Tables for positions 0 .. context - 1 of heads of `size` numbers, in float64.
  Rotary(std::int64_t context, std::int64_t size);

  /// The tables as numbers of the kind of `like`, for length positions beginning with `first`.
  struct Turn {
    torch::Tensor cos, sin;  ///< [length, size/2]
  };
  Turn turn(std::int64_t length, const torch::Tensor& like, std::int64_t first = 0) const;

 private:
  torch::Tensor angles_;
};

/// Turns x [batch, heads, length, size].
torch::Tensor rotated(const torch::Tensor& x, const Rotary::Turn& turn);

struct AttentionOptions {
  std::int64_t heads = 1;
  bool causal = false;
  double dropout = 0;                  ///< of the weights; 0 in eval mode is the caller's to say
  const Rotary::Turn* turn = nullptr;  ///< of queries and keys
};

/// Attention of each head: from queries, keys and values side by side, [batch, length, 3 width], to
/// [batch, length, width].
torch::Tensor attend(const torch::Tensor& qkv, const AttentionOptions& options);

}  // namespace bcos::lab::models
