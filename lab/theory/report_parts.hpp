#pragma once

#include <span>
#include <string>

#include "lab/theory/results.hpp"
#include "lab/theory/tour.hpp"

/// Parts of the page, as HTML.
namespace bcos::lab::theory {

/// Whether all hold, how many in a corrected form, and how many mutants were caught.
std::string verdict_of(std::span<const Result> results);

/// Chapters and claims with their marks, each a link.
std::string contents_list(std::span<const Stop> tour);

/// A row a claim, in the order of the tour.
std::string summary_table(std::span<const Stop> tour);

/// The problems that are known, a row each.
std::string problems_table();

/// A claim with all that was found about it.
std::string claim_section(const Result& result);

}  // namespace bcos::lab::theory
