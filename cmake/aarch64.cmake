# 64-bit Arm from another machine: Debian's cross compiler, tests run by qemu.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
# With the libraries of Debian's arm64 packages alone: the loader of the cross compiler's own set and
# a newer libc of theirs make the first thread hang.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)

# fmt is used as headers only, so the package of the machine that builds serves as well.
file(GLOB bcos_host_fmt /usr/lib/*-linux-gnu/cmake/fmt)
if(bcos_host_fmt)
  list(GET bcos_host_fmt 0 fmt_DIR)
endif()
