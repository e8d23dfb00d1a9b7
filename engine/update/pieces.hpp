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
  std::span<const Piece> pieces() const { return pieces_; }
  /// Of the tasks [first, last).
  std::span<const Piece> pieces_of(std::size_t first, std::size_t last) const {
    return std::span(pieces_).subspan(starts_[first], starts_[last] - starts_[first]);
  }

 private:
  std::vector<Piece> pieces_;
  std::vector<std::size_t> starts_ = {0};
  std::uint64_t room_ = kTaskElements;
  std::uint64_t elements_ = 0;
};

/// How many tasks that follow each other are taken as one: a few, as long as every thread has many
/// to take. Streams then start less often.
std::size_t tasks_at_once(std::size_t tasks, std::size_t threads);

/// Visits all in order. Pieces of one tensor that follow each other are one.
template <class Visit>
void for_each_joined(std::span<const Piece> pieces, const Visit& visit) {
  for (std::size_t i = 0; i < pieces.size();) {
    Piece joined = pieces[i];
    for (++i; i < pieces.size(); ++i) {
      if (pieces[i].tensor != joined.tensor || pieces[i].begin != joined.end) break;
      joined.end = pieces[i].end;
    }
    visit(joined);
  }
}

}  // namespace bcos
