#pragma once

#include <cstring>
#include <string_view>
#include <vector>

#include "bcos/bcos.h"
#include "bcos/optimizer.hpp"
#include "bcos/update.hpp"
#include "engine/c/guarded.hpp"

/// The structs of the C interface, whatever version of the header the caller was built with.
namespace bcos::c {

/// The part of a caller's struct that this library knows; fields it does not have are as in
/// `defaults`. Throws if it is smaller than its first version was.
template <class S>
S taken(const void* given, const S& defaults, std::string_view function, std::string_view what) {
  std::uint32_t size = 0;
  std::memcpy(&size, given, sizeof(size));
  if (size < sizeof(S)) {
    // All structs are in their first version: nothing smaller has ever been valid.
    throw fail(function, "expected struct_size >= {} in {} but received {}: use its _INIT macro",
               sizeof(S), what, size);
  }
  S result = defaults;
  std::memcpy(&result, given, sizeof(S));
  return result;
}

/// Element i of an array whose distance is the struct_size of its first element.
template <class S>
S element(const S* array, std::size_t i, const S& defaults, std::string_view function,
          std::string_view what) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(array);
  return taken(bytes + i * array->struct_size, defaults, function, what);
}

TensorView tensor_view(const bcos_tensor& given, std::string_view function);
Gradient gradient(const bcos_gradient& given, std::size_t rank);
OptimizerOptions options(const bcos_options* given, std::string_view function);
void give_report(const StepReport& report, bcos_report* out, std::string_view function);
Method method(const char* text, std::string_view function);

}  // namespace bcos::c
