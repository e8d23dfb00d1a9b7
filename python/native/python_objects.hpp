#pragma once

#include <cstddef>
#include <cstdint>

/// The few functions of Python's stable interface that are used here. They are declared rather than
/// included so that one library serves every Python. The caller holds Python's lock.
extern "C" {
struct PyObject;
PyObject* PyList_New(std::ptrdiff_t size);
std::ptrdiff_t PyList_Size(PyObject* list);
PyObject* PyList_GetItem(PyObject* list, std::ptrdiff_t index);            // borrowed
int PyList_SetItem(PyObject* list, std::ptrdiff_t index, PyObject* item);  // takes the item over
std::ptrdiff_t PyDict_Size(PyObject* dict);
PyObject* PyDict_GetItem(PyObject* dict, PyObject* key);  // borrowed; null if it is not there
int PyDict_Next(PyObject* dict, std::ptrdiff_t* position, PyObject** key, PyObject** value);
PyObject* PyObject_Type(PyObject* object);
PyObject* PyObject_GetAttr(PyObject* object, PyObject* name);
PyObject* PyObject_CallFunctionObjArgs(PyObject* callable, ...);  // ends with a null pointer
void Py_IncRef(PyObject* object);
void Py_DecRef(PyObject* object);
}

#define BCOS_PASS extern "C" __attribute__((visibility("default")))
