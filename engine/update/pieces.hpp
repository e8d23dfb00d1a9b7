#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bcos {

/// A part of one tensor that one task handles: elements or blocks [begin, end).
struct Piece {
  std::uint32_t tensor;
  std::uint64_t begin;
  std::uint64_t end;
};

/// Work cut into tasks: task t has the pieces [starts[t], starts[t + 1]).
class TaskList {
 public:
  /// Elements of the concatenated list that one task handles.
  static constexpr std::uint64_t kTaskElements = 64 * 1024;

  /// Appends units [begin, end) of `unit` elements each, which may be cut every `grid` units.
  void append(std::uint32_t tensor, std::uint64_t begin, std::uint64_t end, std::uint64_t unit,
              std::uint64_t grid);
  void finish();

  std::size_t tasks() const { return starts_.empty() ? 0 : starts_.size() - 1; }
  std::uint64_t elements() const { return elements_; }
  const Piece* begin(std::size_t task) const { return pieces_.data() + starts_[task]; }
  const Piece* end(std::size_t task) const { return pieces_.data() + starts_[task + 1]; }

  /// Everything in order, for a single thread: pieces of one tensor that follow each other are one.
  template <class Visit>
  void for_each_joined(const Visit& visit) const {
    if (pieces_.empty()) return;
    Piece joined = pieces_.front();
    for (const Piece& piece : std::span(pieces_).subspan(1)) {
      if (piece.tensor == joined.tensor && piece.begin == joined.end) {
        joined.end = piece.end;
      } else {
        visit(joined);
        joined = piece;
      }
    }
    visit(joined);
  }

 private:
  std::vector<Piece> pieces_;
  std::vector<std::size_t> starts_ = {0};
  std::uint64_t room_ = kTaskElements;
  std::uint64_t elements_ = 0;
};

}  // namespace bcos
