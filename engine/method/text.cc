#include "bcos/text.hpp"

#include <algorithm>
#include <array>

#include "bcos/methods.hpp"
#include "engine/method/fields.hpp"
#include "engine/method/options.hpp"

namespace bcos {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::string_view kNameKey = "method";
constexpr std::string_view kLateStartKey = "init_on_first_nonzero";

struct MethodField {
  Field<Method> field;
  std::optional<double> MethodOptions::* option = nullptr;  ///< of the numbers
};

template <auto member>
constexpr MethodField axis(std::string_view key) {
  return {field<Method, member>(key)};
}

template <auto member>
constexpr MethodField number(std::string_view key, std::optional<double> MethodOptions::* option) {
  return {field<Method, member>(key), option};
}

constexpr std::array kMethodFields = {
    axis<&Method::direction>("direction"),
    axis<&Method::estimator>("estimator"),
    axis<&Method::rule>("rule"),
    axis<&Method::decay>("decay"),
    axis<&Method::start>("start"),
    axis<&Method::coupled_start>("coupled_start"),
    axis<&Method::blocks>("blocks"),
    axis<&Method::block_gain>("block_gain"),
    number<&Method::beta>("beta", &MethodOptions::beta),
    number<&Method::beta_v>("beta_v", &MethodOptions::beta_v),
    number<&Method::eps>("eps", &MethodOptions::eps),
    number<&Method::eps_root>("eps_root", &MethodOptions::eps_root),
    number<&Method::lambda>("lambda", &MethodOptions::lambda),
    number<&Method::c>("c", &MethodOptions::c),
    axis<&Method::init_on_first_nonzero>(kLateStartKey),
};

template <auto member>
constexpr Field<Schedule> part(std::string_view key) {
  return field<Schedule, member>(key);
}

constexpr std::array kScheduleFields = {
    part<&Schedule::curve>("curve"),
    part<&Schedule::alpha_max>("alpha_max"),
    part<&Schedule::alpha_min>("alpha_min"),
    part<&Schedule::warmup>("warmup"),
    part<&Schedule::total>("total"),
    part<&Schedule::decay_steps>("decay_steps"),
    part<&Schedule::p>("p"),
    part<&Schedule::factor>("factor"),
    part<&Schedule::milestones>("milestones"),
    part<&Schedule::warmup_count>("warmup_count"),
    part<&Schedule::progress>("progress"),
};

ordered_json tree_of(const Method& method) {
  validate(method);  // what is written can be read
  ordered_json tree = ordered_json::object();
  for (const auto& [field, option] : kMethodFields) {
    if (field.key == kLateStartKey && !method.init_on_first_nonzero) continue;
    tree[std::string(field.key)] = field.write(method);
  }
  return tree;
}

ordered_json tree_of(const Schedule& schedule) {
  validate(schedule);
  ordered_json tree = ordered_json::object();
  for (const auto& field : kScheduleFields) tree[std::string(field.key)] = field.write(schedule);
  return tree;
}

/// A text with all numbers is a method that was written down whole: among them are numbers that it
/// does not read.
bool is_whole(const json& tree) {
  return !tree.contains(kNameKey) && std::ranges::all_of(kMethodFields, [&](const MethodField& of) {
    return of.option == nullptr || tree.contains(of.field.key);
  });
}

/// What torch calls the numbers of its optimizers.
constexpr std::array kWordsOfTorch = {
    Alias{"lr", "; alpha is no part of a method, it is given at each step"},
    Alias{"learning_rate", "; alpha is no part of a method, it is given at each step"},
    Alias{"alpha", "; alpha is no part of a method, it is given at each step"},
    Alias{"weight_decay", "; did you mean 'lambda'?"},
    Alias{"betas", "; did you mean 'beta' and 'beta_v'?"},
    Alias{"beta1", "; did you mean 'beta'?"},
    Alias{"beta2", "; did you mean 'beta_v'?"},
    Alias{"momentum", "; did you mean 'beta'?"},
};

Method method_of(std::string_view function, const json& tree) {
  std::vector<std::string_view> known = {kNameKey};
  for (const auto& [field, option] : kMethodFields) known.push_back(field.key);
  check_keys(function, tree, known, kWordsOfTorch);

  Method method;
  std::string named;
  if (const auto found = tree.find(kNameKey); found != tree.end()) {
    decode({function, kNameKey}, *found, named);
    method = method_by_name(named);
  }
  const bool whole = is_whole(tree);
  MethodOptions options;
  for (const auto& [field, option] : kMethodFields) {
    const auto found = tree.find(field.key);
    if (found == tree.end()) continue;
    const Place place{function, field.key};
    if (option && !whole) {
      decode(place, *found, (options.*option).emplace());
    } else {
      field.read(place, *found, method);
    }
  }
  if (!whole) return resolve(function, named, std::move(method), options);
  validate(method);
  return method;
}

Schedule schedule_of(std::string_view function, const json& tree) {
  std::array<std::string_view, kScheduleFields.size()> known;
  std::ranges::transform(kScheduleFields, known.begin(), &Field<Schedule>::key);
  check_keys(function, tree, known);
  Schedule schedule;
  for (const auto& field : kScheduleFields) {
    if (const auto found = tree.find(field.key); found != tree.end()) {
      field.read({function, field.key}, *found, schedule);
    }
  }
  validate(schedule);
  return schedule;
}

}  // namespace

std::string to_json(const Method& method) { return tree_of(method).dump(); }
std::string to_toml(const Method& method) { return tree_to_toml(tree_of(method)); }

Method method_from_json(std::string_view text) {
  constexpr std::string_view function = "method_from_json";
  return method_of(function, tree_from_json(function, text));
}

Method method_from_toml(std::string_view text) {
  constexpr std::string_view function = "method_from_toml";
  return method_of(function, tree_from_toml(function, text));
}

std::string to_json(const Schedule& schedule) { return tree_of(schedule).dump(); }
std::string to_toml(const Schedule& schedule) { return tree_to_toml(tree_of(schedule)); }

Schedule schedule_from_json(std::string_view text) {
  constexpr std::string_view function = "schedule_from_json";
  return schedule_of(function, tree_from_json(function, text));
}

Schedule schedule_from_toml(std::string_view text) {
  constexpr std::string_view function = "schedule_from_toml";
  return schedule_of(function, tree_from_toml(function, text));
}

}  // namespace bcos
