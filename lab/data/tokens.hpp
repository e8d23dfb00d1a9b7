#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lab/data/data_file.hpp"

namespace bcos::lab::data {

/// A long list of token ids. Reading is safe from several threads at a time.
class Tokens {
 public:
  Tokens() = default;
  Tokens(const Tokens&) = delete;
  Tokens& operator=(const Tokens&) = delete;
  virtual ~Tokens();

  virtual std::uint64_t size() const = 0;
  /// The ids begin, begin + 1, ...; the caller stays within size(). Throws Error(io) when a file
  /// has changed or cannot be read.
  virtual void read(std::uint64_t begin, std::span<std::int64_t> out) const = 0;
  /// The largest id of all; 0 if there are none.
  virtual std::uint32_t largest() const = 0;
};

/// Ids in memory, in as few bytes each as the largest needs.
std::unique_ptr<Tokens> tokens_in_memory(std::vector<std::uint8_t> ids);
std::unique_ptr<Tokens> tokens_in_memory(const std::vector<std::uint32_t>& ids);

/// The ids [begin, begin + size) of others.
std::unique_ptr<Tokens> part_of(std::shared_ptr<const Tokens> all, std::uint64_t begin,
                                std::uint64_t size);

}  // namespace bcos::lab::data
