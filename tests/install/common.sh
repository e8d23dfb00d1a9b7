# shellcheck shell=bash disable=SC2154
# What the checks of the installed tree share. They set $work; the tree is in $work/prefix.

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

# prints EXPECTED PROGRAM: runs the program with the installed library.
prints() {
  local said
  said=$(LD_LIBRARY_PATH=$(library_dir) "$2") || die "$2 failed"
  [[ $said == "$1" ]] || die "expected '$1' but $2 printed: $said"
}

# build_against_prefix SOURCE BUILD [CMAKE ARGUMENTS]: with the CMake, generator and compilers that
# CMakeLists.txt put into the environment.
build_against_prefix() {
  local source=$1 build=$2
  shift 2
  "$CMAKE" -S "$source" -B "$build" -DCMAKE_PREFIX_PATH="$work/prefix" "$@"
  "$CMAKE" --build "$build"
}
