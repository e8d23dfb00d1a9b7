#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lab/data/bpe.hpp"

namespace bcos::lab::data {

/// What the ids of a language model stand for.
class Vocabulary {
 public:
  enum class Kind {
    bytes,       ///< 256 of them
    ascii,       ///< 128: bytes from 128 on are 127
    characters,  ///< the characters of a text, in order of code point
    bpe,         ///< GPT-2's
    tokens,      ///< only numbers: nothing to encode or decode
  };

  Vocabulary() = default;
  static Vocabulary bytes() { return Vocabulary(Kind::bytes, 256); }
  static Vocabulary ascii() { return Vocabulary(Kind::ascii, 128); }
  /// The characters of all the texts together. Throws Error(corrupt) if one is not UTF-8.
  static Vocabulary characters(std::span<const std::string_view> texts);
  static Vocabulary bpe(Bpe bpe);
  static Vocabulary tokens(std::uint64_t size) { return Vocabulary(Kind::tokens, size); }

  Kind kind() const { return kind_; }
  std::uint64_t size() const { return size_; }
  /// "bytes", "ascii", "chars", "bpe" or "tokens".
  std::string_view name() const;

  /// Throws Error for a character that is not in the vocabulary, with its place.
  std::vector<std::uint32_t> encode(std::string_view text) const;
  /// Throws Error for an id that is not below size().
  std::string decode(std::span<const std::int64_t> ids) const;

  /// All of it, for a checkpoint. from_json throws Error(corrupt).
  std::string to_json() const;
  static Vocabulary from_json(std::string_view json);

 private:
  Vocabulary(Kind kind, std::uint64_t size) : kind_(kind), size_(size) {}
  static Vocabulary of_points(const std::vector<char32_t>& points);

  Kind kind_ = Kind::bytes;
  std::uint64_t size_ = 256;
  std::vector<char32_t> points_;             // of characters: by id
  std::map<char32_t, std::uint32_t> id_of_;  // of characters
  std::shared_ptr<const Bpe> bpe_;
};

/// A byte as the ascii kind sees it.
constexpr std::uint8_t as_ascii(std::uint8_t byte) { return byte < 128 ? byte : std::uint8_t{127}; }

}  // namespace bcos::lab::data
