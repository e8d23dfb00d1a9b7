#pragma once

#include <span>
#include <string>
#include <vector>

#include "lab/theory/results.hpp"

namespace bcos::lab::theory {

/// A part of the paper: what it is about, and the claims in it by their order there.
struct Chapter {
  std::string title;
  std::string place;  ///< "Section 5.2"
  std::string about;  ///< a few sentences, formulas as they are typed
  std::vector<std::string> claims;
};

/// The paper's theory from its beginning to its end.
std::span<const Chapter> chapters();

/// A chapter and what was run of it.
struct Stop {
  const Chapter* chapter = nullptr;
  std::vector<const Result*> results = {};
};

/// The chapters of which something was run. A claim that no chapter names stands in a last one.
std::vector<Stop> tour_of(std::span<const Result> results);

}  // namespace bcos::lab::theory
