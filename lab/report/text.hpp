#pragma once

#include <string>

#include "lab/report/summary.hpp"

namespace bcos::lab::report {

/// A comparison for the terminal: a line a method and learning rate, the best learning rate of a
/// method marked with a star.
std::string comparison_text(const Comparison& comparison);

}  // namespace bcos::lab::report
