#include "engine/method/fields.hpp"

#include <algorithm>

namespace bcos {
namespace {

using nlohmann::json;

Error wrong(const Place& place, std::string_view expected, const json& value) {
  return fail(place.function, "expected {} as {} but received {}", place.key, expected,
              shown(value));
}

}  // namespace

nlohmann::ordered_json encode(const Blocks& blocks) {
  if (blocks.layout == Layout::lists) return blocks.lists;
  return blocks_name(blocks);
}

void decode(const Place& place, const json& value, double& out) {
  if (!value.is_number()) throw wrong(place, "a number", value);
  out = value.get<double>();
}

void decode(const Place& place, const json& value, bool& out) {
  if (!value.is_boolean()) throw wrong(place, "true or false", value);
  out = value.get<bool>();
}

void decode(const Place& place, const json& value, std::uint64_t& out) {
  if (!value.is_number_unsigned()) throw wrong(place, "a whole number >= 0", value);
  out = value.get<std::uint64_t>();
}

void decode(const Place& place, const json& value, std::vector<std::uint64_t>& out) {
  if (!value.is_array()) throw wrong(place, "a list of whole numbers", value);
  out.clear();
  for (const json& item : value) decode(place, item, out.emplace_back());
}

void decode(const Place& place, const json& value, Blocks& out) {
  if (value.is_string()) {
    out = blocks_from_name(value.get_ref<const std::string&>());
    return;
  }
  if (!value.is_array()) throw wrong(place, "a name or a list of index lists", value);
  IndexLists lists;
  for (const json& item : value) decode(place, item, lists.emplace_back());
  out = Blocks::of_lists(std::move(lists));
}

void decode(const Place& place, const json& value, std::string& out) {
  if (!value.is_string()) throw wrong(place, "a string", value);
  out = value.get<std::string>();
}

std::size_t decode_name(const Place& place, const json& value,
                        std::span<const std::string_view> names) {
  const std::string expected = fmt::format("one of {}", fmt::join(names, ", "));
  if (!value.is_string()) throw wrong(place, expected, value);
  const auto& given = value.get_ref<const std::string&>();
  const auto found = std::ranges::find(names, given);
  if (found == names.end()) {
    throw fail(place.function, "expected {} as {} but received {}{}", place.key, expected,
               shown(value), suggestion(given, names));
  }
  return static_cast<std::size_t>(found - names.begin());
}

void check_keys(std::string_view function, const json& tree,
                std::span<const std::string_view> known, std::span<const Alias> aliases) {
  for (const auto& [key, value] : tree.items()) {
    if (std::ranges::find(known, key) != known.end()) continue;
    const auto alias = std::ranges::find(aliases, spelling(key), &Alias::key);
    throw fail(function, "expected a known key but received {}{}", shown(key),
               alias == aliases.end() ? suggestion(key, known) : std::string(alias->advice));
  }
}

}  // namespace bcos
