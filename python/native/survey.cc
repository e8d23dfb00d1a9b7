#include "prefetcher.hpp"
#include "python_objects.hpp"

/// Where the tensors of a step lie, read in one pass through DLPack's exchange table: asking each
/// tensor from Python costs more than stepping it when there are thousands of small ones.

extern "C" {

/// DLPack 1's, declared for the same reason as Python's functions.
struct DLTensor {
  void* data;
  std::int32_t device_type;
  std::int32_t device_id;
  std::int32_t ndim;
  std::uint8_t dtype_code;
  std::uint8_t dtype_bits;
  std::uint16_t dtype_lanes;
  const std::int64_t* shape;
  const std::int64_t* strides;
  std::uint64_t byte_offset;
};

/// Fills in the second argument; -1 with a Python exception set if it cannot.
using LookAt = int (*)(PyObject* tensor, DLTensor* out);

/// As the package reads it: three 64-bit words.
struct Place {
  std::uint64_t data;
  std::int64_t elements;
  std::uint32_t device_and_type;
  std::uint32_t dense;
};

}  // extern "C"

namespace {

bool look(PyObject* item, LookAt look_at, Place& out) {
  DLTensor tensor{};
  if (look_at(item, &tensor) != 0) return false;
  std::int64_t elements = 1;
  bool dense = true;
  for (std::int32_t k = tensor.ndim; k-- > 0;) {
    const bool steps_on = tensor.strides == nullptr || tensor.strides[k] == elements;
    dense = dense && (tensor.shape[k] == 1 || steps_on);
    elements *= tensor.shape[k];
  }
  const auto device = static_cast<std::uint32_t>(tensor.device_type) & 0xFFU;
  out.data = reinterpret_cast<std::uintptr_t>(tensor.data) + tensor.byte_offset;
  out.elements = elements;
  out.device_and_type =
      device << 16U | std::uint32_t{tensor.dtype_code} << 8U | std::uint32_t{tensor.dtype_bits};
  out.dense = dense || elements == 0 ? 1 : 0;
  return true;
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
/// as a new list, or null with a Python exception set if a tensor has no plain memory. `chunks` are
/// the parameters once more, in lists; `parts` may be null.
/// `counted` says how many of them, from the first on, `count` was called with.
BCOS_PASS PyObject* bcos_survey(PyObject* const* objects, std::ptrdiff_t kinds, std::ptrdiff_t n,
                                PyObject* name, PyObject* none, PyObject* count, PyObject* chunks,
                                LookAt look_at, const Parts* parts, Place* out,
                                std::ptrdiff_t* counted) {
  PyObject* const gradients = PyList_New(n);
  if (gradients == nullptr) return nullptr;
  const Prefetcher prefetch(parts, n);
  WriteCounter counter(count, chunks);
  bool ok = true;
  for (std::ptrdiff_t i = 0; i < n && ok; ++i) {
    for (std::ptrdiff_t k = 0; k < kinds; ++k) prefetch.tensors(objects + k * n, i);
    prefetch.gradients(objects, i);
    for (std::ptrdiff_t k = 0; k < kinds && ok; ++k) {
      ok = look(objects[k * n + i], look_at, out[k * n + i]);
    }
    PyObject* const gradient = ok ? PyObject_GetAttr(objects[i], name) : nullptr;
    ok = gradient != nullptr;
    if (!ok) break;
    PyList_SetItem(gradients, i, gradient);
    Place& place = out[kinds * n + i];
    place = {};
    ok = (gradient == none || look(gradient, look_at, place)) &&
         counter.looked_at_next(gradient != none);
  }
  *counted = counter.counted();
  if (ok) return gradients;
  Py_DecRef(gradients);
  return nullptr;
}
