#!/usr/bin/env bash
# static.sh WORK SOURCE UNLOAD_TEST: bcos as a part of another project, by the lines of the README, as a
# static library; then that library, installed into WORK/prefix, by pkg-config, by CMake and in a
# plugin that is unloaded. The environment is that of check.sh.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$1 source=$2 unload_test=$3
# shellcheck source=tests/install/common.sh
source "$here/common.sh"

# readme_block LANGUAGE WORD: the README's first block in this language that has the word.
readme_block() {
  awk -v fence='```'"$1" -v word="$2" '
    $0 == fence { inside = 1; text = ""; next }
    $0 == "```" { if (inside && index(text, word)) { printf "%s", text; exit } inside = 0 }
    inside { text = text $0 "\n" }' "$source/README.md"
}

rm -rf "$work"
mkdir -p "$work/project"
ln -s "$source" "$work/project/bcos"
readme_block cmake FetchContent >"$work/project/CMakeLists.txt"
readme_block c bcos/bcos.h >"$work/project/main.c"
"$CMAKE" -S "$work/project" -B "$work/build" -DBUILD_SHARED_LIBS=OFF \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
if grep -q -e -Werror "$work/build/compile_commands.json"; then
  die "warnings are errors in a project that bcos is a part of"
fi
"$CMAKE" --build "$work/build" --parallel 2
"$work/build/main" || die "the program of the README fails"

"$CMAKE" --install "$work/build" --prefix "$work/prefix"
archive=$(find "$work/prefix" -name libbcos.a)
[[ -n $archive ]] || die "no libbcos.a in $work/prefix"
if find "$work/prefix" -name '*.so*' | grep -q .; then die "a shared library is installed, too"; fi
if find "$work/prefix" -name README.md | grep -q .; then
  die "the other project is given the pages of bcos"
fi

export PKG_CONFIG_PATH=${archive%/*}/pkgconfig
read -ra flags < <(pkg-config --cflags --libs bcos)
"$CC" -std=c11 "$here/consumer/main.c" -o "$work/by-pkg-config" "${flags[@]}"
[[ $("$work/by-pkg-config") == "$VERSION" ]] || die "by pkg-config: expected version $VERSION"
build_against_prefix "$here/consumer" "$work/consumer"
[[ $("$work/consumer/consumer") == "$VERSION" ]] || die "by CMake: expected version $VERSION"

"$CC" -shared -o "$work/plugin.so" -Wl,--whole-archive "$archive" -Wl,--no-whole-archive "${flags[@]}"
"$unload_test" "$work/plugin.so" || die "a plugin with the library in it cannot be unloaded"
