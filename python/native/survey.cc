#include "python_objects.hpp"
#include "tensors.hpp"

/// Where the tensors of a step lie, read in one pass: asking each tensor from Python, or even by a
/// function of torch, costs as much as stepping it when there are thousands of small ones.

extern "C" {

/// Of torch's stable C interface, declared for the same reason as Python's; 0 is success. A handle
/// is the address of what a C++ tensor consists of: one pointer.
struct TorchFunctions {
  std::int32_t (*make)(Word** out);
  std::int32_t (*assign)(const Word* from, Word* to);
  std::int32_t (*destroy)(Word* tensor);
};

/// Parameters and their states.
struct Tensors {
  PyObject* const* objects;  ///< `kinds` times `count`: the parameters, then their states
  std::ptrdiff_t kinds;
  std::ptrdiff_t count;
  Place* places;           ///< of these tensors at the first look, which writes them
  const Word* item_bytes;  ///< of the parameters
  Word* addresses;         ///< of the gradients, so many words apart
  std::ptrdiff_t addresses_apart;
  Word** held;  ///< the gradients and one more, which stays empty; or null
};

/// A call of the engine's update (bcos.h), and what it returned.
struct Call {
  int (*update)(void* plan, const void* gradients, const double* alphas, std::uint64_t* steps,
                double grad_scale, void* report);
  void* plan;
  const void* gradients;
  const double* alphas;
  std::uint64_t* steps;
  double grad_scale;
  void* report;
  std::int32_t code;
};

/// As the package reads it.
struct Survey {
  std::int64_t counted;  ///< of so many parameters, from the first on, autograd was told
  std::int32_t unmoved;  ///< parameters and states are where they were at the first look
  std::int32_t alike;    ///< all gradients are there and lie like their parameters
};

}  // extern "C"

namespace {

/// One parameter after the other.
class Surveyor {
 public:
  Surveyor(const Tensors& tensors, const TorchFunctions& torch, const Parts& parts)
      : tensors_(tensors), torch_(torch), reader_(parts), prefetch_(parts, tensors.count) {}

  void prefetch(std::ptrdiff_t i) const {
    const std::ptrdiff_t n = tensors_.count;
    for (std::ptrdiff_t k = 0; k < tensors_.kinds; ++k) {
      prefetch_.tensors(tensors_.objects + k * n, i);
    }
    prefetch_.gradients(tensors_.objects, i);
  }

  void remember(std::ptrdiff_t i) const {
    for (std::ptrdiff_t at = i; at < tensors_.kinds * tensors_.count; at += tensors_.count) {
      tensors_.places[at] = reader_.place(tensor(at));
    }
  }

  bool unmoved(std::ptrdiff_t i) const {
    for (std::ptrdiff_t at = i; at < tensors_.kinds * tensors_.count; at += tensors_.count) {
      if (reader_.place(tensor(at)) != tensors_.places[at]) return false;
    }
    return true;
  }

  /// Finds the gradient and holds it; false if it is not there or not like its parameter.
  bool find_gradient(std::ptrdiff_t i) const {
    const Word* const handle = reader_.gradient(tensor(i));
    if (handle == nullptr) return false;
    const Place place = reader_.place(part(handle, 0));
    const Description& lies = place.description;
    if (!lies.lies_like(tensors_.places[i].description)) return false;
    if (place.memory == 0 && lies.elements != 0) return false;
    tensors_.addresses[i * tensors_.addresses_apart] =
        place.memory + lies.offset * tensors_.item_bytes[i];
    return tensors_.held == nullptr || torch_.assign(handle, tensors_.held[i]) == 0;
  }

  bool count_write(std::ptrdiff_t i) const { return reader_.count_write(tensor(i)); }

 private:
  const Word* tensor(std::ptrdiff_t at) const { return reader_.tensor(tensors_.objects[at]); }

  const Tensors& tensors_;
  const TorchFunctions& torch_;
  Reader reader_;
  Prefetcher prefetch_;
};

}  // namespace

/// Makes room for the gradients that will be held; 0 if torch fails.
BCOS_PASS std::int32_t bcos_survey_open(const Tensors* tensors, const TorchFunctions* torch) {
  if (tensors->held == nullptr) return 1;
  for (std::ptrdiff_t i = 0; i <= tensors->count; ++i) {
    if (torch->make(&tensors->held[i]) != 0) return 0;
  }
  return 1;
}

BCOS_PASS void bcos_survey_close(const Tensors* tensors, const TorchFunctions* torch) {
  if (tensors->held == nullptr) return;
  for (std::ptrdiff_t i = 0; i <= tensors->count; ++i) {
    if (tensors->held[i] != nullptr) torch->destroy(tensors->held[i]);
  }
}

/// Lets the gradients go.
BCOS_PASS void bcos_survey_release(const Tensors* tensors, const TorchFunctions* torch) {
  if (tensors->held == nullptr) return;
  for (std::ptrdiff_t i = 0; i < tensors->count; ++i) {
    torch->assign(tensors->held[tensors->count], tensors->held[i]);
  }
}

/// Looks at all tensors; at the first look these are the places to compare with later. `counting`:
/// autograd is told, while they are at hand, that parameters change, up to the first whose gradient
/// is not alike. Gradients that are not all alike are not held.
BCOS_PASS void bcos_survey(const Tensors* tensors, const TorchFunctions* torch, const Parts* parts,
                           std::int32_t first, std::int32_t counting, Survey* out) {
  const Surveyor surveyor(*tensors, *torch, *parts);
  *out = {0, 1, 1};
  for (std::ptrdiff_t i = 0; i < tensors->count && out->unmoved != 0; ++i) {
    surveyor.prefetch(i);
    if (first != 0) surveyor.remember(i);
    if (first == 0 && !surveyor.unmoved(i)) out->unmoved = 0;
    if (out->alike == 0 || out->unmoved == 0) continue;
    if (!surveyor.find_gradient(i) || (counting != 0 && !surveyor.count_write(i))) {
      out->alike = 0;
    } else if (counting != 0) {
      ++out->counted;
    }
  }
  if (out->unmoved == 0) out->alike = 0;
  if (out->alike == 0) bcos_survey_release(tensors, torch);
}

/// Looks, and steps if nothing has moved and all gradients are alike. Python's lock is not let go
/// of in between: nobody drops a gradient that is not held.
BCOS_PASS void bcos_survey_step(const Tensors* tensors, const TorchFunctions* torch,
                                const Parts* parts, std::int32_t counting, Survey* out,
                                Call* call) {
  bcos_survey(tensors, torch, parts, 0, counting, out);
  if (out->alike == 0) return;
  call->code = call->update(call->plan, call->gradients, call->alphas, call->steps,
                            call->grad_scale, call->report);
}
