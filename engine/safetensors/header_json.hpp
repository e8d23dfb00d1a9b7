#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bcos/safetensors.hpp"

namespace bcos::safetensors {

/// A header as written: each part is well formed, but they have not been compared with each other.
struct RawHeader {
  std::vector<TensorInfo> tensors;  ///< in the order of the text, names perhaps not unique
  std::map<std::string, std::string> metadata;
  std::vector<std::pair<std::string, std::string>> checksums;  ///< metadata with a reserved key
};

/// Parses without building a JSON tree, and stops at the first thing that does not belong.
/// Throws Malformed.
RawHeader parse_header_json(std::string_view text);

}  // namespace bcos::safetensors
