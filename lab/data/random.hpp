#pragma once

#include <array>
#include <cstdint>

namespace bcos::lab::data {

/// What random numbers are drawn for; a part of the stream, so that uses never share numbers.
enum class Draw : std::uint64_t { token_rows = 1, augmentation = 2, epoch_order = 3, mixing = 4 };

/// The stream of one part (of gradient accumulation) of one step: another for every triple.
/// Throws Error for a step of 2^44 or more or a part of 2^16 or more.
std::uint64_t stream_of(Draw draw, std::uint64_t step, std::uint64_t part = 0);

/// Random numbers as a function of (seed, stream, counter) alone: nothing to save in a checkpoint,
/// and the same on every machine. Every call of next() moves the counter by one.
class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t stream, std::uint64_t counter = 0);

  std::uint64_t next();
  /// Every value of [0, n) equally often; n >= 1. May take more than one next().
  std::uint64_t below(std::uint64_t n);
  /// [0, 1), in steps of 2^-53.
  double uniform();

 private:
  std::uint64_t seed_;
  std::uint64_t stream_;
  std::uint64_t counter_;
  std::array<std::uint64_t, 2> block_{};
  bool block_is_current_ = false;
};

/// Where i goes in a shuffle of [0, n) that `key` chooses: a bijection, computed without memory.
/// Throws Error unless i < n <= 2^62.
std::uint64_t permuted(std::uint64_t i, std::uint64_t n, std::uint64_t key);

}  // namespace bcos::lab::data
