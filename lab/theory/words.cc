#include "lab/theory/words.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <cstdlib>

namespace bcos::lab::theory {
namespace {

/// Errata from this number on are slips of the pen.
constexpr int kFirstSlip = 18;

}  // namespace

std::vector<Erratum> errata_of(const Claim& claim) {
  std::vector<Erratum> errata;
  for (const std::string& whole : claim.errata) {
    const std::size_t colon = whole.find(": ");
    if (colon == std::string::npos || !whole.starts_with('E')) {
      errata.push_back({"", whole, true});
      continue;
    }
    const bool slip = std::atoi(whole.c_str() + 1) >= kFirstSlip;
    errata.push_back({whole.substr(0, colon), whole.substr(colon + 2), slip});
  }
  return errata;
}

std::string capitalised(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

std::string number_text(double value) {
  return std::isnan(value) ? "nan" : fmt::format("{:.5g}", value);
}

std::string_view sign_of(Relation relation) {
  switch (relation) {
    case Relation::at_most:
      return "<=";
    case Relation::at_least:
      return ">=";
    default:
      return "=";
  }
}

std::string predicted_text(const Check& check) {
  return fmt::format("{} {}", sign_of(check.relation), number_text(check.predicted));
}

std::string measured_text(const Check& check) {
  if (check.measured.se == 0) return number_text(check.measured.value);
  return fmt::format("{} ± {:.1g}", number_text(check.measured.value), check.measured.se);
}

std::string error_text(const Check& check) {
  return check.measured.se == 0 ? "none" : fmt::format("{:.1g}", check.measured.se);
}

std::string verdict_text(const Check& check, double errors) {
  if (check.form != Form::printed) return check.holds(errors) ? "holds" : "FAILS";
  const std::string_view says = check.holds(errors) ? "printed form holds" : "printed form fails";
  return fmt::format("{}{}", says, check.passes(errors) ? "" : ": NOT EXPECTED");
}

std::string corrections_text(const Result& result) {
  std::string ids;
  for (const Erratum& erratum : errata_of(*result.claim)) {
    if (!erratum.slip) ids += (ids.empty() ? "" : ", ") + erratum.id;
  }
  return ids;
}

Printed printed_of(const Result& result) {
  const double errors = result.findings.errors();
  Printed what = corrections_text(result).empty() ? Printed::none : Printed::not_checked;
  for (const Check& check : result.findings.checks()) {
    if (check.form != Form::printed) continue;
    if (!check.holds(errors)) return Printed::fails;
    what = Printed::holds;
  }
  return what;
}

std::string verdict_text(const Result& result) {
  if (!result.findings.pass()) return "FAILS";
  if (!result.pass()) return "MUTANT SURVIVES";
  switch (printed_of(result)) {
    case Printed::fails:
      return "holds, corrected";
    case Printed::holds:
      return "holds, sharper";
    default:
      return "holds";
  }
}

std::string full_verdict_text(const Result& result) {
  const std::string ids = corrections_text(result);
  return ids.empty() ? verdict_text(result) : fmt::format("{} ({})", verdict_text(result), ids);
}

std::string printed_text(const Result& result) {
  const double errors = result.findings.errors();
  const Check* first = nullptr;
  std::size_t count = 0;
  std::size_t failing = 0;
  bool expected = true;
  for (const Check& check : result.findings.checks()) {
    if (check.form != Form::printed) continue;
    ++count;
    expected = expected && check.passes(errors);
    if (check.holds(errors)) continue;
    ++failing;
    if (first == nullptr) first = &check;
  }
  const std::string_view end = expected ? "" : "; NOT EXPECTED";
  switch (printed_of(result)) {
    case Printed::none:
      return "";
    case Printed::not_checked:
      return "as printed: not checked";
    case Printed::holds:
      return fmt::format("as printed: holds too{}", end);
    default:
      return fmt::format("as printed: fails in {} of {}: {}{}", failing, count, first->what, end);
  }
}

const Check& witness(const Findings& findings) {
  for (const Check& check : findings.checks()) {
    if (check.form == Form::claim && check.clearly_missed()) return check;
  }
  return findings.headline();
}

std::string miss_text(const Check& check) {
  if (check.measured.se > 0) {
    return fmt::format("{:.3g} standard errors", check.excess() / check.measured.se);
  }
  return fmt::format("{:.3g} times the tolerance", check.excess() / check.slack);
}

}  // namespace bcos::lab::theory
