# Shared by the scripts of this folder: where things are, what is installed, how the build tree is configured.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
build=${RUBATO_BUILD_DIR:-$root/build}
case $build in
  /*) ;;
  *) build=$PWD/$build ;;
esac

fail() {
  echo "$(basename "$0"): $*" >&2
  exit 1
}

# The packages of the groups in "$@" that are not installed, one a line.
missing_packages() {
  local needed
  needed=$(for group in "$@"; do sed -n "s/^$group://p" "$root/tools/packages"; done | xargs -n 1 | sort -u)
  # shellcheck disable=SC2016  # the dollars are dpkg-query's
  comm -23 <(echo "$needed") <(xargs dpkg-query -W -f '${db:Status-Status} ${Package}\n' <<< "$needed" 2> /dev/null |
    sed -n 's/^installed //p' | sort -u)
}

# install_packages GROUP...: installs what is missing, asks nothing, and does nothing when all is there.
install_packages() {
  local missing
  local as_root=()
  if ! command -v dpkg-query > /dev/null || ! command -v apt-get > /dev/null; then
    echo "$(basename "$0"): this is not Debian, so nothing is installed; the names of what is needed are in tools/packages" >&2
    return
  fi
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo > /dev/null ||
      fail "these Debian packages are missing and can only be installed by root or with sudo: ${missing[*]}"
    as_root=(sudo)
  fi
  echo "installing ${missing[*]}"
  "${as_root[@]}" apt-get -q update < /dev/null || echo "apt-get update failed; trying with the package lists as they are" >&2
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -q install --yes --no-install-recommends "${missing[@]}" < /dev/null ||
    fail "apt-get could not install these Debian packages: ${missing[*]}"
}

# configure NAME=VALUE...: a Release build of every instruction of this machine, with these options besides. What flags
# come from is the same for every script, so that none compiles again what another has compiled. A tree that has the
# options already is left alone: ninja itself notices a changed CMakeLists.txt.
configure() {
  local wanted=(CMAKE_BUILD_TYPE=Release RUBATO_NATIVE=ON RUBATO_WERROR=ON "$@")
  local setting
  local arguments=()
  local changed=no
  for setting in "${wanted[@]}"; do
    arguments+=("-D$setting")
    grep -qs "^${setting%%=*}:[A-Z]*=${setting#*=}\$" "$build/CMakeCache.txt" || changed=yes
  done
  if [ ! -e "$build/CMakeCache.txt" ]; then arguments+=(-G Ninja); fi
  if [ $changed = no ] && [ -e "$build/build.ninja" ]; then return; fi
  cmake -S "$root" -B "$build" "${arguments[@]}" ||
    fail "could not configure $build; if it stems from another tree or version, remove it and try again"
}
