#pragma once

#include <string_view>

namespace bcos::lab::commands {

/// tests/golden/golden.json, which is part of the program: an installed one has no source tree.
std::string_view golden_text();

}  // namespace bcos::lab::commands
