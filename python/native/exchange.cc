#include "survey.hpp"

/// Tensors as torch shows them to other libraries, through DLPack's exchange interface: public, and
/// the same in every torch that has it.

extern "C" {

/// DLPack's DLTensor, of version 1.
struct ShownTensor {
  void* data;
  std::int32_t device_type;
  std::int32_t device_index;
  std::int32_t rank;
  std::uint32_t type;
  const std::int64_t* shape;
  const std::int64_t* strides;
  std::uint64_t offset;  ///< in bytes
};

struct Exchange {
  int (*show)(void* object, ShownTensor* out);  ///< 0 is success, else Python has an error
  PyObject* tensor_type;                        ///< gradients are of it and of no other
  PyObject* grad;                               ///< the name
  PyObject* is_neg;                             ///< a function: memory has the negative
  PyObject* no;                                 ///< what it returns if not
};

}  // extern "C"

namespace {

/// Of what cannot be shown; nothing is like it, for there are no elements without memory.
constexpr Place kNowhere{.description = {.elements = ~Word{0}}};

bool dense(const ShownTensor& tensor) {
  std::int64_t wanted = 1;
  for (std::int32_t i = tensor.rank - 1; i >= 0; --i) {
    if (tensor.shape[i] != 1 && tensor.strides[i] != wanted) return false;
    wanted *= tensor.shape[i];
  }
  return true;
}

Word elements_of(const ShownTensor& tensor) {
  std::int64_t elements = 1;
  for (std::int32_t i = 0; i < tensor.rank; ++i) elements *= tensor.shape[i];
  return static_cast<Word>(elements);
}

class ExchangeView {
 public:
  ExchangeView(const Tensors& tensors, const Exchange& exchange)
      : tensors_(tensors), exchange_(exchange) {}

  void prefetch(std::ptrdiff_t i) const {
    constexpr std::ptrdiff_t kApart = 8;
    if (i + kApart >= tensors_.count) return;
    for (std::ptrdiff_t k = 0; k < tensors_.kinds; ++k) {
      __builtin_prefetch(tensors_.objects[k * tensors_.count + i + kApart], 1);
    }
  }

  Place place(PyObject* object) const {
    ShownTensor shown{};
    if (exchange_.show(object, &shown) != 0) {
      PyErr_Clear();
      return kNowhere;
    }
    const Word elements = elements_of(shown);
    const Word device = static_cast<std::uint16_t>(shown.device_type) |
                        static_cast<Word>(static_cast<std::uint16_t>(shown.device_index)) << 16;
    const Word lies_dense = elements == 0 || dense(shown) ? 1 : 0;
    return {0,
            reinterpret_cast<Word>(shown.data) + shown.offset,
            {0, elements, shown.type | device << 32, lies_dense}};
  }

  /// Its memory is its own and as it says: no other kind of tensor, no sign left to whoever reads.
  PyObject* gradient(PyObject* object) const {
    PyObject* const gradient = PyObject_GetAttr(object, exchange_.grad);
    if (gradient == nullptr) return nullptr;
    if (is_plain(gradient)) return gradient;
    Py_DecRef(gradient);
    return nullptr;
  }

  Place place_of(PyObject* gradient) const { return place(gradient); }
  /// Always in a slot: torch lets go of Python's lock in every question that it is asked.
  bool keep(PyObject* gradient, void** slot) const {
    PyObject* const before = static_cast<PyObject*>(*slot);
    *slot = gradient;
    if (before != nullptr) Py_DecRef(before);
    return true;
  }
  void drop(PyObject* gradient) const { Py_DecRef(gradient); }
  void release() const {
    for (std::ptrdiff_t i = 0; i < tensors_.count; ++i) {
      void* const gradient = tensors_.held[i];
      tensors_.held[i] = nullptr;
      if (gradient != nullptr) Py_DecRef(static_cast<PyObject*>(gradient));
    }
  }
  /// There is no such function in C.
  bool count_write(PyObject*) const { return true; }
  bool failed() const { return PyErr_Occurred() != nullptr; }

 private:
  bool is_plain(PyObject* gradient) const {
    PyObject* const type = PyObject_Type(gradient);
    Py_DecRef(type);
    if (type != exchange_.tensor_type) return false;
    PyObject* const negative = PyObject_CallFunctionObjArgs(exchange_.is_neg, gradient, nullptr);
    if (negative == nullptr) return false;
    Py_DecRef(negative);
    return negative == exchange_.no;
  }

  const Tensors& tensors_;
  const Exchange& exchange_;
};

}  // namespace

BCOS_PASS std::int32_t bcos_exchange_open(const Tensors*, const Exchange*) { return 1; }

BCOS_PASS void bcos_exchange_close(const Tensors* tensors, const Exchange* exchange) {
  ExchangeView(*tensors, *exchange).release();
}

BCOS_PASS void bcos_exchange_release(const Tensors* tensors, const Exchange* exchange) {
  ExchangeView(*tensors, *exchange).release();
}

BCOS_PASS void bcos_exchange_look(const Tensors* tensors, const Exchange* exchange,
                                  std::int32_t first, std::int32_t, Survey* out) {
  Surveyor(*tensors, ExchangeView(*tensors, *exchange)).look(first != 0, false, *out);
}

BCOS_PASS void bcos_exchange_step(const Tensors* tensors, const Exchange* exchange, std::int32_t,
                                  Survey* out, Call* call) {
  const ExchangeView view(*tensors, *exchange);
  Surveyor(*tensors, view).look_and_step(false, *out, *call);
  view.release();
}
