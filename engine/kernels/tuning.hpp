#pragma once

#include <cstddef>

namespace bcos::kernels {

/// What is faster on one processor than on another; results do not depend on it.
struct Tuning {
  std::size_t ahead;       ///< bytes between what a step works on and what it asks memory for
  std::size_t rows_ahead;  ///< the same in rows, which are read by more streams
  bool predicts_ways;      ///< addresses that agree in their low 28 bits evict each other
};

/// Of the processor at hand. Not behind a function: a kernel that calls one has no vector registers
/// left across the call.
extern const Tuning* current_tuning;
inline const Tuning& tuning() { return *current_tuning; }

/// For tests: as if on another processor, until the end of a scope in which nobody else steps.
class TunedAs {
 public:
  explicit TunedAs(const Tuning& other);
  ~TunedAs();
  TunedAs(const TunedAs&) = delete;
  TunedAs& operator=(const TunedAs&) = delete;

 private:
  const Tuning* before_;
};

}  // namespace bcos::kernels
