#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "bcos/blocks.hpp"
#include "bcos/text.hpp"
#include "engine/error.hpp"
#include "engine/method/names.hpp"
#include "engine/method/tree.hpp"
#include "engine/suggestion.hpp"

/// A struct as a list of fields: one table for reading and writing, JSON and TOML.
namespace bcos {

/// Where a value stands, for errors.
struct Place {
  std::string_view function;
  std::string_view key;
};

inline nlohmann::ordered_json encode(double value) { return value; }
inline nlohmann::ordered_json encode(bool value) { return value; }
inline nlohmann::ordered_json encode(std::uint64_t value) { return value; }
inline nlohmann::ordered_json encode(const std::vector<std::uint64_t>& value) { return value; }
nlohmann::ordered_json encode(const Blocks& blocks);
template <class E>
  requires std::is_enum_v<E>
nlohmann::ordered_json encode(E value) {
  return name(value);
}

void decode(const Place& place, const nlohmann::json& value, double& out);
void decode(const Place& place, const nlohmann::json& value, bool& out);
void decode(const Place& place, const nlohmann::json& value, std::uint64_t& out);
void decode(const Place& place, const nlohmann::json& value, std::vector<std::uint64_t>& out);
void decode(const Place& place, const nlohmann::json& value, Blocks& out);
void decode(const Place& place, const nlohmann::json& value, std::string& out);

/// Index of the name that `value` is.
std::size_t decode_name(const Place& place, const nlohmann::json& value,
                        std::span<const std::string_view> names);
template <class E>
  requires std::is_enum_v<E>
void decode(const Place& place, const nlohmann::json& value, E& out) {
  out = static_cast<E>(decode_name(place, value, names_of<E>()));
}

template <class T>
struct Field {
  std::string_view key;
  nlohmann::ordered_json (*write)(const T& from);
  void (*read)(const Place& place, const nlohmann::json& value, T& to);
};

template <class T, auto member>
constexpr Field<T> field(std::string_view key) {
  return {key, [](const T& from) { return encode(from.*member); },
          [](const Place& place, const nlohmann::json& value, T& to) {
            decode(place, value, to.*member);
          }};
}

/// What an error says of a key that others use.
struct Alias {
  std::string_view key;
  std::string_view advice;
};

/// Throws at the first key of the object that is not known, with the nearest one that is.
void check_keys(std::string_view function, const nlohmann::json& tree,
                std::span<const std::string_view> known, std::span<const Alias> aliases = {});

}  // namespace bcos
