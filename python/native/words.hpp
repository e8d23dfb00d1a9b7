#pragma once

#include "survey.hpp"

extern "C" {

/// At which word of a tensor's parts something is. The package has found this out from tensors of
/// the torch at hand: these words are followed and written to, so they must be right.
struct Parts {
  std::uint32_t tensor;       ///< of the Python object
  std::uint32_t storage;      ///< of the tensor
  std::uint32_t meta;         ///< of the tensor; null if autograd does not know it
  std::uint32_t version;      ///< of the tensor; null if nobody counts writes
  std::uint32_t description;  ///< of the tensor
  std::uint32_t gradient;     ///< of meta
  std::uint32_t memory;       ///< of the storage
  std::uint32_t counter;      ///< of the version
  std::uint64_t kind_mask;    ///< the bits of a description's kind that count
};

}  // extern "C"

/// What lies there is as large as is said: the package has looked.
inline const Word* part(const Word* whole, std::uint32_t word) {
  return reinterpret_cast<const Word*>(whole[word]);
}

/// Finds the parts of tensors.
class Reader {
 public:
  explicit Reader(const Parts& parts) : parts_(parts) {}

  const Word* tensor(const PyObject* object) const {
    return part(reinterpret_cast<const Word*>(object), parts_.tensor);
  }

  Place place(const Word* tensor) const {
    const Word* const words = tensor + parts_.description;
    const Word* const storage = part(tensor, parts_.storage);
    const Word memory = storage == nullptr ? 0 : storage[parts_.memory];
    const Word kind = words[2] & parts_.kind_mask;
    return {tensor[parts_.storage], memory, {words[0], words[1], kind, words[3]}};
  }

  /// The word that has the gradient, which is a tensor as C++ knows it; null if there is none.
  const Word* gradient(const Word* tensor) const {
    const Word* const meta = part(tensor, parts_.meta);
    return meta == nullptr || meta[parts_.gradient] == 0 ? nullptr : meta + parts_.gradient;
  }

  /// Tells autograd of a write; false if nobody counts.
  bool count_write(const Word* tensor) const {
    const Word version = tensor[parts_.version];
    if (version == 0) return false;
    auto* const counter = reinterpret_cast<std::uint32_t*>(version + parts_.counter * sizeof(Word));
    __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
    return true;
  }

 private:
  const Parts& parts_;
};

/// Asks for the words of tensors that will be read soon: of thousands, each tensor is somewhere
/// else, and each of its parts is found through the one before it. So the parts of a tensor are
/// asked for in turns, several tensors apart. Word by word, for a part begins anywhere in a line of
/// the cache, and lines that nobody reads cost as much as others.
class Prefetcher {
 public:
  Prefetcher(const Parts& parts, std::ptrdiff_t count) : parts_(parts), count_(count) {}

  void tensors(PyObject* const* objects, std::ptrdiff_t now) const {
    ask(item(objects, now + 5 * kApart), parts_.tensor);
    ask_described(next(item(objects, now + 4 * kApart), parts_.tensor));
    ask(next(soon(objects, now), parts_.storage), parts_.memory);
  }

  /// After the same call of `tensors`: what is behind the tensors.
  void gradients(PyObject* const* objects, std::ptrdiff_t now) const {
    ask(next(item(objects, now + 4 * kApart), parts_.tensor), parts_.version);
    ask(next(soon(objects, now), parts_.meta), parts_.gradient);
    ask(next(soon(objects, now), parts_.version), parts_.counter);
    ask_described(gradient(objects, now + 2 * kApart));
    ask(next(gradient(objects, now + kApart), parts_.storage), parts_.memory);
  }

 private:
  static constexpr std::ptrdiff_t kApart = 4;

  const Word* item(PyObject* const* objects, std::ptrdiff_t i) const {
    return i < count_ ? reinterpret_cast<const Word*>(objects[i]) : nullptr;
  }
  const Word* soon(PyObject* const* objects, std::ptrdiff_t now) const {
    return next(item(objects, now + 3 * kApart), parts_.tensor);
  }
  const Word* gradient(PyObject* const* objects, std::ptrdiff_t i) const {
    return next(next(next(item(objects, i), parts_.tensor), parts_.meta), parts_.gradient);
  }
  static const Word* next(const Word* whole, std::uint32_t word) {
    return whole == nullptr ? nullptr : part(whole, word);
  }
  void ask_described(const Word* tensor) const {
    ask(tensor, parts_.storage);
    ask(tensor, parts_.description);
    ask(tensor, parts_.description + 3);
  }
  static void ask(const Word* whole, std::uint32_t word) {
    if (whole != nullptr) __builtin_prefetch(whole + word, 1);
  }

  const Parts& parts_;
  std::ptrdiff_t count_;
};
