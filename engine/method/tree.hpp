#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

/// JSON and TOML texts as one kind of tree, so that what is read and written is said once.
namespace bcos {

/// Reads an object; keys that occur twice are refused. `function` begins the errors.
nlohmann::json tree_from_json(std::string_view function, std::string_view text);
nlohmann::json tree_from_toml(std::string_view function, std::string_view text);

/// One "key = value" a line. The tree is flat: its values are scalars or arrays of them.
std::string tree_to_toml(const nlohmann::ordered_json& tree);

/// A value as an error shows it: its JSON, cut if it is long.
std::string shown(const nlohmann::json& value);

}  // namespace bcos
