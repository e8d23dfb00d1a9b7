#include "lab/data/tokens.hpp"

#include <algorithm>
#include <utility>

#include "engine/error.hpp"

namespace bcos::lab::data {
namespace {

void check_range(std::uint64_t begin, std::uint64_t count, std::uint64_t size) {
  if (begin > size || count > size - begin) {
    throw fail(ErrorCode::internal, "tokens", "expected a part of {} tokens but received {} + {}",
               size, begin, count);
  }
}

template <class Id>
class MemoryTokens : public Tokens {
 public:
  explicit MemoryTokens(std::vector<Id> ids) : ids_(std::move(ids)) {
    if (!ids_.empty()) largest_ = *std::max_element(ids_.begin(), ids_.end());
  }

  std::uint64_t size() const override { return ids_.size(); }
  std::uint32_t largest() const override { return largest_; }
  void read(std::uint64_t begin, std::span<std::int64_t> out) const override {
    check_range(begin, out.size(), size());
    std::copy_n(ids_.data() + begin, out.size(), out.begin());
  }

 private:
  std::vector<Id> ids_;
  std::uint32_t largest_ = 0;
};

class PartOfTokens : public Tokens {
 public:
  PartOfTokens(std::shared_ptr<const Tokens> all, std::uint64_t begin, std::uint64_t size)
      : all_(std::move(all)), begin_(begin), size_(size) {
    check_range(begin, size, all_->size());
  }

  std::uint64_t size() const override { return size_; }
  /// That of the whole: finding its own would take another pass over the files.
  std::uint32_t largest() const override { return all_->largest(); }
  void read(std::uint64_t begin, std::span<std::int64_t> out) const override {
    check_range(begin, out.size(), size_);
    all_->read(begin_ + begin, out);
  }

 private:
  std::shared_ptr<const Tokens> all_;
  std::uint64_t begin_;
  std::uint64_t size_;
};

template <class Id>
std::unique_ptr<Tokens> stored_as(const std::vector<std::uint32_t>& ids) {
  return std::make_unique<MemoryTokens<Id>>(std::vector<Id>(ids.begin(), ids.end()));
}

}  // namespace

Tokens::~Tokens() = default;

std::unique_ptr<Tokens> tokens_in_memory(std::vector<std::uint8_t> ids) {
  return std::make_unique<MemoryTokens<std::uint8_t>>(std::move(ids));
}

std::unique_ptr<Tokens> tokens_in_memory(const std::vector<std::uint32_t>& ids) {
  const std::uint32_t largest = ids.empty() ? 0 : *std::max_element(ids.begin(), ids.end());
  if (largest <= UINT8_MAX) return stored_as<std::uint8_t>(ids);
  if (largest <= UINT16_MAX) return stored_as<std::uint16_t>(ids);
  return stored_as<std::uint32_t>(ids);
}

std::unique_ptr<Tokens> part_of(std::shared_ptr<const Tokens> all, std::uint64_t begin,
                                std::uint64_t size) {
  return std::make_unique<PartOfTokens>(std::move(all), begin, size);
}

}  // namespace bcos::lab::data
