#pragma once

#include <string>

#include "bcos/method.hpp"

namespace bcos::lab::cli {

/// A name, JSON, or @ and a file of either textual form.
Method method_given(const std::string& text);

/// One step of the method in a line: "m' = beta m + (1-beta) g, v = ..., x = ...".
std::string formula_of(const Method& method);

/// "bcosw_c", or the named method that is nearest with what differs: "bcosw_c, lambda 0.05".
std::string summary_of(const Method& method);

/// Bytes of state a float32 parameter of single-coordinate blocks.
int state_bytes(const Method& method);

}  // namespace bcos::lab::cli
