#include "engine/method/tree.hpp"

#include <toml++/toml.h>

#include <vector>

#include "engine/error.hpp"
#include "engine/strict_json.hpp"

namespace bcos {
namespace {

using nlohmann::json;

json from_node(std::string_view function, const toml::node& node);

json from_array(std::string_view function, const toml::array& array) {
  json result = json::array();
  for (const toml::node& node : array) result.push_back(from_node(function, node));
  return result;
}

json from_table(std::string_view function, const toml::table& table) {
  json result = json::object();
  for (const auto& [key, node] : table) {
    result[std::string(key.str())] = from_node(function, node);
  }
  return result;
}

json from_node(std::string_view function, const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return from_table(function, *node.as_table());
    case toml::node_type::array:
      return from_array(function, *node.as_array());
    case toml::node_type::string:
      return node.as_string()->get();
    case toml::node_type::integer: {
      const std::int64_t value = node.as_integer()->get();
      // As nlohmann reads it: unsigned where it can be.
      return value < 0 ? json(value) : json(static_cast<std::uint64_t>(value));
    }
    case toml::node_type::floating_point:
      return node.as_floating_point()->get();
    case toml::node_type::boolean:
      return node.as_boolean()->get();
    default:
      throw fail(function, "expected no dates and times but received one in line {}",
                 node.source().begin.line);
  }
}

}  // namespace

json tree_from_json(std::string_view function, std::string_view text) {
  json tree;
  try {
    tree = parse_strict(text, function, "", ErrorCode::invalid_argument);
  } catch (const json::exception& error) {
    throw fail(function, "expected JSON but received something else: {}", error.what());
  }
  if (!tree.is_object()) throw fail(function, "expected an object but received {}", shown(tree));
  return tree;
}

json tree_from_toml(std::string_view function, std::string_view text) {
  try {
    return from_table(function, toml::parse(text));
  } catch (const toml::parse_error& error) {
    throw fail(function, "expected TOML but received something else: {} (line {}, column {})",
               error.description(), error.source().begin.line, error.source().begin.column);
  }
}

std::string tree_to_toml(const nlohmann::ordered_json& tree) {
  // Names, numbers, booleans and arrays read the same in JSON and TOML; floats always come with a
  // point or an exponent.
  std::string text;
  for (const auto& [key, value] : tree.items()) {
    text += fmt::format("{} = {}\n", key, value.dump());
  }
  return text;
}

std::string shown(const json& value) {
  constexpr std::size_t most = 60;
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());  // also nan and inf
  const std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  return text.size() <= most ? text : text.substr(0, most) + "...";
}

}  // namespace bcos
