#include "words.hpp"

/// Tensors as they lie in torch's memory, read word by word.

extern "C" {

/// Of torch's stable C interface, declared for the same reason as Python's; 0 is success. A handle
/// is the address of what a C++ tensor consists of: one pointer.
struct TorchFunctions {
  std::int32_t (*make)(void** out);
  std::int32_t (*assign)(const void* from, void* to);
  std::int32_t (*destroy)(void* tensor);
};

struct Words {
  TorchFunctions torch;
  Parts parts;
};

}  // extern "C"

namespace {

class WordView {
 public:
  WordView(const Tensors& tensors, const Words& words)
      : tensors_(tensors),
        torch_(words.torch),
        reader_(words.parts),
        prefetch_(words.parts, tensors.count) {}

  void prefetch(std::ptrdiff_t i) const {
    const std::ptrdiff_t n = tensors_.count;
    for (std::ptrdiff_t k = 0; k < tensors_.kinds; ++k) {
      prefetch_.tensors(tensors_.objects + k * n, i);
    }
    prefetch_.gradients(tensors_.objects, i);
  }

  Place place(const PyObject* object) const { return reader_.place(reader_.tensor(object)); }
  const Word* gradient(const PyObject* object) const {
    return reader_.gradient(reader_.tensor(object));
  }
  Place place_of(const Word* gradient) const { return reader_.place(part(gradient, 0)); }
  bool keep(const Word* gradient, void** slot) const {
    return slot == nullptr || torch_.assign(gradient, *slot) == 0;
  }
  void drop(const Word*) const {}
  void release() const {
    if (tensors_.held == nullptr) return;
    for (std::ptrdiff_t i = 0; i < tensors_.count; ++i) {
      torch_.assign(tensors_.held[tensors_.count], tensors_.held[i]);
    }
  }
  bool count_write(const PyObject* object) const {
    return reader_.count_write(reader_.tensor(object));
  }
  bool failed() const { return false; }

 private:
  const Tensors& tensors_;
  const TorchFunctions& torch_;
  Reader reader_;
  Prefetcher prefetch_;
};

}  // namespace

/// Makes room for the gradients that will be held; 0 if torch fails.
BCOS_PASS std::int32_t bcos_words_open(const Tensors* tensors, const Words* words) {
  if (tensors->held == nullptr) return 1;
  for (std::ptrdiff_t i = 0; i <= tensors->count; ++i) {
    if (words->torch.make(&tensors->held[i]) != 0) return 0;
  }
  return 1;
}

BCOS_PASS void bcos_words_close(const Tensors* tensors, const Words* words) {
  if (tensors->held == nullptr) return;
  for (std::ptrdiff_t i = 0; i <= tensors->count; ++i) {
    if (tensors->held[i] != nullptr) words->torch.destroy(tensors->held[i]);
  }
}

/// Lets the gradients go.
BCOS_PASS void bcos_words_release(const Tensors* tensors, const Words* words) {
  WordView(*tensors, *words).release();
}

BCOS_PASS void bcos_words_look(const Tensors* tensors, const Words* words, std::int32_t first,
                               std::int32_t counting, Survey* out) {
  Surveyor(*tensors, WordView(*tensors, *words)).look(first != 0, counting != 0, *out);
}

/// Python's lock is not let go of in between: nobody drops a gradient that is not held.
BCOS_PASS void bcos_words_step(const Tensors* tensors, const Words* words, std::int32_t counting,
                               Survey* out, Call* call) {
  Surveyor(*tensors, WordView(*tensors, *words)).look_and_step(counting != 0, *out, *call);
}
