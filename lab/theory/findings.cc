#include "lab/theory/findings.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bcos::lab::theory {
double Check::excess() const {
  const double difference = measured.value - predicted;
  // NaN is wrong on every side.
  if (std::isnan(difference)) return std::numeric_limits<double>::infinity();
  switch (relation) {
    case Relation::at_most:
      return std::max(0.0, difference);
    case Relation::at_least:
      return std::max(0.0, -difference);
    default:
      return std::abs(difference);
  }
}

bool Check::clearly_missed() const {
  return measured.se > 0 ? excess() - slack > 10 * measured.se : excess() > 100 * slack;
}

Check& Findings::add(std::string what, Relation relation, numbers::Estimate measured,
                     double predicted, double slack) {
  constexpr double kRounding = 1e-12;
  Check check;
  check.what = std::move(what);
  check.relation = relation;
  check.measured = measured;
  check.predicted = predicted;
  check.slack = slack < 0 ? kRounding * (1 + std::abs(predicted)) : slack;
  checks_.push_back(std::move(check));
  return checks_.back();
}

Check& Findings::equal(std::string what, numbers::Estimate measured, double predicted,
                       double slack) {
  return add(std::move(what), Relation::equal, measured, predicted, slack);
}
Check& Findings::at_most(std::string what, numbers::Estimate measured, double bound, double slack) {
  return add(std::move(what), Relation::at_most, measured, bound, slack);
}
Check& Findings::at_least(std::string what, numbers::Estimate measured, double bound,
                          double slack) {
  return add(std::move(what), Relation::at_least, measured, bound, slack);
}

void Findings::as_printed(Check& check, bool expected_to_hold) {
  check.form = Form::printed;
  check.expected_to_hold = expected_to_hold;
}

double Findings::errors() const {
  std::size_t comparisons = 0;
  for (const Check& check : checks_) comparisons += check.measured.se > 0 ? check.among : 0;
  return numbers::allowed_errors(comparisons);
}

bool Findings::pass() const {
  const double allowed = errors();
  return !checks_.empty() &&
         std::ranges::all_of(checks_, [&](const Check& check) { return check.passes(allowed); });
}

const Check& Findings::headline() const {
  const double allowed = errors();
  const auto failed =
      std::ranges::find_if(checks_, [&](const Check& check) { return !check.passes(allowed); });
  return failed == checks_.end() ? checks_.front() : *failed;
}

bool Findings::caught() const {
  return std::ranges::any_of(checks_, [](const Check& check) {
    return check.form == Form::claim && check.clearly_missed();
  });
}

}  // namespace bcos::lab::theory
