#!/usr/bin/env bash
# exported.sh LIBRARY: the names that it offers, each after the version it bears, one per line. When names
# were added on purpose:
#   tests/install/exported.sh build/libbcos.so >tests/install/exported.txt
set -euo pipefail
nm -DC --defined-only --with-symbol-versions "$1" |
  sed -nE 's/^[0-9a-f]+ [^A] ([^@]*)@+([^@]+)$/\2 \1/p;
           s/^[0-9a-f]+ [^A] ([^@]*)$/unversioned \1/p' |
  sed 's/std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >/std::string/g
       s/std::basic_string_view<char, std::char_traits<char> >/std::string_view/g
       s/, 18446744073709551615ul>/>/g' |
  LC_ALL=C sort -u
