#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "bcos/step_numbers.hpp"
#include "bcos/update.hpp"

/// Who keeps and steps the memory of some kind: the engine's own backends that of the host, an
/// adapter's that of a device. A plan knows methods, numbers, limits, counters and the order of a
/// step; a backend knows memory.
namespace bcos {

/// One parameter in one step.
struct Item {
  std::size_t slot;                      ///< as add() returned it
  const Gradient* gradient;              ///< its data is null only where x has no elements
  const StepNumbers* numbers = nullptr;  ///< in step() alone; parameters may share them
};

/// What a plan needs to know of a parameter that a backend has taken.
struct Place {
  std::size_t slot;
  std::uint64_t bytes;  ///< that one step reads and writes
};

/// All functions are called by one thread at a time, those of a step in the order in which they
/// stand here, with items in the order of their slots. They throw Error, and until step() and
/// start_at_zero() change nothing when they do.
class BCOS_API Backend {
 public:
  virtual ~Backend() = default;

  /// Checks the memory of a parameter and keeps its views. `method` and `label` outlive the
  /// backend; the method's numbers may change meanwhile.
  virtual Place add(const Parameter& parameter, const Method& method, std::string_view label) = 0;
  /// The parameter of a slot has moved: the same in another place. That it lies apart from others
  /// is for the next add() or bind() to check.
  virtual void move(std::size_t slot, const Parameter& parameter) = 0;

  /// Checks the gradients of the step that begins; they stay where they are until it ends.
  virtual void bind(std::span<const Item> items) = 0;
  /// |scale g|^2 of every item, in float64; infinity and NaN only if that is what it is.
  virtual void squares(std::span<const Item> items, double scale, std::span<double> of_each) = 0;
  virtual bool gradient_is_zero(const Item& item) = 0;
  /// Sets the states of an item to zero; x stays.
  virtual void start_at_zero(const Item& item) = 0;
  virtual void step(std::span<const Item> items) = 0;
};

}  // namespace bcos
