#!/bin/sh
# Installs the Debian packages that Phoenix needs. Run it as often as you like: what is there stays.
#
#   deploy/setup.sh            what building and running needs
#   deploy/setup.sh --tests    and what deploy/test.sh needs: clang, formatter, linter, tools for networks
set -eu

build="g++ cmake ninja-build ccache libasio-dev libprotobuf-dev protobuf-compiler libspdlog-dev
       libcli11-dev nlohmann-json3-dev libssl-dev libxxhash-dev libpng-dev libcairo2-dev libbenchmark-dev doctest-dev
       openssh-client ca-certificates"
tests="git clang libclang-rt-dev clang-format-14 clang-tidy-14 binutils
       iproute2 nftables procps pkgconf dpkg-dev file"

wanted=$build
case "${1:-}" in
  "") ;;
  --tests) wanted="$build $tests" ;;
  *) echo "usage: deploy/setup.sh [--tests]" >&2; exit 2 ;;
esac

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  echo "setup: no apt-get here. Phoenix is developed on Debian 12; elsewhere, install the equivalents of:" >&2
  echo "$wanted" >&2
  exit 1
fi

# Debian starts an ssh server where it installs one. That is for whoever owns the machine to decide.
if [ "$#" -gt 0 ] && ! [ -x /usr/sbin/sshd ]; then
  echo "setup: there is no ssh server here, and none is installed, because it would listen on port 22 from then on:" \
       "the test e2e.hosts skips its half that needs one (apt-get install openssh-server)"
fi

is_installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null || true)" = installed ]; }
# Later releases of Debian have these of another version.
other_version() { echo "$1" | sed 's/-14//'; }
missing=
for package in $wanted; do
  is_installed "$package" || is_installed "$(other_version "$package")" || missing="$missing $package"
done
if [ -z "$missing" ]; then
  echo "setup: all packages are installed"
  exit 0
fi

as_root=
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "setup: not root, and no sudo. Ask an administrator to run: apt-get install$missing" >&2
    exit 1
  fi
  as_root=sudo
  echo "setup: sudo may ask for your password"
fi
echo "setup: installing$missing"
# By env, because sudo takes variables away; without standard input nothing can ask.
apt_get() { $as_root env DEBIAN_FRONTEND=noninteractive apt-get "$@" </dev/null; }
apt_get update -q
known=
for package in $missing; do
  apt-cache show "$package" >/dev/null 2>&1 || package=$(other_version "$package")
  known="$known $package"
done
# shellcheck disable=SC2086  # the list is a list
apt_get install -y -q --no-install-recommends $known
echo "setup: done"
