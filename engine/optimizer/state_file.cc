#include "engine/optimizer/state_file.hpp"

#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "bcos/text.hpp"
#include "bcos/version.h"
#include "engine/error.hpp"
#include "engine/strict_json.hpp"

namespace bcos {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::string_view kFormat = "1";
constexpr std::string_view kKind = "bcos optimizer";
constexpr std::string_view kWhere = "load";

const std::string& metadata_of(const safetensors::File& file, const char* key) {
  const auto found = file.metadata().find(key);
  if (found == file.metadata().end()) {
    throw fail(ErrorCode::corrupt, kWhere, "expected {} in the metadata of '{}'", key, file.path());
  }
  return found->second;
}

/// nlohmann would turn -5 and 1.7 into some whole number.
std::uint64_t whole_number(const json& value, std::string_view what) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > kMost) {
    throw fail(ErrorCode::corrupt, kWhere, "expected {} as a whole number but received {}", what,
               value.dump());
  }
  return value.get<std::uint64_t>();
}

StateFileHeader::Entry read_entry(const json& entry, std::size_t groups) {
  StateFileHeader::Entry result;
  result.name = entry.at("name").get<std::string>();
  for (const json& size : entry.at("shape")) {
    result.shape.push_back(static_cast<std::int64_t>(whole_number(size, "a shape")));
  }
  element_count(result.shape);
  const auto dtype = entry.at("dtype").get<std::string>();
  if (dtype != "F32" && dtype != "F64") {
    throw fail(ErrorCode::corrupt, kWhere, "expected dtype F32 or F64 but received '{}'", dtype);
  }
  result.dtype = dtype == "F32" ? DType::f32 : DType::f64;
  result.group = whole_number(entry.at("group"), "group");
  result.steps = whole_number(entry.at("steps"), "steps");
  if (result.group >= groups) {
    throw fail(ErrorCode::corrupt, kWhere, "expected group < {} but received {}", groups,
               result.group);
  }
  return result;
}

}  // namespace

std::string_view file_dtype(DType dtype) { return dtype == DType::f32 ? "F32" : "F64"; }

std::string state_name(std::string_view state, std::string_view parameter) {
  return fmt::format("{}/{}", state, parameter);
}

std::map<std::string, std::string> to_metadata(const StateFileHeader& header) {
  ordered_json groups = ordered_json::array();
  for (const Method& method : header.groups) groups.push_back(ordered_json::parse(to_json(method)));
  ordered_json parameters = ordered_json::array();
  for (const auto& entry : header.parameters) {
    parameters.push_back({{"name", entry.name},
                          {"shape", entry.shape},
                          {"dtype", file_dtype(entry.dtype)},
                          {"group", entry.group},
                          {"steps", entry.steps}});
  }
  return {
      {"kind", std::string(kKind)},      {"format", std::string(kFormat)},
      {"version", BCOS_VERSION_STRING},  {"groups", groups.dump()},
      {"parameters", parameters.dump()}, {"skipped_steps", std::to_string(header.skipped_steps)}};
}

StateFileHeader read_state_header(const safetensors::File& file) {
  const auto kind = file.metadata().find("kind");
  if (kind == file.metadata().end() || kind->second != kKind) {
    throw fail(ErrorCode::mismatch, kWhere,
               "expected an optimizer file but received '{}', which does not say it is one",
               file.path());
  }
  const std::string& format = metadata_of(file, "format");
  if (format != kFormat) {
    throw fail(ErrorCode::mismatch, kWhere,
               "expected format {} but received {} in '{}': it needs a newer bcos", kFormat, format,
               file.path());
  }
  StateFileHeader header;
  try {
    for (const json& method : parse_strict(metadata_of(file, "groups"), kWhere, " in its groups")) {
      header.groups.push_back(method_from_json(method.dump()));
    }
    std::unordered_set<std::string> names;
    for (const json& entry :
         parse_strict(metadata_of(file, "parameters"), kWhere, " in its parameters")) {
      header.parameters.push_back(read_entry(entry, header.groups.size()));
      if (!names.insert(header.parameters.back().name).second) {
        throw fail(ErrorCode::corrupt, kWhere, "expected each name once but received '{}' twice",
                   header.parameters.back().name);
      }
    }
    const json skipped =
        parse_strict(metadata_of(file, "skipped_steps"), kWhere, " in skipped_steps");
    header.skipped_steps = whole_number(skipped, "skipped_steps");
  } catch (const json::exception& error) {
    throw fail(ErrorCode::corrupt, kWhere, "expected readable metadata in '{}' but received: {}",
               file.path(), error.what());
  } catch (const Error& error) {
    throw fail(ErrorCode::corrupt, kWhere, "expected readable metadata in '{}' but received: {}",
               file.path(), error.what());
  }
  return header;
}

}  // namespace bcos
