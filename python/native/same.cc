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

/// What each dict of a list has under a key.
BCOS_PASS int bcos_same_entries(PyObject* dicts, PyObject* key, PyObject* known) {
  const std::ptrdiff_t count = PyList_Size(known);
  if (PyList_Size(dicts) != count) return 0;
  constexpr std::ptrdiff_t kAhead = 16;
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    if (i + kAhead < count) __builtin_prefetch(PyList_GetItem(dicts, i + kAhead));
    if (PyDict_GetItem(PyList_GetItem(dicts, i), key) != PyList_GetItem(known, i)) return 0;
  }
  return 1;
}

/// Asks for the memory of all objects of a list that is about to be dropped.
BCOS_PASS void bcos_prefetch(PyObject* list) {
  const std::ptrdiff_t count = PyList_Size(list);
  for (std::ptrdiff_t i = 0; i < count; ++i) __builtin_prefetch(PyList_GetItem(list, i), 1);
}
