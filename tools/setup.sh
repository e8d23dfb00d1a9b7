# shellcheck shell=bash
# Installs what is missing and nothing else: with all in place no network is needed.

package_set() { awk -v set="$1" '$1 == set { print $2 }' tools/packages.txt; }

# installed PACKAGE[:ARCH]: for this machine unless another is named.
installed() {
  local machine=$MACHINE
  if [[ $1 == *:* ]]; then machine=${1#*:}; fi
  dpkg-query -W -f '${db:Status-Status} ${Architecture}\n' "${1%:*}" 2>/dev/null |
    grep -qxE "installed ($machine|all)"
}

# need_packages SET...: Debian packages of these sets.
need_packages() {
  local set package missing=()
  if ! have dpkg-query; then
    warn "note: not a Debian system; the packages expected are in tools/packages.txt"
    return 0
  fi
  MACHINE=$(dpkg --print-architecture)
  for set in "$@"; do
    for package in $(package_set "$set"); do
      installed "$package" || missing+=("$package")
    done
  done
  # Debian's python3 comes without venv; other builds of Python have it.
  if ! have python3; then
    missing+=(python3 python3-venv)
  elif ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
    missing+=(python3-venv)
  fi
  if ((${#missing[@]} > 0)); then install_packages "${missing[@]}"; fi
}

install_packages() {
  local foreign='' as_root=()
  if [[ " $*" == *:arm64* ]] && ! dpkg --print-foreign-architectures | grep -qx arm64; then
    foreign='dpkg --add-architecture arm64 && '
  fi
  if ((EUID != 0)); then
    if ! sudo -n true 2>/dev/null; then
      warn "run: Debian packages are missing, and installing them needs root. Ask for:"
      warn "  ${foreign}apt-get update && apt-get install -y --no-install-recommends $*"
      exit 1
    fi
    as_root=(sudo -n)
  fi
  if [[ -n $foreign ]]; then "${as_root[@]}" dpkg --add-architecture arm64; fi
  # A source that does not answer is no reason to stop: the install below tells what matters.
  stage "package lists" "${as_root[@]}" apt-get -o DPkg::Lock::Timeout=300 update || true
  stage "install $# packages" "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@" ||
    die "apt-get could not install: $*"
  # Precompiled headers are of the headers from before, which ninja cannot tell by their dates.
  find build build-* \( -name '*.pch' -o -name '*.gch' \) -delete 2>/dev/null || true
}

# need_python REQUIREMENTS: .venv with what the file pins; done again only when the file changes.
need_python() {
  local file=$1 stamp=.venv/${1##*/}.sha256 wanted
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
    die "Python 3.10 or newer is needed, found $(python3 --version 2>&1)"
  # A venv dies with the Python it was made from.
  if ! .venv/bin/python -c '' 2>/dev/null; then
    stage "python environment" python3 -m venv --clear .venv || die "could not make .venv"
  fi
  wanted=$(sha256sum <"$file")
  if [[ $(cat "$stamp" 2>/dev/null) != "$wanted" ]]; then
    stage "pip ${file#tools/}" .venv/bin/python -m pip install --disable-pip-version-check \
      -r "$file" || die "pip could not install $file"
    printf '%s\n' "$wanted" >"$stamp"
  fi
  # CMake and the tests pick this Python up from here.
  export VIRTUAL_ENV=$PWD/.venv PATH=$PWD/.venv/bin:$PATH
}
