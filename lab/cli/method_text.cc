#include "lab/cli/method_text.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "bcos/methods.hpp"
#include "bcos/text.hpp"
#include "lab/cli/files.hpp"

namespace bcos::lab::cli {
namespace {

using nlohmann::ordered_json;

std::string_view direction_of(Direction direction) {
  switch (direction) {
    case Direction::gradient:
      return "d = g";
    case Direction::momentum:
      return "m' = beta m + (1-beta) g, d = m'";
    case Direction::user:
      return "d = what the caller gives";
  }
  return "";
}

std::string_view estimate_of(Estimator estimator) {
  switch (estimator) {
    case Estimator::instant:
      return "v = |d|^2";
    case Estimator::constant:
      return "v = c";
    case Estimator::ema_d:
      return "v' = beta_v v + (1-beta_v) |d|^2";
    case Estimator::ema_g:
      return "v' = beta_v v + (1-beta_v) |g|^2";
    case Estimator::cond_full:
      return "v = beta^2 |m|^2 + 2 beta (1-beta) <m, m'> + (1-beta)^2 |g|^2";
    case Estimator::cond_simple:
      return "v = (1-(1-beta)^2) |m|^2 + (1-beta)^2 |g|^2";
    case Estimator::cond_free:
      return "v = beta_v |m|^2 + (1-beta_v) |g|^2";
    case Estimator::oracle:
      return "v = E|d|^2 from the caller";
  }
  return "";
}

/// gamma d, with the stabilisers that are not zero.
std::string step_of(const Method& method) {
  const std::string v = state_kinds(method).v ? "v'" : "v";
  const std::string inside = method.eps_root == 0 ? v : v + " + eps_root";
  const std::string alpha =
      method.block_gain == BlockGain::sqrt ? "alpha sqrt(block size)" : "alpha";
  switch (method.rule) {
    case StepRule::sqrt:
      return method.eps == 0 ? fmt::format("{} d / sqrt({})", alpha, inside)
                             : fmt::format("{} d / (sqrt({}) + eps)", alpha, inside);
    case StepRule::two_est:
      return fmt::format("{} |u'| d / ({}) with u' = beta u + (1-beta) d", alpha, inside);
    case StepRule::inv:
      return fmt::format("{} d / ({})", alpha, inside);
  }
  return "";
}

std::string shown(const std::string& key, const ordered_json& value) {
  if (key == "blocks" && value.is_array()) return fmt::format("blocks {} lists", value.size());
  return fmt::format("{} {}", key, value.is_string() ? value.get<std::string>() : value.dump());
}

std::vector<std::string> differences(const ordered_json& from, const ordered_json& to) {
  std::vector<std::string> list;
  for (const auto& [key, value] : to.items()) {
    if (!from.contains(key) || from.at(key) != value) list.push_back(shown(key, value));
  }
  return list;
}

}  // namespace

Method method_given(const std::string& text) {
  if (text.starts_with('{')) return method_from_json(text);
  if (!text.starts_with('@')) return method_by_name(text);
  const std::string path = text.substr(1);
  const std::string content = read_text(path);
  return path.ends_with(".toml") ? method_from_toml(content) : method_from_json(content);
}

std::string formula_of(const Method& method) {
  std::string text;
  if (method.decay == Decay::coupled) text += "g = gradient + lambda x, ";
  text += fmt::format("{}, {}, ", direction_of(method.direction), estimate_of(method.estimator));
  const std::string_view x = method.decay == Decay::decoupled ? "(1 - alpha lambda) x" : "x";
  text += fmt::format("x' = {} - {}", x, step_of(method));
  const StateKinds kinds = state_kinds(method);
  if (method.start == Start::zero_corrected && (kinds.m || kinds.v || kinds.u)) {
    text += " (m and v corrected for their start at zero)";
  }
  return text;
}

std::string summary_of(const Method& method) {
  if (std::string name = name_of(method); !name.empty()) return name;
  const ordered_json given = ordered_json::parse(to_json(method));
  std::string best;
  std::vector<std::string> fewest;
  for (const NamedMethod& named : named_methods()) {
    auto list = differences(ordered_json::parse(to_json(*named.method)), given);
    if (!best.empty() && list.size() >= fewest.size()) continue;
    best = named.id;
    fewest = std::move(list);
  }
  for (const std::string& difference : fewest) best += ", " + difference;
  return best;
}

int state_bytes(const Method& method) {
  const StateKinds kinds = state_kinds(method);
  return 4 * (int{kinds.m} + int{kinds.v} + int{kinds.u});
}

}  // namespace bcos::lab::cli
