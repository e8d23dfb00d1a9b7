#include "engine/method/names.hpp"

#include <array>

#include "bcos/text.hpp"
#include "engine/error.hpp"
#include "engine/method/estimators.hpp"

namespace bcos {
namespace {

template <class E>
constexpr int kNames = 0;  // only the enumerations below have names

template <>
constexpr std::array<std::string_view, 3> kNames<Direction> = {"gradient", "momentum", "user"};
template <>
constexpr auto kNames<Estimator> = [] {
  std::array<std::string_view, std::size(kEstimators)> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kEstimators[i].name;
  return names;
}();
template <>
constexpr std::array<std::string_view, 3> kNames<StepRule> = {"sqrt", "two_est", "inv"};
template <>
constexpr std::array<std::string_view, 3> kNames<Decay> = {"none", "coupled", "decoupled"};
template <>
constexpr std::array<std::string_view, 3> kNames<Start> = {"first", "zero", "zero_corrected"};
template <>
constexpr std::array<std::string_view, 2> kNames<CoupledStart> = {"with_decay", "raw"};
template <>
constexpr std::array<std::string_view, 2> kNames<BlockGain> = {"one", "sqrt"};
template <>
constexpr std::array<std::string_view, 7> kNames<Curve> = {"constant", "cosine",  "linear", "wsd",
                                                           "step",     "inverse", "power"};
template <>
constexpr std::array<std::string_view, 3> kNames<WarmupCount> = {"from_one", "from_zero",
                                                                 "nanogpt"};
template <>
constexpr std::array<std::string_view, 3> kNames<Progress> = {"begin", "end", "span"};

template <class E>
std::string_view name_in(std::string_view type, E value) {
  const auto index = static_cast<std::size_t>(value);
  if (index >= kNames<E>.size()) {
    throw fail("name", "expected {} in [0, {}) but received {}", type, kNames<E>.size(),
               static_cast<int>(value));
  }
  return kNames<E>[index];
}

}  // namespace

template <class E>
std::span<const std::string_view> names_of() {
  return kNames<E>;
}

template std::span<const std::string_view> names_of<Direction>();
template std::span<const std::string_view> names_of<Estimator>();
template std::span<const std::string_view> names_of<StepRule>();
template std::span<const std::string_view> names_of<Decay>();
template std::span<const std::string_view> names_of<Start>();
template std::span<const std::string_view> names_of<CoupledStart>();
template std::span<const std::string_view> names_of<BlockGain>();
template std::span<const std::string_view> names_of<Curve>();
template std::span<const std::string_view> names_of<WarmupCount>();
template std::span<const std::string_view> names_of<Progress>();

std::string_view name(Direction value) { return name_in("Direction", value); }
std::string_view name(Estimator value) { return name_in("Estimator", value); }
std::string_view name(StepRule value) { return name_in("StepRule", value); }
std::string_view name(Decay value) { return name_in("Decay", value); }
std::string_view name(Start value) { return name_in("Start", value); }
std::string_view name(CoupledStart value) { return name_in("CoupledStart", value); }
std::string_view name(BlockGain value) { return name_in("BlockGain", value); }
std::string_view name(Curve value) { return name_in("Curve", value); }
std::string_view name(WarmupCount value) { return name_in("WarmupCount", value); }
std::string_view name(Progress value) { return name_in("Progress", value); }

}  // namespace bcos
