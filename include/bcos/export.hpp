#pragma once

#if __cplusplus < 202002L
#error "bcos: expected C++20 (-std=c++20; in CMake, cxx_std_20). Older C++ can use bcos/bcos.h."
#endif

#include "bcos/export.h"
