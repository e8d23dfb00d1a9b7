#pragma once

#include "python_objects.hpp"

/// At which word of a tensor's parts the address of the next one is. The package has found this out
/// from a tensor of the torch at hand: these addresses are followed, so they must be right.
extern "C" struct Parts {
  std::uint32_t tensor;    ///< in the Python object
  std::uint32_t storage;   ///< in the tensor
  std::uint32_t meta;      ///< in the tensor
  std::uint32_t version;   ///< in the tensor
  std::uint32_t object;    ///< in the tensor: the Python object
  std::uint32_t gradient;  ///< in meta
};

/// Asks for the parts of tensors that will be looked at soon: of thousands, each is somewhere else,
/// and each part is found through the one before it. So the parts of a tensor are asked for in
/// turns, several tensors apart.
class Prefetcher {
 public:
  Prefetcher(const Parts& parts, std::ptrdiff_t count) : parts_(parts), count_(count) {}

  void tensors(PyObject* const* objects, std::ptrdiff_t now) const {
    ask<1>(item(objects, now + 5 * kApart));
    ask<4>(tensor(item(objects, now + 4 * kApart)));
    ask<2>(part(tensor(item(objects, now + 3 * kApart)), parts_.storage));
  }

  /// After the same call of `tensors`: what is behind the tensors.
  void gradients(PyObject* const* objects, std::ptrdiff_t now) const {
    const void* const soon = tensor(item(objects, now + 3 * kApart));
    ask<2>(part(soon, parts_.meta));
    ask<1>(part(soon, parts_.version));
    ask<4>(gradient(item(objects, now + 2 * kApart)));
    const void* const next = gradient(item(objects, now + kApart));
    ask<2>(part(next, parts_.storage));
    ask<1>(part(next, parts_.object));
  }

 private:
  static constexpr std::ptrdiff_t kApart = 8;

  const void* item(PyObject* const* objects, std::ptrdiff_t i) const {
    return i < count_ ? objects[i] : nullptr;
  }
  const void* tensor(const void* object) const { return part(object, parts_.tensor); }
  const void* gradient(const void* object) const {
    return part(part(tensor(object), parts_.meta), parts_.gradient);
  }
  static const void* part(const void* whole, std::uint32_t word) {
    return whole == nullptr ? nullptr : static_cast<const void* const*>(whole)[word];
  }
  template <std::size_t kLines>
  static void ask(const void* place) {
    const auto address = reinterpret_cast<std::uintptr_t>(place);
    for (std::size_t i = 0; i < kLines; ++i) {
      __builtin_prefetch(reinterpret_cast<const void*>(address + 64 * i), 1);
    }
  }

  const Parts& parts_;
  std::ptrdiff_t count_;
};
