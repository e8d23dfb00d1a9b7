#!/usr/bin/env bash
# check.sh prefix WORK CMAKE BUILD   install the build into WORK/prefix
# check.sh find_package WORK CMAKE GENERATOR CC VERSION   build and run the consumer by CMake
# check.sh example WORK CMAKE GENERATOR CXX NAME [TORCH]   build and run a program of examples/
# check.sh pkg_config WORK CC VERSION   build and run the consumer by pkg-config
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
step=$1 work=$2
shift 2

die() {
  echo "install: $*" >&2
  exit 1
}

# The library's directory depends on the system: lib, lib64 or lib/<machine>.
library_dir() {
  local found
  found=$(find "$work/prefix" -name libbcos.so -printf '%h\n' -quit)
  [[ -n $found ]] || die "no libbcos.so in $work/prefix"
  echo "$found"
}

# runs PROGRAM VERSION
runs() {
  local said
  said=$(LD_LIBRARY_PATH=$(library_dir) "$1")
  [[ $said == "$2" ]] || die "expected version $2 but the program printed: $said"
}

install_prefix() {
  rm -rf "$work"
  "$1" --install "$2" --prefix "$work/prefix"
  local name
  name=$(objdump -p "$(library_dir)/libbcos.so" | awk '$1 == "SONAME" { print $2 }')
  [[ $name == libbcos.so.0 ]] || die "expected the SONAME of the C interface, libbcos.so.0: $name"
  [[ -f $work/prefix/include/bcos/version.h ]] || die "no headers in $work/prefix/include"
  "$work/prefix/bin/bcos" targets >/dev/null || die "the installed command does not run"
  if [[ -x $work/prefix/bin/bcos-torch ]]; then
    "$work/prefix/bin/bcos" train --presets >/dev/null || die "the installed trainer does not run"
  fi
}

by_find_package() {
  "$1" -S "$here/consumer" -B "$work/cmake" -G "$2" -DCMAKE_C_COMPILER="$3" \
    -DCMAKE_PREFIX_PATH="$work/prefix"
  "$1" --build "$work/cmake"
  runs "$work/cmake/consumer" "$4"
}

by_example() {
  local build=$work/example-$4
  mkdir -p "$build/run"
  "$1" -S "$here/../../examples/$4" -B "$build" -G "$2" -DCMAKE_CXX_COMPILER="$3" \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$work/prefix;${5:-}"
  "$1" --build "$build"
  (cd "$build/run" && LD_LIBRARY_PATH=$(library_dir) "$(find "$build" -maxdepth 1 -type f -executable)")
}

by_pkg_config() {
  local flags program=$work/by-pkg-config
  export PKG_CONFIG_PATH
  PKG_CONFIG_PATH=$(library_dir)/pkgconfig
  [[ $(pkg-config --modversion bcos) == "$2" ]] || die "expected version $2 in bcos.pc"
  read -ra flags < <(pkg-config --cflags --libs bcos)
  "$1" -std=c11 -Wall -Wextra -Wpedantic -Werror "$here/consumer/main.c" -o "$program" "${flags[@]}"
  runs "$program" "$2"
}

case $step in
  prefix) install_prefix "$@" ;;
  find_package) by_find_package "$@" ;;
  pkg_config) by_pkg_config "$@" ;;
  example) by_example "$@" ;;
  *) die "unknown step: $step" ;;
esac
