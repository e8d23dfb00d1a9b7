#include <algorithm>

#include "engine/error.hpp"
#include "lab/data/batches.hpp"
#include "lab/data/random.hpp"

namespace bcos::lab::data {
namespace {

constexpr std::string_view kWhere = "batches";
constexpr std::uint64_t kMostIds = std::uint64_t{1} << 32;

void check(const Tokens& tokens, std::uint64_t context, std::uint64_t rows) {
  if (context == 0 || rows == 0 || context > kMostIds / rows) {
    throw fail(kWhere,
               "expected context and rows from 1, together up to {} ids, but received {} "
               "and {}",
               kMostIds, context, rows);
  }
  if (tokens.size() <= context) {
    throw fail(
        ErrorCode::mismatch, kWhere,
        "expected more than {} tokens (the context) but received {}; choose a shorter context "
        "or more data",
        context, tokens.size());
  }
}

void start(TokenBatch& batch, std::uint64_t rows, std::uint64_t context) {
  batch.rows = rows;
  batch.inputs.resize(rows * context);
  batch.targets.resize(rows * context);
}

/// Reads a row once; input and target share all but their ends.
void fill_row(const Tokens& tokens, std::uint64_t begin, std::uint64_t row, std::uint64_t context,
              TokenBatch& batch) {
  const std::span inputs = std::span(batch.inputs).subspan(row * context, context);
  const std::span targets = std::span(batch.targets).subspan(row * context, context);
  tokens.read(begin + 1, targets);
  tokens.read(begin, inputs.first(1));
  std::copy_n(targets.begin(), context - 1, inputs.begin() + 1);
}

}  // namespace

TokenBatches::TokenBatches(const Tokens& tokens, std::uint64_t context, std::uint64_t rows,
                           std::uint64_t seed)
    : tokens_(tokens), context_(context), rows_(rows), seed_(seed) {
  check(tokens, context, rows);
}

void TokenBatches::fill(std::uint64_t step, std::uint64_t part, TokenBatch& batch) const {
  start(batch, rows_, context_);
  Random random(seed_, stream_of(Draw::token_rows, step, part));
  for (std::uint64_t row = 0; row < rows_; ++row) {
    fill_row(tokens_, random.below(tokens_.size() - context_), row, context_, batch);
  }
}

EvalBatches::EvalBatches(const Tokens& tokens, std::uint64_t context, std::uint64_t rows,
                         std::uint64_t batches)
    : tokens_(tokens), context_(context), rows_(rows), batches_(batches), all_(batches == 0) {
  check(tokens, context, rows);
  if (batches > kMostIds / rows) {
    throw fail(kWhere, "expected at most {} rows for evaluation but received {} x {}", kMostIds,
               batches, rows);
  }
  total_ = all_ ? (tokens.size() - 1) / context : batches * rows;
  if (all_) batches_ = (total_ + rows - 1) / rows;
}

void EvalBatches::fill(std::uint64_t i, TokenBatch& batch) const {
  if (i >= batches_) throw fail(kWhere, "expected a batch below {} but received {}", batches_, i);
  const std::uint64_t first = i * rows_;
  start(batch, std::min(rows_, total_ - first), context_);
  const std::uint64_t places = tokens_.size() - context_;
  for (std::uint64_t row = 0; row < batch.rows; ++row) {
    // Rounded down from (first + row) * places / total without a product that could overflow.
    const std::uint64_t k = first + row;
    const std::uint64_t even = places / total_ * k + places % total_ * k / total_;
    fill_row(tokens_, all_ ? k * context_ : even, row, context_, batch);
  }
}

}  // namespace bcos::lab::data
