#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bcos/safetensors.hpp"

/// The run whose state after three steps is in optimizer.safetensors: weight (2 x 3) under bcosw_c
/// and bias (3) under bcosw_m, alpha = 0.01. Every surface must write that state, and go on from
/// it.
namespace bcos::testing {

inline constexpr std::uint64_t kGoldenSteps = 3;
inline constexpr double kGoldenAlpha = 0.01;

inline std::vector<float> golden_parameter(std::size_t n) {
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<float>(i + 1) / 8;
  return x;
}

inline std::vector<float> golden_gradient(std::size_t n, std::uint64_t t) {
  std::vector<float> g(n);
  for (std::size_t i = 0; i < n; ++i) {
    g[i] = (static_cast<float>((7 * i + 3 * t) % 11) - 4) / 16;
  }
  return g;
}

/// What an optimizer file says, but for the library that wrote it.
inline std::vector<std::string> content(const std::string& path) {
  const auto file = safetensors::File::open(path);
  std::vector<std::string> lines;
  for (const auto& tensor : file.tensors()) {
    std::string data(tensor.end - tensor.begin, '\0');
    file.read(tensor, std::as_writable_bytes(std::span(data)));
    lines.push_back(tensor.name + " " + tensor.dtype + " " +
                    ::testing::PrintToString(tensor.shape) + " " + ::testing::PrintToString(data));
  }
  for (const auto& [key, value] : file.metadata()) {
    if (key != "version") lines.push_back(key + ": " + value);
  }
  return lines;
}

}  // namespace bcos::testing
