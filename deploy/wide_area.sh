#!/bin/bash
# Broadcasts and reductions over an emulated wide-area network: real daemons beside Open MPI and MPICH, in
# one session. Needs root, a folder with the emulator `wanlab` and its benchmarks, built, and both MPIs.
#
#   WANLAB=/path/to/wanlab deploy/wide_area.sh [TOPOLOGY ...]     default: agm6x4 saito4x8
#
# PEERS      which of "phoenix ompi mpich" are measured, in this order
# BUILD      a release build [build/release]
# SIZES      bytes [1 1024 65536 262144 1048576 4194304]
# OPERATIONS what Phoenix does [bcast reduce]; the MPIs always do both
# ROUNDS     of each size [10]; an MPI stops a size after 12 s
# PAUSE_MS   before each; longer than the slowest way [150]
set -e
here=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${BUILD:-$here/build/release}" && pwd)
sizes=${SIZES:-1 1024 65536 262144 1048576 4194304}
rounds=${ROUNDS:-10}
pause=${PAUSE_MS:-150}
export BUILD=$build WANLAB

. "$here/deploy/wanlab_mesh.sh"

measure_phoenix() {
  local folder
  folder=$(mktemp -d)
  begin_mesh "$build" "$folder"
  for operation in ${OPERATIONS:-bcast reduce}; do
    echo "phoenix $operation"
    inside bench "$operation" --mesh wide --bytes "${sizes// /,}" --rounds "$rounds" --pause "$pause"
  done
  inside down --mesh wide
  rm -rf "$folder"
}

if [ "$1" = --inside ]; then
  for peer in ${PEERS:-phoenix ompi mpich}; do
    echo "== $peer, load $(cut -d' ' -f1 /proc/loadavg)"
    case $peer in
      phoenix) measure_phoenix ;;
      # MPICH does not always end by itself.
      *) timeout 200 "$WANLAB/bench/mpi.sh" "$peer" polite bcast_bench both "$rounds" "$pause" 12 $sizes || true ;;
    esac
  done
  exit 0
fi

[ -x "$WANLAB/wanlab" ] || { echo "say where the emulator is: WANLAB=/path/to/wanlab $0" >&2; exit 2; }
for peer in ${PEERS:-phoenix ompi mpich}; do
  [ "$peer" = phoenix ] || [ -x "$WANLAB/bench/bcast_bench.$peer" ] ||
    { echo "no benchmark of $peer beside the emulator: make -C $WANLAB/bench mpi, or leave it out of PEERS" >&2; exit 2; }
done
for topology in "${@:-agm6x4 saito4x8}"; do
  for one in $topology; do
    echo "=== $one"
    "$WANLAB/wanlab" up "$WANLAB/topo/$one" --timeout 900 -- "$here/deploy/wide_area.sh" --inside
  done
done
