#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bcos/version.h"
#include "lab/theory/results.hpp"

namespace bcos::lab::theory {
namespace {

using nlohmann::ordered_json;

ordered_json number(double value) {
  return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr);
}

std::string_view name(Form form) {
  switch (form) {
    case Form::printed:
      return "printed";
    case Form::quoted:
      return "quoted";
    default:
      return "claim";
  }
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
          {"form", name(check.form)},
          {"relation", name(check.relation)},
          {"predicted", number(check.predicted)},
          {"measured", number(check.measured.value)},
          {"standard_error", number(check.measured.se)},
          {"slack", number(check.slack)},
          {"worst_of", check.among},
          {"holds", check.holds(errors)},
          {"expected_to_hold", check.expected_to_hold}};
}

ordered_json checks_json(const Findings& findings) {
  ordered_json checks = ordered_json::array();
  for (const Check& check : findings.checks())
    checks.push_back(check_json(check, findings.errors()));
  return checks;
}

ordered_json numbers_json(const std::vector<double>& values) {
  ordered_json list = ordered_json::array();
  for (const double value : values) list.push_back(number(value));
  return list;
}

std::string_view name(lab::plot::Figure::Mark mark) {
  using Mark = lab::plot::Figure::Mark;
  switch (mark) {
    case Mark::dashed:
      return "dashed";
    case Mark::points:
      return "points";
    case Mark::band:
      return "band";
    case Mark::arrows:
      return "arrows";
    default:
      return "line";
  }
}

ordered_json axis_json(const lab::plot::Figure::Axis& axis) {
  const bool log = axis.scale == lab::plot::Figure::Scale::log;
  return {{"label", axis.label}, {"scale", log ? "log" : "linear"}};
}

ordered_json figure_json(const lab::plot::Figure& figure, const std::string& file) {
  ordered_json series = ordered_json::array();
  for (const auto& one : figure.series) {
    ordered_json object = {{"label", one.label},
                           {"mark", name(one.mark)},
                           {"x", numbers_json(one.x)},
                           {"y", numbers_json(one.y)}};
    if (!one.y2.empty()) object["y2"] = numbers_json(one.y2);
    if (!one.dx.empty()) object["dx"] = numbers_json(one.dx);
    if (!one.dy.empty()) object["dy"] = numbers_json(one.dy);
    series.push_back(std::move(object));
  }
  return {{"file", file},
          {"title", figure.title},
          {"caption", figure.caption},
          {"x", axis_json(figure.x)},
          {"y", axis_json(figure.y)},
          {"series", std::move(series)}};
}

ordered_json figures_json(const Result& result) {
  ordered_json list = ordered_json::array();
  for (const lab::plot::Figure& figure : result.findings.figures()) {
    list.push_back(figure_json(figure, figure_file(*result.claim, list.size())));
  }
  return list;
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
          {"broken_by", broken_by(result)},
          {"figures", figures_json(result)},
          {"seconds", result.seconds}};
}

}  // namespace

std::string figure_file(const Claim& claim, std::size_t index) {
  return fmt::format("figures/t{:0>2}-{}.svg", std::string_view(claim.id).substr(1), index + 1);
}

ordered_json to_json(std::span<const Result> results, const RunOptions& options) {
  ordered_json list = ordered_json::array();
  for (const Result& result : results) list.push_back(result_json(result));
  return {{"format", "bcos theory 1"},
          {"version", BCOS_VERSION_STRING},
          {"form", options.full ? "full" : "quick"},
          {"claims", std::move(list)}};
}

}  // namespace bcos::lab::theory
