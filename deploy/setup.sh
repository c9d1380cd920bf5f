#!/bin/sh
# Installs the Debian packages that Phoenix needs. Run it as often as you like: what is there stays.
#
#   deploy/setup.sh            what building and running needs
#   deploy/setup.sh --tests    and what deploy/test.sh needs: clang, formatter, linter, ssh server
set -eu

build="g++ cmake ninja-build ccache libasio-dev libprotobuf-dev protobuf-compiler libspdlog-dev
       libcli11-dev nlohmann-json3-dev libssl-dev libxxhash-dev libpng-dev libcairo2-dev libbenchmark-dev doctest-dev
       openssh-client ca-certificates"
tests="git clang-14 clang libclang-rt-14-dev clang-format-14 clang-tidy-14 binutils
       openssh-server iproute2 nftables procps pkgconf dpkg-dev file"

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

missing=
for package in $wanted; do
  state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing="$missing $package"
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
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086  # the lists are lists
$as_root apt-get update -q
# shellcheck disable=SC2086
$as_root apt-get install -y -q --no-install-recommends $missing
echo "setup: done"
