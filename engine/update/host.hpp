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
  /// What the tasks that share the long blocks of a slot tell each other; empty for other slots.
  struct Shared {
    std::vector<kernels::Sums> parts;  ///< of each chunk of each block
    std::vector<Move<T>> moves;        ///< of each block
  };

  void settle();
  bool shares_blocks(std::size_t index) const {
    return !shared_[index].moves.empty() && slots_[index].has_dense_blocks();
  }
  void round_numbers(std::span<const Item> items);
  void sum_squares(std::size_t index, std::uint64_t begin, std::uint64_t end, double scale);
  void share_long_blocks(std::span<const Item> items);
  void step_coordinates(std::size_t index, std::uint64_t begin, std::uint64_t end) const;
  void step_blocks(std::size_t index, std::uint64_t begin, std::uint64_t end);
  void ask_for_slot(std::size_t index) const;
  void ask_for_first_lines(const Slot<T>& slot) const;

  template <class Visit>
  void run(const Work& work, const Visit& visit);

  Executor executor_;
  const kernels::Kernels<T>& kernels_;
  Extents& written_;
  bool any_moved_ = false;

  // Of each slot.
  std::vector<Slot<T>> slots_;
  std::vector<Shared> shared_;
  Work steps_;
  Work norm_;
  Work long_sums_;

  std::vector<double> squares_;  ///< of each chunk of each gradient
  std::vector<Rounded<T>> rounded_;
};

}  // namespace bcos
