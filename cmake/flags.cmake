# Flags of our own targets: warnings, the same bits from every compiler, sanitizers on request.
add_library(bcos_flags INTERFACE)
target_compile_options(bcos_flags INTERFACE
  -Wall -Wextra -Wpedantic $<$<BOOL:${BCOS_WERROR}>:-Werror> -ffp-contract=off -fno-math-errno)
# g++ 12 sees overlaps in std::string's own code (its bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(bcos_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
# Precompiled headers without the time they were made at, so that a compiler cache knows them again.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(bcos_flags INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
endif()
if(BCOS_SANITIZE)
  target_compile_options(bcos_flags INTERFACE
    -fsanitize=${BCOS_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(bcos_flags INTERFACE -fsanitize=${BCOS_SANITIZE})
endif()
# Highway's NEON code is compiled with the crypto extension allowed; gcc inlines nothing into it that
# is not. No such instruction is emitted unasked, so every 64-bit Arm still runs the result.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  target_compile_options(bcos_flags INTERFACE -march=armv8-a+crypto)
endif()
