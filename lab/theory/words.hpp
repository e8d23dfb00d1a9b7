#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lab/theory/results.hpp"

/// Results in words, the same in the terminal and on the page.
namespace bcos::lab::theory {

/// An erratum to the paper that bears on a claim.
struct Erratum {
  std::string id;  ///< "E7"
  std::string text;
  bool slip = false;  ///< of the pen: nothing that is claimed changes
};
std::vector<Erratum> errata_of(const Claim& claim);

/// As at the beginning of a line.
std::string capitalised(std::string text);

std::string number_text(double value);           ///< 7.5355
std::string_view sign_of(Relation relation);     ///< "<="
std::string predicted_text(const Check& check);  ///< <= 8.0554
std::string measured_text(const Check& check);   ///< 7.5371 ± 0.002
std::string error_text(const Check& check);      ///< 0.002, "none" where nothing was sampled
std::string verdict_text(const Check& check, double errors);

/// The errata that change what is claimed: "E1, E3".
std::string corrections_text(const Result& result);

/// What came of the paper's own form, where it differs from what is claimed.
enum class Printed { none, not_checked, holds, fails };
Printed printed_of(const Result& result);

/// "holds", "FAILS"; "holds, corrected" where the printed form fails somewhere, "holds, sharper"
/// where it holds as well.
std::string verdict_text(const Result& result);
/// With the errata: "holds, corrected (E1, E3)".
std::string full_verdict_text(const Result& result);

/// "as printed: fails: ..." with the check in which it does. Empty for Printed::none.
std::string printed_text(const Result& result);

/// The check that showed a mutant to be wrong, else the one that stands for all.
const Check& witness(const Findings& findings);
/// How far a check was missed: "51.2 standard errors".
std::string miss_text(const Check& check);

}  // namespace bcos::lab::theory
