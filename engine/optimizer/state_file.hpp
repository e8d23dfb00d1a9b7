#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bcos/method.hpp"
#include "bcos/safetensors.hpp"
#include "bcos/tensor.hpp"

namespace bcos {

/// What an optimizer file says of itself (docs/formats.md).
struct StateFileHeader {
  struct Entry {
    std::string name;
    std::vector<std::int64_t> shape;
    DType dtype = DType::f32;
    std::size_t group = 0;
    std::uint64_t steps = 0;
  };
  std::vector<Method> groups;
  std::vector<Entry> parameters;
  std::uint64_t skipped_steps = 0;
};

/// Name of a parameter's state in the file: "m/layer0.weight".
std::string state_name(std::string_view state, std::string_view parameter);

std::map<std::string, std::string> to_metadata(const StateFileHeader& header);

/// Throws Error(mismatch) for files that are not optimizer files or newer than this library, and
/// Error(corrupt) for damaged ones.
StateFileHeader read_state_header(const safetensors::File& file);

/// "F32" or "F64".
std::string_view file_dtype(DType dtype);

}  // namespace bcos
