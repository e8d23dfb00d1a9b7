#include <cmath>

#include "lab/theory/results.hpp"

namespace bcos::theory {
namespace {

using nlohmann::ordered_json;

ordered_json number(double value) {
  return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr);
}

std::string_view name(Relation relation) {
  switch (relation) {
    case Relation::at_most:
      return "at_most";
    case Relation::at_least:
      return "at_least";
    default:
      return "equal";
  }
}

ordered_json check_json(const Check& check, double errors) {
  return {{"what", check.what},
          {"form", check.form == Form::claim ? "claim" : "printed"},
          {"relation", name(check.relation)},
          {"predicted", number(check.predicted)},
          {"measured", number(check.measured.value)},
          {"standard_error", number(check.measured.se)},
          {"slack", number(check.slack)},
          {"holds", check.holds(errors)},
          {"expected_to_hold", check.expected_to_hold}};
}

ordered_json checks_json(const Findings& findings) {
  ordered_json checks = ordered_json::array();
  for (const Check& check : findings.checks())
    checks.push_back(check_json(check, findings.errors()));
  return checks;
}

ordered_json result_json(const Result& result) {
  const Claim& claim = *result.claim;
  ordered_json numbers = ordered_json::object();
  for (const auto& [name, value] : result.findings.numbers()) {
    numbers[name] = {{"value", number(value.value)}, {"standard_error", number(value.se)}};
  }
  ordered_json mutants = ordered_json::array();
  for (const MutantResult& mutant : result.mutants) {
    mutants.push_back({{"what", mutant.what},
                       {"caught", mutant.caught},
                       {"checks", checks_json(mutant.findings)}});
  }
  return {{"id", claim.id},
          {"name", claim.name},
          {"title", claim.title},
          {"statement", claim.statement},
          {"errata", claim.errata},
          {"pass", result.pass()},
          {"allowed_standard_errors", result.findings.errors()},
          {"checks", checks_json(result.findings)},
          {"numbers", std::move(numbers)},
          {"mutants", std::move(mutants)},
          {"seconds", result.seconds}};
}

}  // namespace

ordered_json to_json(std::span<const Result> results, const RunOptions& options) {
  ordered_json list = ordered_json::array();
  for (const Result& result : results) list.push_back(result_json(result));
  return {{"format", "bcos theory 1"},
          {"form", options.full ? "full" : "quick"},
          {"claims", std::move(list)}};
}

}  // namespace bcos::theory
