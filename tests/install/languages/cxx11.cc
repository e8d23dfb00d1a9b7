// A C++11 program on the C interface: linking bcos leaves its language alone.
#include <bcos/bcos.h>

#include <cstdio>

static_assert(__cplusplus == 201103L, "expected C++11");

int main() { std::puts(bcos_version()); }
