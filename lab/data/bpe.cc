#include "lab/data/bpe.hpp"

#include <functional>
#include <queue>
#include <utility>

#include "engine/error.hpp"
#include "lab/data/bpe_words.hpp"
#include "lab/data/unicode.hpp"

namespace bcos::lab::data {
namespace {

constexpr std::string_view kWhere = "bpe";
constexpr std::uint32_t kNone = UINT32_MAX;
constexpr std::size_t kMostCachedWords = std::size_t{1} << 20;
constexpr std::size_t kLongestCachedWord = 64;

constexpr std::uint64_t key_of(std::uint32_t left, std::uint32_t right) {
  return std::uint64_t{left} << 32 | right;
}

struct Hash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
};
template <class Value>
using ByText = std::unordered_map<std::string, Value, Hash, std::equal_to<>>;

}  // namespace

Bpe::Bpe(std::vector<std::string> pieces, std::vector<Merge> merges)
    : pieces_(std::move(pieces)), merges_(std::move(merges)) {
  if (pieces_.size() >= kNone) {
    throw fail(ErrorCode::corrupt, kWhere, "expected fewer pieces but received {}", pieces_.size());
  }
  byte_ids_.fill(kNone);
  ByText<std::uint32_t> id_of;
  std::vector<bool> reachable(pieces_.size());
  for (std::uint32_t id = 0; id < pieces_.size(); ++id) {
    const std::string& piece = pieces_[id];
    if (piece.empty() || !id_of.emplace(piece, id).second) {
      throw fail(ErrorCode::corrupt, kWhere,
                 "expected another piece for every id but received {} "
                 "for id {}",
                 piece.empty() ? "an empty one" : "'" + printable(piece) + "' again", id);
    }
    if (piece.size() == 1) {
      byte_ids_[static_cast<unsigned char>(piece[0])] = id;
      reachable[id] = true;
    }
  }
  for (std::size_t byte = 0; byte < byte_ids_.size(); ++byte) {
    if (byte_ids_[byte] == kNone) {
      throw fail(ErrorCode::corrupt, kWhere,
                 "expected a piece for each of the 256 bytes but "
                 "received none for 0x{:02x}",
                 byte);
    }
  }
  joins_.reserve(merges_.size());
  for (std::uint32_t rank = 0; rank < merges_.size(); ++rank) {
    const auto [left, right] = merges_[rank];
    if (left >= pieces_.size() || right >= pieces_.size() || !reachable[left] ||
        !reachable[right]) {
      throw fail(ErrorCode::corrupt, kWhere,
                 "expected merge {} to join bytes or results of earlier merges", rank + 1);
    }
    const auto result = id_of.find(pieces_[left] + pieces_[right]);
    if (result == id_of.end()) {
      throw fail(ErrorCode::corrupt, kWhere, "expected an id for '{}', the result of merge {}",
                 printable(pieces_[left] + pieces_[right]), rank + 1);
    }
    if (!joins_.emplace(key_of(left, right), Join{rank, result->second}).second) {
      throw fail(ErrorCode::corrupt, kWhere, "expected every merge once but received '{} {}' again",
                 printable(pieces_[left]), printable(pieces_[right]));
    }
    reachable[result->second] = true;
  }
}

const Bpe::Join* Bpe::join_of(std::uint32_t left, std::uint32_t right) const {
  const auto found = joins_.find(key_of(left, right));
  return found == joins_.end() ? nullptr : &found->second;
}

// A list of symbols and a queue of its neighbours that can be joined: n log n for a word of any
// length. A join's result only takes part in later merges, so the queue makes them in order.
std::vector<std::uint32_t> Bpe::merged(std::string_view word) const {
  struct Symbol {
    std::uint32_t id;
    std::size_t before;
    std::size_t after;
  };
  struct Candidate {
    std::uint32_t rank;
    std::size_t at;
    std::uint32_t left;
    std::uint32_t right;
    std::uint32_t result;
    bool operator>(const Candidate& other) const {
      return std::pair(rank, at) > std::pair(other.rank, other.at);
    }
  };
  const std::size_t end = word.size();
  std::vector<Symbol> symbols(end);
  for (std::size_t i = 0; i < end; ++i) {
    symbols[i] = {byte_ids_[static_cast<unsigned char>(word[i])], i - 1, i + 1};
  }
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  const auto consider = [&](std::size_t at) {
    if (at >= end || symbols[at].after >= end) return;
    const std::uint32_t left = symbols[at].id;
    const std::uint32_t right = symbols[symbols[at].after].id;
    if (const Join* join = join_of(left, right)) {
      queue.push({join->rank, at, left, right, join->result});
    }
  };
  for (std::size_t i = 0; i < end; ++i) consider(i);
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    Symbol& left = symbols[best.at];
    // The symbols may have been joined with others since.
    if (left.id != best.left || left.after >= end || symbols[left.after].id != best.right) continue;
    Symbol& right = symbols[left.after];
    left.id = best.result;
    left.after = right.after;
    right.id = kNone;
    if (left.after < end) symbols[left.after].before = best.at;
    consider(best.at);
    consider(left.before);
  }
  std::vector<std::uint32_t> ids;
  for (std::size_t at = 0; at < end; at = symbols[at].after) ids.push_back(symbols[at].id);
  return ids;
}

std::vector<std::uint32_t> Bpe::encode(std::string_view text) const {
  check_utf8(text, "the text");
  ByText<std::vector<std::uint32_t>> cache;
  std::vector<std::uint32_t> ids;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view word = text.substr(at, word_length(text, at));
    at += word.size();
    auto known = cache.find(word);
    if (known == cache.end()) {
      std::vector<std::uint32_t> found = merged(word);
      if (word.size() > kLongestCachedWord || cache.size() >= kMostCachedWords) {
        ids.insert(ids.end(), found.begin(), found.end());
        continue;
      }
      known = cache.emplace(word, std::move(found)).first;
    }
    ids.insert(ids.end(), known->second.begin(), known->second.end());
  }
  return ids;
}

std::string Bpe::decode(std::span<const std::int64_t> ids) const {
  std::string text;
  for (const std::int64_t id : ids) {
    if (id < 0 || static_cast<std::uint64_t>(id) >= size()) {
      throw fail(kWhere, "expected ids in [0, {}) but received {}", size(), id);
    }
    text += pieces_[static_cast<std::size_t>(id)];
  }
  return text;
}

}  // namespace bcos::lab::data
