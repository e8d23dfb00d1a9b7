#pragma once

#include <string_view>

#include "bcos/method.hpp"

namespace bcos {

/// with(), for a caller that knows better what it and the method are called in an error.
Method resolve(std::string_view function, std::string_view method_name, Method base,
               const MethodOptions& options);

}  // namespace bcos
