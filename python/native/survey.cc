#include "prefetcher.hpp"
#include "python_objects.hpp"

/// Where the tensors of a step lie, read in one pass through torch's stable C interface: asking
/// each tensor from Python costs more than stepping it when there are thousands of small ones.

extern "C" {

/// A handle is the address of what a C++ tensor consists of: one pointer, which is a word of the
/// Python object.
using Handle = void* const*;

/// The functions of torch that are used here, declared for the same reason as Python's; 0 is
/// success.
struct TorchFunctions {
  std::int32_t (*data)(Handle tensor, void** out);
  std::int32_t (*elements)(Handle tensor, std::int64_t* out);
  std::int32_t (*type)(Handle tensor, std::int32_t* out);
  std::int32_t (*device)(Handle tensor, std::int32_t* out);
  std::int32_t (*dense)(Handle tensor, bool* out);
};

/// As the package reads it: three 64-bit words.
struct Place {
  std::uint64_t data;
  std::int64_t elements;
  std::uint32_t device_and_type;
  std::uint32_t dense;
};

}  // extern "C"

namespace {

class Reader {
 public:
  Reader(const TorchFunctions& torch, const Parts& parts) : torch_(torch), parts_(parts) {}

  /// False if the tensor has no plain memory.
  bool look(const PyObject* object, Place& out) const {
    const Handle tensor = reinterpret_cast<Handle>(object) + parts_.tensor;
    void* data = nullptr;
    std::int32_t type = 0;
    std::int32_t device = 0;
    bool dense = false;
    const std::int32_t failed = torch_.device(tensor, &device) | torch_.type(tensor, &type) |
                                torch_.elements(tensor, &out.elements) |
                                torch_.dense(tensor, &dense) | torch_.data(tensor, &data);
    out.data = reinterpret_cast<std::uintptr_t>(data);
    out.device_and_type =
        static_cast<std::uint32_t>(device) << 16U | static_cast<std::uint32_t>(type);
    out.dense = dense ? 1 : 0;
    return failed == 0;
  }

 private:
  const TorchFunctions& torch_;
  const Parts& parts_;
};

bool is_exactly(PyObject* object, const PyObject* type) {
  PyObject* const found = PyObject_Type(object);
  Py_DecRef(found);
  return found == type;
}

/// Calls `count` with each of the lists in `chunks` as soon as all of its tensors were looked at,
/// up to the first without a gradient.
class WriteCounter {
 public:
  WriteCounter(PyObject* count, PyObject* chunks) : count_(count), chunks_(chunks) {}

  /// False with a Python exception set if the call fails.
  bool looked_at_next(bool has_gradient) {
    const std::ptrdiff_t end = PyList_Size(chunks_);
    if (!has_gradient) next_ = end;
    if (next_ == end) return true;
    PyObject* const chunk = PyList_GetItem(chunks_, next_);
    if (++seen_ < PyList_Size(chunk)) return true;
    counted_ += seen_;
    seen_ = 0;
    ++next_;
    PyObject* const done = PyObject_CallFunctionObjArgs(count_, chunk, nullptr);
    if (done != nullptr) Py_DecRef(done);
    return done != nullptr;
  }

  /// Tensors that were counted, all from the first on.
  std::ptrdiff_t counted() const { return counted_; }

 private:
  PyObject* count_;
  PyObject* chunks_;
  std::ptrdiff_t next_ = 0;
  std::ptrdiff_t seen_ = 0;
  std::ptrdiff_t counted_ = 0;
};

}  // namespace

/// Looks at `kinds` times n tensors: the parameters, then their states. Writes the places of all,
/// and last those of the parameters' gradients, all zero where there is none. Returns the gradients
/// as a new list; None if one of them is not of this type or a tensor has no plain memory; null
/// with a Python exception set. `chunks` are the parameters once more, in lists; `counted` says how
/// many of them, from the first on, `count` was called with.
BCOS_PASS PyObject* bcos_survey(PyObject* const* objects, std::ptrdiff_t kinds, std::ptrdiff_t n,
                                PyObject* name, PyObject* none, PyObject* type, PyObject* count,
                                PyObject* chunks, const TorchFunctions* torch, const Parts* parts,
                                Place* out, std::ptrdiff_t* counted) {
  PyObject* const gradients = PyList_New(n);
  if (gradients == nullptr) return nullptr;
  const Reader reader(*torch, *parts);
  const Prefetcher prefetch(*parts, n);
  WriteCounter counter(count, chunks);
  bool plain = true;
  bool raised = false;
  for (std::ptrdiff_t i = 0; i < n && plain && !raised; ++i) {
    for (std::ptrdiff_t k = 0; k < kinds; ++k) prefetch.tensors(objects + k * n, i);
    prefetch.gradients(objects, i);
    for (std::ptrdiff_t k = 0; k < kinds; ++k) {
      plain = plain && reader.look(objects[k * n + i], out[k * n + i]);
    }
    PyObject* const gradient = PyObject_GetAttr(objects[i], name);
    raised = gradient == nullptr;
    if (raised) break;
    PyList_SetItem(gradients, i, gradient);
    Place& place = out[kinds * n + i];
    place = {};
    const bool there = gradient != none;
    if (there) plain = plain && is_exactly(gradient, type) && reader.look(gradient, place);
    if (plain) raised = !counter.looked_at_next(there);
  }
  *counted = counter.counted();
  if (plain && !raised) return gradients;
  Py_DecRef(gradients);
  if (raised) return nullptr;
  Py_IncRef(none);
  return none;
}
