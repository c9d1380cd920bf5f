#!/bin/sh
# Builds and tests everything: packages, all tests, the installation, sanitizers, fuzz targets.
# Run it as often as you like; 25 to 50 minutes on two cores from nothing.
set -eu
. "$(dirname -- "$0")/steps.sh"

build() { cmake --preset "$1" && cmake --build --preset "$@"; }
test_all() { ctest --preset "$@"; }
build_behind() { echo "cmake --preset $1 && cmake --build --preset $1"; }

echo "Phoenix tests: three builds, the one for threads only in part. Logs are in build/logs."
step setup "Installing what is missing of the Debian packages" deploy/setup.sh --tests
step gate-build "Building everything with g++, warnings being errors, each header alone" build gate
# Half of these tests wait for each other more than they compute.
behind core-build "$(build_behind core)" tsan-build "$(build_behind tsan)"
step gate-test "All tests, the rules of style and the installation among them" test_all gate
step core-build "Building the core alone, without TCP, with clang and address and undefined-behaviour sanitizers" \
     finish core-build
step core-test "Tests of the core, and a fixed number of inputs for each fuzz target" test_all core
# Without the tool: its tests are run by the gate alone, and take as long to build as all of the rest.
step asan-build "Building the tests of the rest with them, and MPI programs" \
     build asan --target phx_driver_tests phx_mpi_programs
step asan-test "Tests of the drivers, the api and MPI under these sanitizers" \
     test_all asan -L '^(tcp|local|api|mpi|mpi_types)$'
step tsan-build "Building the tests of what has threads with the thread sanitizer" finish tsan-build
step tsan-test "Tests under the thread sanitizer" test_all tsan

tested=$(sed -n 's/^.*tests passed, 0 tests failed.* out of \([0-9]*\).*$/\1/p' \
         "$logs"/gate-test.log "$logs"/core-test.log "$logs"/asan-test.log "$logs"/tsan-test.log |
         awk '{ sum += $1 } END { print sum + 0 }')
# What was not tested for want of something: whole tests, which do not count as passed, and parts of others by their names.
skipped=$(cat "$logs"/gate-test.log "$logs"/core-test.log "$logs"/asan-test.log "$logs"/tsan-test.log |
          sed -n 's/^ *[0-9]*\/[0-9]* Test *#[0-9]*: *\([^ ]*\) .*\*\*\*Skipped.*/\1/p')
parts=$(sed -n 's/^skipped: //p' build/gate/Testing/Temporary/LastTest.log build/asan/Testing/Temporary/LastTest.log \
             build/tsan/Testing/Temporary/LastTest.log 2>/dev/null | sort -u)
number=$(echo "$skipped" | grep -c . || true)
echo
if [ -n "$skipped$parts" ]; then
  [ -z "$skipped" ] || echo "$number tests were skipped:" $skipped
  [ -z "$parts" ] || echo "$parts" | sed 's/^/  skipped: /'
fi
echo "Everything else passed in $(($(date +%s) - began)) s."
echo "100% tests passed, 0 tests failed out of $((tested - number))"
