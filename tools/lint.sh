# shellcheck shell=bash
# Style and static checks over tracked files; `./run format` repairs what a tool can repair.

LONGEST=600

cxx_files() { tracked '*.c' '*.cc' '*.h' '*.hpp'; }
shell_files() { tracked '*.sh' run .ci/run; }

check_cxx_format() { cxx_files | xargs -r clang-format-19 --dry-run -Werror; }

# A file with LibTorch's headers takes clang-tidy minutes: those are left to the compilers.
check_tidy() {
  tracked 'engine/*.cc' 'lab/*.cc' | grep -vE '^lab/(models|loop)/' |
    xargs -r python3 tools/tidy.py
}

# The precompiled headers that the compile commands name, but for LibTorch's.
build_headers() {
  local headers
  mapfile -t headers < <(ninja -C build -t targets all |
    sed -nE 's/^(lab\/CMakeFiles\/.*\.pch): .*/\1/p')
  if ((${#headers[@]} > 0)); then ninja -C build "${headers[@]}"; fi
}

check_python() {
  local files
  mapfile -t files < <(tracked '*.py' '*.pyi')
  if ((${#files[@]} == 0)); then return 0; fi
  ruff check "${files[@]}" && ruff format --check "${files[@]}"
}

check_shell() {
  local file
  while IFS= read -r file; do
    bash -n "$file" || return 1
  done < <(shell_files)
  shell_files | xargs -r shellcheck -x
}

check_length() {
  local file lines long=0
  while IFS= read -r file; do
    lines=$(wc -l <"$file")
    if ((lines > LONGEST)); then
      say "$file: $lines lines, more than $LONGEST: split it"
      long=1
    fi
  done < <({ cxx_files; shell_files; tracked '*.py' '*CMakeLists.txt' '*.cmake'; } |
    grep -vE '(^|/)tests/')
  return "$long"
}

lint_all() {
  local failed=()
  git_here rev-parse --git-dir >/dev/null 2>&1 || die "lint works on a git checkout"
  # clang-tidy reads the compile commands that configuring writes.
  configure release || die "configuring failed"
  stage "headers" build_headers || die "the precompiled headers could not be built"
  stage "clang-format" check_cxx_format || failed+=("clang-format (./run format repairs it)")
  stage "clang-tidy" check_tidy || failed+=(clang-tidy)
  stage "ruff" check_python || failed+=("ruff (./run format repairs most of it)")
  stage "shellcheck" check_shell || failed+=(shellcheck)
  stage "file length" check_length || failed+=("file length")
  stage "mutants" python3 tools/mutant_list.py || failed+=("mutants (tests/mutants.toml follows the code)")
  if ((${#failed[@]} > 0)); then
    printf 'lint failed: %s\n' "${failed[@]}" >&2
    return 1
  fi
  say "lint clean"
}

format_all() {
  local python
  cxx_files | xargs -r clang-format-19 -i
  mapfile -t python < <(tracked '*.py' '*.pyi')
  if ((${#python[@]} > 0)); then
    ruff check --quiet --fix-only "${python[@]}"
    ruff format --quiet "${python[@]}"
  fi
  say "formatted; git diff shows what changed"
}
