#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lab/data/data_file.hpp"

namespace bcos::lab::data {

/// GPT-2's byte-level byte-pair encoding. Every id stands for some bytes; a word starts as bytes,
/// and the earliest merge of the list that applies is made until none does.
class Bpe {
 public:
  struct Merge {
    std::uint32_t left;
    std::uint32_t right;
    bool operator==(const Merge&) const = default;
  };

  /// `pieces[id]` is the bytes of an id. Throws Error(corrupt) unless all 256 single bytes are
  /// there, no piece is empty or there twice, and every merge joins bytes or the results of earlier
  /// merges into a piece. Other pieces (the end-of-text token) are decoded but never made from
  /// text.
  Bpe(std::vector<std::string> pieces, std::vector<Merge> merges);

  /// From encoder.json and vocab.bpe, as OpenAI published them. `files` gets the facts about both.
  static Bpe open(const std::string& folder, std::vector<FileFact>* files = nullptr);

  std::uint64_t size() const { return pieces_.size(); }
  const std::vector<std::string>& pieces() const { return pieces_; }
  const std::vector<Merge>& merges() const { return merges_; }

  /// Throws Error(corrupt) if the text is not UTF-8.
  std::vector<std::uint32_t> encode(std::string_view text) const;
  /// The bytes of the ids, one after the other. Throws Error for an id that is not below size().
  std::string decode(std::span<const std::int64_t> ids) const;

 private:
  struct Join {
    std::uint32_t rank;
    std::uint32_t result;
  };

  const Join* join_of(std::uint32_t left, std::uint32_t right) const;
  std::vector<std::uint32_t> merged(std::string_view word) const;

  std::vector<std::string> pieces_;
  std::vector<Merge> merges_;
  std::array<std::uint32_t, 256> byte_ids_{};
  std::unordered_map<std::uint64_t, Join> joins_;
};

/// GPT-2's files write bytes as printable characters: themselves where they are printable, else
/// U+0100 and on.
std::string printable(std::string_view bytes);
/// The way back. Throws Error(corrupt), naming `where`, for a character that stands for no byte.
std::string from_printable(std::string_view text, std::string_view where);

}  // namespace bcos::lab::data
