# shellcheck shell=bash
# Messages and stages, shared by the scripts that ./run sources.

say() { printf '%s\n' "$*"; }
warn() { printf '%s\n' "$*" >&2; }
die() {
  warn "run: $*"
  exit 1
}

jobs_here() { nproc 2>/dev/null || echo 2; }

have() { command -v "$1" >/dev/null 2>&1; }

# Git refuses a checkout that another user owns (a mounted one, say); listing files is harmless.
git_here() { git -c safe.directory="$PWD" "$@"; }

# tracked PATTERN...: tracked files that still exist, one a line.
tracked() {
  local file
  git_here ls-files -- "$@" | while IFS= read -r file; do
    if [[ -f $file ]]; then say "$file"; fi
  done
}

# A stage prints one line; what it says goes to a log that is shown only when it fails.
stage() {
  local label=$1 log=$LOGS/${1//[^a-zA-Z0-9]/-}.log begin=$SECONDS
  shift
  mkdir -p "$LOGS"
  printf '%-34s' "$label"
  if "$@" >"$log" 2>&1; then
    printf '%4d s\n' $((SECONDS - begin))
    return 0
  fi
  printf 'failed\n'
  show_log "$log"
  return 1
}

# progress_of LOG: the last "[done/all]" of what ninja has written.
progress_of() { grep -oE '^\[[0-9]+/[0-9]+\]' "$1" 2>/dev/null | tail -n 1 || true; }

# watched LABEL COMMAND...: a stage that shows on a terminal how much of it is done.
watched() {
  if [[ ! -t 1 ]]; then
    stage "$@"
    return
  fi
  local label=$1 log=$LOGS/${1//[^a-zA-Z0-9]/-}.log begin=$SECONDS job status=0
  shift
  mkdir -p "$LOGS"
  "$@" >"$log" 2>&1 &
  job=$!
  # A script's background jobs do not hear Ctrl-C.
  trap 'kill "$job" 2>/dev/null; wait "$job"; exit 130' INT TERM
  while kill -0 "$job" 2>/dev/null; do
    printf '\r%-34s%4d s  %s ' "$label" $((SECONDS - begin)) "$(progress_of "$log")"
    sleep 1
  done
  wait "$job" || status=$?
  trap - INT TERM
  if ((status == 0)); then
    printf '\r%-34s%4d s  %-14s\n' "$label" $((SECONDS - begin)) ''
    return 0
  fi
  printf '\r%-34sfailed%-14s\n' "$label" ''
  show_log "$log"
  return 1
}

# Passed tests and clang-tidy's counts are left out, so that what failed is what is read.
show_log() {
  grep -vE '^ *(Start +[0-9]+: |[0-9]+/[0-9]+ Test .* Passed |[0-9]+ warnings? generated\.)' "$1" | tail -n 200 >&2 || true
  warn "(whole log: ${1#"$PWD"/})"
}
