# shellcheck shell=bash
# The Python package: a wheel, and its tests on that wheel in an environment of its own.

WHEELS=$PWD/build/wheels
WHEEL_ENV=$PWD/build/wheel-env

# The compiler and flags of the release build, so that ccache has compiled it already.
build_wheel() {
  rm -rf "$WHEELS"
  CC=clang-19 CXX=clang++-19 CMAKE_GENERATOR=Ninja .venv/bin/python -m pip wheel . --no-deps \
    --no-build-isolation --disable-pip-version-check -w "$WHEELS"
}

# Nothing in it but the wheel; torch and the test tools are looked up in .venv behind it.
install_wheel() {
  local site
  rm -rf "$WHEEL_ENV"
  .venv/bin/python -m venv --without-pip "$WHEEL_ENV"
  site=$("$WHEEL_ENV/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  .venv/bin/python -m pip --python "$WHEEL_ENV/bin/python" install --disable-pip-version-check \
    --no-deps --no-index "$WHEELS"/*.whl &&
    .venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
      >"$site/behind.pth"
}

# From another directory, so that the sources are not what is imported. 5: a choice of tests with
# none in it, which the closing line tells.
run_pytest() {
  rm -f "$LOGS/test-python.xml"
  (cd "$WHEEL_ENV" && env -u PYTHONPATH -u BCOS_LIBRARY bin/python -m pytest -q \
    -p no:cacheprovider --junitxml "$LOGS/test-python.xml" --rootdir "$OLDPWD/tests/python" \
    "${PYTEST_ARGS[@]}" "$OLDPWD/tests/python") || (($? == 5 && ${#PYTEST_ARGS[@]} > 0))
}

# count_pytest REPORT: adds what pytest wrote down to the totals; its words depend on -q and -v.
count_pytest() {
  local -A number=([tests]=0 [failures]=0 [errors]=0 [skipped]=0)
  local word value
  if [[ -f $1 ]]; then
    while IFS='="' read -r word _ value _; do number[$word]=$value; done < <(
      grep -oE '<testsuite [^>]*>' "$1" | grep -oE '(tests|failures|errors|skipped)="[0-9]+"'
    )
  fi
  local bad=$((number[failures] + number[errors]))
  FAILED=$((FAILED + bad))
  SKIPPED=$((SKIPPED + number[skipped]))
  PASSED=$((PASSED + number[tests] - bad - number[skipped]))
}

# python_suite [PYTEST ARGS]
python_suite() {
  local before=$FAILED ok=0
  PYTEST_ARGS=("$@")
  if ! { stage "wheel" build_wheel && stage "install wheel" install_wheel; }; then
    FAILED=$((FAILED + 1))
    return 2
  fi
  stage "test python" run_pytest || ok=1
  count_pytest "$LOGS/test-python.xml"
  if ((ok != 0 && FAILED == before)); then FAILED=$((FAILED + 1)); fi
  return "$ok"
}
