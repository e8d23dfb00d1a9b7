#pragma once

#include <vector>

#include "bcos/backend.hpp"
#include "engine/update/host_blocks.hpp"
#include "engine/update/work.hpp"

namespace bcos {

/// Steps memory of the host whose working type is T.
template <class T>
class HostBackend final : public Backend {
 public:
  /// written: what all backends of a plan write.
  HostBackend(const Executor& executor, Target target, Extents& written);

  Place add(const Parameter& parameter, const Method& method, std::string_view label) override;
  void move(std::size_t slot, const Parameter& parameter) override;
  void bind(std::span<const Item> items) override;
  void squares(std::span<const Item> items, double scale, std::span<double> of_each) override;
  bool gradient_is_zero(const Item& item) override;
  void start_at_zero(const Item& item) override;
  void step(std::span<const Item> items) override;

 private:
  /// Where the long blocks of a slot have their sums and moves.
  struct LongBlocks {
    std::size_t slot;
    std::size_t first_part;
    std::size_t first_move;
  };
  static constexpr std::size_t kNone = ~std::size_t{0};
  static constexpr std::size_t kSoon = 16;

  static std::uint64_t rows_step(const Slot<T>& slot);
  void make_room_for(const Slot<T>& slot);
  void settle();
  bool has_long_blocks(const Slot<T>& slot) const;
  bool takes_long_blocks(const Slot<T>& slot) const {
    return slot.step != nullptr && slot.has_dense_blocks();
  }
  void round_numbers(std::span<const Item> items);
  void sum_squares(std::size_t index, std::uint64_t begin, std::uint64_t end, double scale);
  void find_long_moves();
  void step_coordinates(std::size_t index, std::uint64_t begin, std::uint64_t end) const;
  void step_blocks(std::size_t index, std::uint64_t begin, std::uint64_t end);
  void ask_for_slot(std::size_t index) const;
  void ask_for_first_lines(const Slot<T>& slot) const;

  template <class Visit>
  void run(const Work& work, const Visit& visit);

  Executor executor_;
  const kernels::Kernels<T>& kernels_;
  std::size_t ahead_;
  Extents& written_;
  HostBlocks<T> blocks_;
  std::vector<Slot<T>> slots_;
  std::vector<std::size_t> moved_;  ///< slots that are not in written_ since they moved

  Work steps_;
  Work norm_;
  Work long_sums_;
  std::vector<LongBlocks> long_;           ///< in the order of long_sums_
  std::vector<std::size_t> long_of_slot_;  ///< index into long_, or kNone
  std::vector<std::size_t> first_square_;  ///< of each slot's chunks
  std::vector<double> squares_;            ///< of each chunk of each gradient
  std::vector<kernels::Sums> parts_;
  std::vector<Move<T>> moves_;
  std::vector<Rounded<T>> rounded_;
};

}  // namespace bcos
