#pragma once

#include <stdexcept>
#include <string>

#include "bcos/export.hpp"

namespace bcos {

/// What kind of thing went wrong; the C interface returns the same numbers.
enum class ErrorCode {
  invalid_argument = 1,  ///< a value the caller gave is outside its bounds
  mismatch = 2,          ///< name, shape, dtype or method differ from what is expected
  corrupt = 3,           ///< a file is damaged, cut or hostile
  io = 4,                ///< the operating system refused
  non_finite = 5,        ///< a gradient is NaN or infinite and the guard is `raise`
  out_of_memory = 6,
  internal = 7,
};

/// The one exception of the library. what() reads "[function] expected X but received Y".
class BCOS_API Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace bcos
