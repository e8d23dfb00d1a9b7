#pragma once

#include <cstddef>
#include <cstdint>

/// The few functions of Python's stable interface that are used here. They are declared rather than
/// included so that one library serves every Python. The caller holds Python's lock.
extern "C" {
struct PyObject;
std::ptrdiff_t PyList_Size(PyObject* list);
PyObject* PyList_GetItem(PyObject* list, std::ptrdiff_t index);  // borrowed
std::ptrdiff_t PyDict_Size(PyObject* dict);
int PyDict_Next(PyObject* dict, std::ptrdiff_t* position, PyObject** key, PyObject** value);
PyObject* PyObject_GetAttr(PyObject* object, PyObject* name);
PyObject* PyObject_Type(PyObject* object);
PyObject* PyObject_CallFunctionObjArgs(PyObject* function, ...);  // up to a null
void Py_DecRef(PyObject* object);
void PyErr_Clear();
PyObject* PyErr_Occurred();  // borrowed
}

#define BCOS_PASS extern "C" __attribute__((visibility("default")))
