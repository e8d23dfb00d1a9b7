#include <cstddef>
#include <cstdint>

/// Where the tensors of a Python list lie, read in one pass through DLPack's exchange table: asking
/// each tensor from Python costs more than stepping it when there are thousands of small ones.
///
/// The few functions and structs used here are of the stable interfaces of Python and DLPack 1;
/// they are declared rather than included so that one library serves every Python.
extern "C" {

struct PyObject;
PyObject* PyList_GetItem(PyObject* list, std::ptrdiff_t index);
std::ptrdiff_t PyList_Size(PyObject* list);

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

/// Asks for the memory of a tensor that will be looked at soon: of thousands, each is somewhere
/// else. Its object is on its way since the earlier call with `object_only`; torch keeps a pointer
/// to the rest behind an object's header of two words. Were it something else, time would be lost
/// and no more.
static void prefetch(PyObject* item, PyObject* none, bool object_only) {
  if (item == none) return;
  if (object_only) {
    __builtin_prefetch(item);
    return;
  }
  const char* const rest = reinterpret_cast<const char* const*>(item)[2];
  for (std::size_t line = 0; line < 3; ++line) __builtin_prefetch(rest + 64 * line);
}

/// Writes a place for each tensor of the list, all zero for `none`. The caller holds Python's lock.
__attribute__((visibility("default"))) int bcos_places(PyObject* list, PyObject* none,
                                                       LookAt look_at, Place* out) {
  const std::ptrdiff_t count = PyList_Size(list);
  constexpr std::ptrdiff_t kAhead = 8;
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    if (i + 2 * kAhead < count) prefetch(PyList_GetItem(list, i + 2 * kAhead), none, true);
    if (i + kAhead < count) prefetch(PyList_GetItem(list, i + kAhead), none, false);
    PyObject* const item = PyList_GetItem(list, i);
    out[i] = {};
    if (item == none) continue;
    DLTensor tensor{};
    if (look_at(item, &tensor) != 0) return -1;
    std::int64_t elements = 1;
    bool dense = true;
    for (std::int32_t k = tensor.ndim; k-- > 0;) {
      const bool steps_on = tensor.strides == nullptr || tensor.strides[k] == elements;
      dense = dense && (tensor.shape[k] == 1 || steps_on);
      elements *= tensor.shape[k];
    }
    const auto device = static_cast<std::uint32_t>(tensor.device_type) & 0xFFU;
    out[i].data = reinterpret_cast<std::uintptr_t>(tensor.data) + tensor.byte_offset;
    out[i].elements = elements;
    out[i].device_and_type =
        device << 16U | std::uint32_t{tensor.dtype_code} << 8U | std::uint32_t{tensor.dtype_bits};
    out[i].dense = dense || elements == 0 ? 1 : 0;
  }
  return 0;
}

}  // extern "C"
