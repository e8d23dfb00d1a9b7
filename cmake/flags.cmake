# Flags of our own targets: no warnings, the same bits from every compiler, sanitizers on request.
add_library(bcos_flags INTERFACE)
target_compile_options(bcos_flags INTERFACE
  -Wall -Wextra -Wpedantic -Werror -ffp-contract=off -fno-math-errno)
if(BCOS_SANITIZE)
  target_compile_options(bcos_flags INTERFACE
    -fsanitize=${BCOS_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(bcos_flags INTERFACE -fsanitize=${BCOS_SANITIZE})
endif()
