#pragma once

#include <string>
#include <string_view>

#include "bcos/method.hpp"
#include "bcos/schedule.hpp"

/// One textual form of methods and schedules, in JSON and in TOML: files, command line and bindings
/// read and write this and nothing else. Writing and reading gives back an equal value.
namespace bcos {

BCOS_API std::string to_json(const Method& method);
BCOS_API std::string to_toml(const Method& method);

/// Reads all keys of the form, or some of them: those to change of {"method": "bcosw_c", ...}, or
/// of Method's defaults. Throws on unknown keys (naming the nearest known one), wrong types and
/// invalid methods; and on a number that the method does not read, unless all numbers are there, as
/// in what to_json and to_toml write.
BCOS_API Method method_from_json(std::string_view text);
BCOS_API Method method_from_toml(std::string_view text);

BCOS_API std::string to_json(const Schedule& schedule);
BCOS_API std::string to_toml(const Schedule& schedule);
BCOS_API Schedule schedule_from_json(std::string_view text);
BCOS_API Schedule schedule_from_toml(std::string_view text);

/// Names of the enumerators, as written in files.
BCOS_API std::string_view name(Direction value);
BCOS_API std::string_view name(Estimator value);
BCOS_API std::string_view name(StepRule value);
BCOS_API std::string_view name(Decay value);
BCOS_API std::string_view name(Start value);
BCOS_API std::string_view name(CoupledStart value);
BCOS_API std::string_view name(BlockGain value);
BCOS_API std::string_view name(Curve value);
BCOS_API std::string_view name(WarmupCount value);
BCOS_API std::string_view name(Progress value);

}  // namespace bcos
