#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "bcos/bcos.h"
#include "bcos/optimizer.hpp"
#include "bcos/update.hpp"
#include "engine/c/guarded.hpp"

/// The structs of the C interface, whatever version of the header the caller was built with.
namespace bcos::c {

/// The size of a struct in the first header that had it: programs built with that still run. It
/// stays when fields are added.
template <class S>
inline constexpr std::size_t kFirstSize = 0;
template <>
inline constexpr std::size_t kFirstSize<bcos_tensor> = 40;
template <>
inline constexpr std::size_t kFirstSize<bcos_options> = 48;
template <>
inline constexpr std::size_t kFirstSize<bcos_gradient> = 40;
template <>
inline constexpr std::size_t kFirstSize<bcos_report> = 48;
template <>
inline constexpr std::size_t kFirstSize<bcos_parameter> = 176;
template <>
inline constexpr std::size_t kFirstSize<bcos_method_options> = 80;

/// How much of a caller's struct both sides know. Throws if it is smaller than it has ever been.
template <class S>
std::size_t shared_size(const void* given, std::string_view function, std::string_view what) {
  static_assert(kFirstSize<S> > 0 && kFirstSize<S> <= sizeof(S));
  std::uint32_t size = 0;
  std::memcpy(&size, given, sizeof(size));
  if (size < kFirstSize<S>) {
    throw fail(function, "expected struct_size >= {} in {} but received {}: use its _INIT macro",
               kFirstSize<S>, what, size);
  }
  return std::min<std::size_t>(size, sizeof(S));
}

/// A caller's struct; fields that it does not have yet are as in `defaults`.
template <class S>
S taken(const void* given, const S& defaults, std::string_view function, std::string_view what) {
  S result = defaults;
  std::memcpy(&result, given, shared_size<S>(given, function, what));
  return result;
}

/// Writes what a caller's struct has room for, and leaves its struct_size.
template <class S>
void give(S result, S* out, std::string_view function, std::string_view what) {
  const std::size_t size = shared_size<S>(out, function, what);
  result.struct_size = out->struct_size;
  std::memcpy(out, &result, size);
}

/// Element i of an array whose distance is the struct_size of its first element.
template <class S>
S element(const S* array, std::size_t i, const S& defaults, std::string_view function,
          std::string_view what) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(array);
  return taken(bytes + i * array->struct_size, defaults, function, what);
}

/// What the interface remembers of a parameter, to read its gradients.
struct Shape {
  std::size_t rank;
  DType dtype;
  std::uint64_t elements;
};

TensorView tensor_view(const bcos_tensor& given, std::string_view function);
Shape shape_of(const TensorView& view);
DType dtype(std::int32_t given, std::string_view function);
Gradient gradient(const bcos_gradient& given, const Shape& parameter);
/// 0 means none.
std::optional<double> max_norm(double given, std::string_view function);
OptimizerOptions options(const bcos_options* given, std::string_view function);
void check_report(const bcos_report* report, std::string_view function);
void give_report(const StepReport& report, bcos_report* out, std::string_view function);
/// Writes what fits and a NUL behind it.
void give_text(std::string_view text, char* buffer, std::size_t capacity, std::size_t* length,
               std::string_view function);
Method method(const char* text, std::string_view function);
MethodOptions method_options(const bcos_method_options& given, std::string_view function);

}  // namespace bcos::c
