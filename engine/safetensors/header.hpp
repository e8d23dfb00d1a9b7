#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bcos/safetensors.hpp"

namespace bcos::safetensors {

/// Why a header is refused: "expected X but received Y", for File::open to add the path.
struct Malformed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A header that has been found in order.
struct Header {
  std::vector<TensorInfo> tensors;              ///< by offset
  std::vector<std::uint32_t> by_name;           ///< indices of tensors, sorted by name
  std::map<std::string, std::string> metadata;  ///< without the checksums
  bool has_checksums = false;
  std::vector<std::uint32_t> checksums;  ///< of tensors, in their order; empty if there are none

  /// Index of the tensor of this name, or tensors.size().
  std::size_t find(std::string_view name) const;
};

/// Checks and takes apart the text of a header. The data behind it have `data_bytes` bytes.
/// Throws Malformed. Takes memory and time in proportion to the text (sorting aside).
Header parse_header(std::string_view text, std::uint64_t data_bytes);

}  // namespace bcos::safetensors
