#!/usr/bin/env bash
# check.sh STEP WORK [ARGUMENTS]: checks the library as others find it, installed into WORK/prefix
# by the first step. CMAKE, CMAKE_GENERATOR, CC, CXX and VERSION are in the environment.
#   prefix SOURCE BUILD [TORCH]      installs the build and looks at what is there
#   exported LIBRARY                 the library offers the names of exported.txt and no others
#   next_version NEXT                C programs run with the next C++ interface, C++ ones do not start
#   languages                        programs in C, C++11 and C++20 by CMake
#   components                       find_package with versions and components
#   pkg_config                       a program in C by pkg-config
#   example NAME [TORCH]             a program of examples/
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
step=$1 work=$2
shift 2
# shellcheck source=tests/install/common.sh
source "$here/common.sh"

install_prefix() {
  local source=$1 build=$2 torch=${3:-} name
  rm -rf "$work"
  "$CMAKE" --install "$build" --prefix "$work/prefix"
  name=$(objdump -p "$(library_dir)/libbcos.so" | awk '$1 == "SONAME" { print $2 }')
  [[ $name == libbcos.so.0 ]] || die "expected the SONAME of the C interface, libbcos.so.0: $name"
  [[ -f $work/prefix/include/bcos/version.h ]] || die "no headers in $work/prefix/include"
  has_pages
  names_no_path_of "$source" "$build"
  "$work/prefix/bin/bcos" targets >/dev/null || die "the installed command does not run"
  if [[ -n $torch ]]; then
    LD_LIBRARY_PATH=$torch/lib "$work/prefix/bin/bcos" train --presets >/dev/null ||
      die "the installed trainer does not run"
  fi
}

# The pages that the headers name are there, and so is every file that a page links to.
has_pages() {
  local pages=$work/prefix/share/doc/bcos page link
  grep -q 'share/doc/bcos' "$work/prefix/include/bcos/bcos.h" ||
    die "bcos.h does not say where its pages are"
  for page in LICENSE README.md docs/{methods,formats,specification,from-adamw}.md; do
    [[ -f $pages/$page ]] || die "expected the page $page in $pages"
  done
  while IFS=: read -r page link; do
    [[ -e $(dirname "$page")/$link ]] || die "$page links to $link, which is not installed"
  done < <(grep -roE '\]\([^)#: ]+\.[a-z]+\)|\]\((docs|examples)/[^)#: ]+\)' \
    --include '*.md' "$pages" | sed -E 's/:\]\((.*)\)$/:\1/')
}

# names_no_path_of DIRECTORY...: nothing installed does, but for what is there for debuggers. A
# directory with a short name, /bcos say, is not taken for the end of another path.
names_no_path_of() {
  local file directory
  while IFS= read -r file; do
    cp "$file" "$work/stripped"
    objcopy --strip-debug "$work/stripped" 2>/dev/null || true
    for directory in "$@"; do
      if LC_ALL=C grep -qaP "(^|[^\\w.})/-]|-[IL])\\Q$directory\\E(/|\$)" "$work/stripped"; then
        die "$file names $directory"
      fi
    done
  done < <(find "$work/prefix" -type f)
}

exported() {
  "$here/exported.sh" "$1" >"$work/exported.txt"
  diff "$here/exported.txt" "$work/exported.txt" ||
    die "$1 offers other names than exported.txt (<: missing, >: new); if they should be" \
      "offered, tests/install/exported.sh build/libbcos.so >tests/install/exported.txt"
}

next_version() {
  local said
  build_against_prefix "$here/languages" "$work/languages"
  said=$(LD_LIBRARY_PATH=$1 "$work/languages/c") || die "a program in C does not run with $1"
  [[ $said == "$VERSION" ]] || die "the program in C printed: $said"
  if said=$(LD_LIBRARY_PATH=$1 "$work/languages/cxx20" 2>&1); then
    die "a program in C++ runs with the C++ interface of another version"
  fi
  [[ $said == *"version \`BCOS_CXX_${VERSION%.*}' not found"* ]] ||
    die "expected the loader to name the C++ interface that is missing: $said"
}

languages() {
  local said
  build_against_prefix "$here/consumer" "$work/consumer"
  prints "$VERSION" "$work/consumer/consumer"
  build_against_prefix "$here/languages" "$work/languages"
  prints "$VERSION" "$work/languages/c"
  prints "$VERSION" "$work/languages/cxx11"
  prints "caught: [method_by_name]" "$work/languages/cxx20"
  if said=$("$CXX" -std=c++17 -I"$work/prefix/include" -fsyntax-only "$here/languages/cxx20.cc" 2>&1); then
    die "the C++ headers compile as C++17"
  fi
  [[ $said == *"expected C++20"* ]] || die "expected a word about C++20 but received: $said"
}

by_pkg_config() {
  local flags program=$work/by-pkg-config
  export PKG_CONFIG_PATH
  PKG_CONFIG_PATH=$(library_dir)/pkgconfig
  [[ $(pkg-config --modversion bcos) == "$VERSION" ]] || die "expected version $VERSION in bcos.pc"
  read -ra flags < <(pkg-config --cflags --libs bcos)
  "$CC" -std=c11 -Wall -Wextra -Wpedantic -Werror "$here/consumer/main.c" -o "$program" "${flags[@]}"
  prints "$VERSION" "$program"
}

by_example() {
  local build=$work/example-$1
  mkdir -p "$build/run"
  build_against_prefix "$here/../../examples/$1" "$build" \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$work/prefix;${2:-}"
  (cd "$build/run" && LD_LIBRARY_PATH=$(library_dir) "$(find "$build" -maxdepth 1 -type f -executable)")
}

case $step in
  prefix) install_prefix "$@" ;;
  exported) exported "$@" ;;
  next_version) next_version "$@" ;;
  languages) languages ;;
  components) "$CMAKE" -S "$here/components" -B "$work/components" \
    -DCMAKE_PREFIX_PATH="$work/prefix" -DVERSION="$VERSION" ;;
  pkg_config) by_pkg_config ;;
  example) by_example "$@" ;;
  *) die "unknown step: $step" ;;
esac
