#include <fmt/format.h>

#include <cmath>

#include "lab/cli/table.hpp"
#include "lab/theory/results.hpp"

namespace bcos::theory {
namespace {

using lab::Align;
using lab::Table;

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

std::string number(double value) { return fmt::format("{:.5g}", value); }

std::string measured(const Check& check) {
  if (check.measured.se == 0) return number(check.measured.value);
  return fmt::format("{} ± {:.1g}", number(check.measured.value), check.measured.se);
}

std::string predicted(const Check& check) {
  return fmt::format("{} {}", sign_of(check.relation), number(check.predicted));
}

std::string verdict(const Check& check, double errors) {
  if (check.form == Form::claim) return check.holds(errors) ? "holds" : "FAILS";
  const std::string_view says = check.holds(errors) ? "printed form holds" : "printed form fails";
  return fmt::format("{}{}", says, check.passes(errors) ? "" : ": NOT EXPECTED");
}

/// The check that showed a mutant to be wrong, else the one that stands for all.
const Check& witness(const Findings& findings) {
  for (const Check& check : findings.checks()) {
    if (check.form == Form::claim && check.clearly_missed()) return check;
  }
  return findings.headline();
}

std::string miss(const Check& check) {
  if (check.measured.se > 0) {
    return fmt::format("{:.3g} standard errors", check.excess() / check.measured.se);
  }
  return fmt::format("{:.3g} times the tolerance", check.excess() / check.slack);
}

}  // namespace

std::string results_table(std::span<const Result> results) {
  Table table({{"claim"},
               {"in the paper"},
               {"what"},
               {"checked"},
               {"predicted", Align::right},
               {"measured", Align::right},
               {"verdict"},
               {"checks", Align::right},
               {"s", Align::right}});
  for (const Result& result : results) {
    const Check& headline = result.findings.headline();
    table.add({result.claim->id, result.claim->name, result.claim->title, headline.what,
               predicted(headline), measured(headline), result.pass() ? "holds" : "FAILS",
               fmt::format("{}", result.findings.checks().size()),
               fmt::format("{:.1f}", result.seconds)});
  }
  return table.text();
}

std::string checks_text(const Result& result) {
  Table table({{"check"}, {"predicted", Align::right}, {"measured", Align::right}, {"verdict"}});
  const double errors = result.findings.errors();
  for (const Check& check : result.findings.checks()) {
    table.add({check.what, predicted(check), measured(check), verdict(check, errors)});
  }
  return table.text("  ");
}

std::string mutants_text(std::span<const Result> results) {
  Table table({{"claim"}, {"mutant"}, {"verdict"}, {"seen in"}, {"missed by", Align::right}});
  for (const Result& result : results) {
    for (const MutantResult& mutant : result.mutants) {
      const Check& seen = witness(mutant.findings);
      table.add({result.claim->id, mutant.what, mutant.caught ? "caught" : "SURVIVES", seen.what,
                 miss(seen)});
    }
  }
  return table.text();
}

}  // namespace bcos::theory
