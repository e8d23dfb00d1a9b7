#include "engine/update/pieces.hpp"

#include <algorithm>

namespace bcos {

void TaskList::append(std::uint32_t tensor, std::uint64_t begin, std::uint64_t end,
                      std::uint64_t unit, std::uint64_t grid) {
  elements_ += (end - begin) * unit;
  while (begin < end) {
    const std::uint64_t fitting = room_ / unit / grid * grid;
    const std::uint64_t cut = std::min(end, begin + std::max(fitting, grid));
    pieces_.push_back({tensor, begin, cut});
    const std::uint64_t used = (cut - begin) * unit;
    if (used >= room_) {
      starts_.push_back(pieces_.size());
      room_ = kTaskElements;
    } else {
      room_ -= used;
    }
    begin = cut;
  }
}

void TaskList::finish() {
  if (starts_.back() != pieces_.size()) starts_.push_back(pieces_.size());
}

std::size_t tasks_at_once(std::size_t tasks, std::size_t threads) {
  constexpr std::size_t kFew = 4;
  constexpr std::size_t kMany = 64;
  return std::clamp<std::size_t>(tasks / (kMany * threads), 1, kFew);
}

}  // namespace bcos
