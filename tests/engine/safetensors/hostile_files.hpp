#pragma once

#include <string>
#include <vector>

namespace bcos::safetensors {

/// A file made by hand.
struct Row {
  std::string why;
  std::string bytes;
  std::string message;  ///< part of what the error says
};

std::string repeat(const std::string& text, int times);

/// A file with one tensor of 4 bytes under this name, as JSON text.
std::string named(const std::string& name);

/// A file with tensor "a" made of this dtype, shape and offsets, as JSON text, and 4 bytes of data.
std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets);

/// Tensors "a" and "b", U8, at these offsets of 8 bytes of data.
std::string two(int a0, int a1, int b0, int b1);

/// A member of a header: tensor "a" of 4 bytes.
inline constexpr const char* kTensor = R"("a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]})";

/// Files that must be refused.
std::vector<Row> hostile_files();

}  // namespace bcos::safetensors
