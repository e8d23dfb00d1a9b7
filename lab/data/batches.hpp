#pragma once

#include <cstdint>
#include <vector>

#include "lab/data/augment.hpp"
#include "lab/data/images.hpp"
#include "lab/data/tokens.hpp"

/// What the training loop asks for. The order of examples is a function of seed and step alone, so
/// a run that is resumed goes on as if it had never stopped. All of these refer to the data they
/// are given, and may be used from several threads at a time.
namespace bcos::lab::data {

/// rows x context ids, row after row; targets are the ids one place further on.
struct TokenBatch {
  std::uint64_t rows = 0;
  std::vector<std::int64_t> inputs;
  std::vector<std::int64_t> targets;
};

/// Rows from random places.
class TokenBatches {
 public:
  /// Throws Error unless there are more than `context` tokens.
  TokenBatches(const Tokens& tokens, std::uint64_t context, std::uint64_t rows, std::uint64_t seed);

  /// `part` tells the batches of one step apart: accumulation, ranks.
  void fill(std::uint64_t step, std::uint64_t part, TokenBatch& batch) const;

 private:
  const Tokens& tokens_;
  std::uint64_t context_;
  std::uint64_t rows_;
  std::uint64_t seed_;
};

/// Rows at even distances over all tokens, the same in every run.
class EvalBatches {
 public:
  /// With batches = 0: all tokens once, in rows without overlap; the last batch may have fewer
  /// rows.
  EvalBatches(const Tokens& tokens, std::uint64_t context, std::uint64_t rows,
              std::uint64_t batches);

  std::uint64_t size() const { return batches_; }
  void fill(std::uint64_t i, TokenBatch& batch) const;

 private:
  const Tokens& tokens_;
  std::uint64_t context_;
  std::uint64_t rows_;
  std::uint64_t batches_;
  std::uint64_t total_;  ///< rows of all batches
  bool all_;
};

/// N x C x H x W values, (pixel / 255 - mean) / std.
struct ImageBatch {
  std::uint64_t rows = 0;
  std::vector<float> images;
  std::vector<std::int64_t> labels;
  double share = 1;  ///< of a row's own label; the rest is of the row as far from the end
};

/// Every image once an epoch, in an order of its own for each; batches go on over the end of one.
class ImageBatches {
 public:
  /// A step has `parts` batches (accumulation x ranks).
  ImageBatches(const Images& images, std::uint64_t rows, std::uint64_t seed, Augment augment,
               ChannelNumbers mean, ChannelNumbers std, std::uint64_t parts = 1);

  void fill(std::uint64_t step, std::uint64_t part, ImageBatch& batch) const;
  /// The image that is number `index` of the whole run.
  std::uint64_t image_at(std::uint64_t index) const;

 private:
  const Images& images_;
  std::uint64_t rows_;
  std::uint64_t seed_;
  Augment augment_;
  ChannelNumbers mean_;
  ChannelNumbers std_;
  std::uint64_t parts_;
};

/// The images in their own order and as they are; all of them, or the first batches.
class ImageEvalBatches {
 public:
  ImageEvalBatches(const Images& images, std::uint64_t rows, ChannelNumbers mean,
                   ChannelNumbers std, std::uint64_t batches = 0);

  std::uint64_t size() const { return batches_; }
  /// The last batch of all may have fewer rows.
  void fill(std::uint64_t i, ImageBatch& batch) const;

 private:
  const Images& images_;
  std::uint64_t rows_;
  ChannelNumbers mean_;
  ChannelNumbers std_;
  std::uint64_t batches_;
};

}  // namespace bcos::lab::data
