# shellcheck shell=bash
# Configure, build and test one preset, and count what passed.

PASSED=0
FAILED=0
SKIPPED=0

with_ccache() {
  if have ccache; then
    export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
    # A second clone, or a worktree, finds what the first has compiled.
    export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
    # What precompiled headers ask for.
    export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
  fi
}

configure() {
  with_ccache
  stage "configure $1" cmake --preset "$@"
}

# build PRESET [TARGET...]
build() {
  local preset=$1 targets=()
  shift
  if (($# > 0)); then targets=(--target "$@"); fi
  watched "build $preset" cmake --build --preset "$preset" --parallel "$(jobs_here)" "${targets[@]}"
}

# count LOG: adds ctest's summary to the totals. ctest counts skipped tests as passed; we do not.
count() {
  local failed total skipped
  read -r failed total < <(sed -nE \
    's/^[0-9]+% tests passed, ([0-9]+) tests? failed out of ([0-9]+)$/\1 \2/p' "$1") || return 0
  skipped=$(grep -cE '^\s+[0-9]+ - .* \(Skipped\)$' "$1") || true
  PASSED=$((PASSED + total - failed - skipped))
  FAILED=$((FAILED + failed))
  SKIPPED=$((SKIPPED + skipped))
}

# run_ctest PRESET [ARGS]
run_ctest() {
  local preset=$1 before=$FAILED ok=0
  shift
  stage "test $preset" ctest --preset "$preset" --parallel "$(jobs_here)" \
    --output-on-failure "$@" || ok=1
  count "$LOGS/test-$preset.log"
  # ctest itself may fail without a failed test: no tests found, a broken test file.
  if ((ok != 0 && FAILED == before)); then FAILED=$((FAILED + 1)); fi
  return "$ok"
}

# suite PRESET [CTEST ARGS]: a preset that cannot be built counts as one failure and returns 2.
suite() {
  local preset=$1
  shift
  if ! { configure "$preset" && build "$preset"; }; then
    FAILED=$((FAILED + 1))
    return 2
  fi
  run_ctest "$preset" "$@"
}
