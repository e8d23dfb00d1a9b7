#pragma once

#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "bcos/bcos.h"
#include "bcos/error.hpp"
#include "engine/error.hpp"

namespace bcos::c {

/// Keeps the message for bcos_error_message() and gives back the code.
int failed(int code, std::string_view message) noexcept;

/// Runs the body of a C function: nothing is thrown across it.
template <class Body>
int guarded(const Body& body) noexcept {
  try {
    body();
    return BCOS_OK;
  } catch (const Error& error) {
    return failed(static_cast<int>(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    return failed(BCOS_OUT_OF_MEMORY, "[bcos] expected memory but received none");
  } catch (const std::exception& error) {
    return failed(BCOS_INTERNAL, error.what());
  } catch (...) {
    return failed(BCOS_INTERNAL, "[bcos] unknown error");
  }
}

template <class P>
P& required(P* pointer, std::string_view function, std::string_view what) {
  if (pointer == nullptr) throw fail(function, "expected {} but received null", what);
  return *pointer;
}

}  // namespace bcos::c
