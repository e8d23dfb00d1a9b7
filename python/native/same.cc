#include "python_objects.hpp"

/// Whether lists and dicts still hold the very objects that they held. Nothing but the containers
/// is read: comparing in Python counts a reference up and down in every object, which is a cache
/// miss each when there are thousands.

BCOS_PASS int bcos_same_items(PyObject* list, PyObject* known) {
  const std::ptrdiff_t count = PyList_Size(known);
  if (PyList_Size(list) != count) return 0;
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    if (PyList_GetItem(list, i) != PyList_GetItem(known, i)) return 0;
  }
  return 1;
}

/// The values of a dict, in its order.
BCOS_PASS int bcos_same_values(PyObject* dict, PyObject* known) {
  const std::ptrdiff_t count = PyList_Size(known);
  if (PyDict_Size(dict) != count) return 0;
  std::ptrdiff_t position = 0;
  PyObject* value = nullptr;
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    if (PyDict_Next(dict, &position, nullptr, &value) == 0) return 0;
    if (value != PyList_GetItem(known, i)) return 0;
  }
  return 1;
}

/// The values of each dict of a list, in their order; `known` has them one after the other, each
/// dict behind its own.
BCOS_PASS int bcos_same_contents(PyObject* dicts, PyObject* known) {
  constexpr std::ptrdiff_t kAhead = 8;
  constexpr std::ptrdiff_t kTableWord = 4;  // of a dict; it is only asked for, never read
  const std::ptrdiff_t count = PyList_Size(dicts);
  const std::ptrdiff_t end = PyList_Size(known);
  std::ptrdiff_t next = 0;
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    if (i + 2 * kAhead < count) __builtin_prefetch(PyList_GetItem(dicts, i + 2 * kAhead));
    if (i + kAhead < count) {
      const auto* const table =
          reinterpret_cast<const char* const*>(PyList_GetItem(dicts, i + kAhead))[kTableWord];
      __builtin_prefetch(table);
      __builtin_prefetch(table + 64);
    }
    PyObject* const dict = PyList_GetItem(dicts, i);
    std::ptrdiff_t position = 0;
    PyObject* value = nullptr;
    while (PyDict_Next(dict, &position, nullptr, &value) != 0) {
      if (next == end || PyList_GetItem(known, next++) != value) return 0;
    }
    if (next == end || PyList_GetItem(known, next++) != dict) return 0;
  }
  return next == end ? 1 : 0;
}
