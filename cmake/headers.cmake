# Headers of libraries that most sources of the lab and the tests include, and that take longer to
# read than the sources themselves: read once, and kept. By clang, the compiler of every day: g++ 12
# warns of errors in std::string that are not there when it has read it so.
set(BCOS_COMMON_HEADERS
  <algorithm> <cmath> <cstdint> <filesystem> <functional> <map> <memory> <optional> <span> <string>
  <string_view> <vector> <fmt/format.h> <fmt/ranges.h> <nlohmann/json.hpp>)

# precompile_headers(TARGET [HEADERS...]): the common headers and these.
function(precompile_headers target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_precompile_headers(${target} PRIVATE ${BCOS_COMMON_HEADERS} ${ARGN})
  endif()
endfunction()

# fmt. The library carries what it uses of it, and needs nobody; programs and tests take the
# system's, where it is compiled already, but for other machines, whose headers alone are at hand.
find_package(fmt REQUIRED)
add_library(bcos_fmt INTERFACE)
if(CMAKE_CROSSCOMPILING)
  target_link_libraries(bcos_fmt INTERFACE fmt::fmt-header-only)
else()
  target_link_libraries(bcos_fmt INTERFACE fmt::fmt)
endif()

# share_headers(TARGET OWNER): those of a target that is compiled with the same flags.
function(share_headers target owner)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
endfunction()

# share_models_headers(TESTS): LibTorch's, which take most of a minute to read. They are compiled for a
# library and with fmt: for an executable flags must say so.
function(share_models_headers tests)
  target_link_libraries(${tests} PRIVATE fmt::fmt-header-only)
  target_compile_options(${tests} PRIVATE -fPIC)
  target_precompile_headers(${tests} REUSE_FROM bcos_models)
endfunction()
