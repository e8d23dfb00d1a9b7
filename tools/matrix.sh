# shellcheck shell=bash
# Every compiler, build type, sanitizer and machine that is promised, one row each.

MATRIX=(release debug gcc-release gcc-debug asan tsan arm64 bits)
ROWS=()

# The presets of the rows, but for bits.
name_of_row() {
  case $1 in
    release) say "clang-19 Release" ;;
    debug) say "clang-19 Debug" ;;
    gcc-release) say "g++-12 Release" ;;
    gcc-debug) say "g++-12 Debug" ;;
    asan) say "clang-19 ASan+UBSan" ;;
    tsan) say "clang-19 TSan" ;;
    arm64) say "g++-12 arm64 (qemu)" ;;
    bits) say "x86-64 = arm64, same bits" ;;
    *) return 1 ;;
  esac
}

# row NAME COMMAND...: runs on after a failure, so that the table is whole.
row() {
  local name=$1 begin=$SECONDS result=ok passed=$PASSED failed=$FAILED
  shift
  "$@" || result=FAILED
  ROWS+=("$(printf '%-26s %-7s %7d %7d %6d s' "$name" "$result" \
    $((PASSED - passed)) $((FAILED - failed)) $((SECONDS - begin)))")
}

# The same bits on both machines: the command prints them, Arm's under the emulator.
same_bits() {
  local x86=$LOGS/bits-x86-64.txt arm=$LOGS/bits-arm64.txt
  stage "bits x86-64" bits_of "$x86" build/bcos &&
    stage "bits arm64" bits_of "$arm" qemu-aarch64 build-arm64/bcos &&
    stage "bits equal" cmp "$x86" "$arm"
}

# bits_of FILE COMMAND...: the last word is the program; qemu says nothing when it is not there.
bits_of() {
  local out=$1 program=${!#}
  shift
  if [[ ! -x $program ]]; then
    say "$program is not built"
    return 1
  fi
  "$@" check --bits >"$out" || return 1
  if [[ ! -s $out ]]; then
    say "$program check --bits printed nothing"
    return 1
  fi
}

same_bits_counted() {
  if same_bits; then
    PASSED=$((PASSED + 1))
  else
    FAILED=$((FAILED + 1))
    return 1
  fi
}

# check_rows ROW...: stops at one that is not known.
check_rows() {
  local given
  for given in "$@"; do
    name_of_row "$given" >/dev/null ||
      die "matrix takes rows, some of ${MATRIX[*]}, received: $given"
  done
}

# matrix_rows [ROW...]: all without any.
matrix_rows() {
  local given
  if (($# == 0)); then set -- "${MATRIX[@]}"; fi
  for given in "$@"; do
    if [[ $given == bits ]]; then
      row "$(name_of_row bits)" same_bits_counted
    else
      row "$(name_of_row "$given")" suite "$given"
    fi
  done
  printf '\n%-26s %-7s %7s %7s %8s\n' build result passed failed time
  printf '%s\n' "${ROWS[@]}"
}
