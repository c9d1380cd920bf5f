#!/bin/sh
# From a bare Debian 12 machine to a running job: installs packages, builds, runs the main demo.
# Run it as often as you like; what is done already is not done again.
set -eu
. "$(dirname -- "$0")/steps.sh"

echo "Phoenix quick start: packages, build (a few minutes the first time), then the demo 'elastic'."
step setup "Installing what is missing of the Debian packages" deploy/setup.sh
step configure "Configuring the release build in build/release" cmake --preset release
step build "Building phoenixd, phoenix and the demo" \
     cmake --build --preset release --target phoenixd phoenix phoenix-keeper elastic
echo "==> Running: build/release/bin/phoenix demo elastic --output build"
echo "    8 daemons, 64 virtual nodes; 4 processors join at 3 s, 4 leave at 6 s."
build/release/bin/phoenix demo elastic --output build
echo
step rest "Building the rest: the other demos, bench, experiments, MPI" \
     cmake --build --preset release --target phx_programs
echo
echo "Quick start finished in $(($(date +%s) - began)) s. Next: build/release/bin/phoenix --help, and README.md"
