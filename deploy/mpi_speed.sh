#!/bin/bash
# MPI calls on Phoenix, Open MPI and MPICH, side by side. Needs a release build, mpicc.openmpi and mpicc.mpich.
#
#   deploy/mpi_speed.sh [local]                        two processes, then 8 and 24 on this machine
#   WANLAB=/path/to/wanlab deploy/mpi_speed.sh wide    24 ranks on an emulated wide-area network; as root
#
# PEERS    which of "phoenix phoenix-tcp ompi mpich" are measured, in this order; the last two over TCP,
#          with ompi-shared and mpich-shared also through memory
# BUILD    a release build [build/release]
# RANKS    [8 24]
# SIZES    of collective operations, in bytes [4 1024 16384 65536 1048576]; wide: [1 1024 65536 1048576 4194304]
# SECONDS_EACH   time for one figure [0.3]
# POLITE   a library that makes MPICH wait instead of poll when it finds nothing (bench/polite.so of wanlab)
# RANKS_OF wide: in which communicator: world [world]; copy, another one of all ranks; part, one of three of four
# ROUNDS, PAUSE_MS   wide: of each size [10], and before each [150]
set -e
here=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${BUILD:-$here/build/release}" && pwd)
export BUILD=$build
work=${MPI_SPEED_FOLDER:-$(mktemp -d)}
[ -n "$MPI_SPEED_FOLDER" ] || trap 'rm -rf "$work"' EXIT

# of NAME PROCESSES ARGUMENTS...: the program mpi_speed on one of the libraries. None is waited for over 100 s.
of() {
  local name=$1 count=$2
  shift 2
  local ompi=(timeout -k 2 100 mpirun.openmpi --allow-run-as-root -n "$count" --oversubscribe --bind-to none
    --mca pml ob1 --mca mpi_yield_when_idle 1)
  local mpich=(timeout -k 2 100 mpiexec.mpich -n "$count" -bind-to none)
  local patient=(env)
  if [ -n "$POLITE" ] && [ "$count" -gt 2 ]; then patient+=("LD_PRELOAD=$POLITE"); fi
  case $name in
    phoenix) "$build/bin/phoenix" mpirun -n "$count" --timeout 100 "$work/phoenix" "$@" ;;
    phoenix-tcp) "$build/bin/phoenix" mpirun -n "$count" --timeout 100 --tcp "$work/phoenix" "$@" ;;
    ompi) "${ompi[@]}" --mca btl tcp,self --mca btl_tcp_if_include lo "$work/openmpi" "$@" ;;
    ompi-shared) "${ompi[@]}" --mca btl vader,self "$work/openmpi" "$@" ;;
    mpich) UCX_TLS=tcp,self UCX_NET_DEVICES=lo MPIR_CVAR_NOLOCAL=1 "${mpich[@]}" "${patient[@]}" "$work/mpich" "$@" ;;
    mpich-shared) "${mpich[@]}" "${patient[@]}" "$work/mpich" "$@" ;;
  esac
}

measure_local() {
  "$build/bin/mpicc" -O2 -o "$work/phoenix" "$here/deploy/mpi_speed.c"
  mpicc.openmpi -O2 -o "$work/openmpi" "$here/deploy/mpi_speed.c"
  mpicc.mpich -O2 -o "$work/mpich" "$here/deploy/mpi_speed.c"
  local each=${SECONDS_EACH:-0.3} peers=${PEERS:-phoenix phoenix-tcp ompi mpich}
  local sizes=(${SIZES:-4 1024 16384 65536 1048576})
  "$work/openmpi" plain "$each" 1 1048576 67108864 | sed 's/^/plain /' >>"$work/figures"
  for peer in $peers; do
    of "$peer" 2 pair "$each" 1 1048576 67108864 | sed "s/^/$peer /" >>"$work/figures"
  done
  for ranks in ${RANKS:-8 24}; do
    for peer in $peers; do
      of "$peer" "$ranks" all "$each" "${sizes[@]}" 2>/dev/null | sed "s/^/$peer /" >>"$work/figures" || true
    done
  done
  # One line per operation, ranks and size; a column per library. Microseconds.
  awk -v peers="plain $peers" '
    $2 ~ /^[a-z]+$/ && NF == 5 && $5 + 0 > 0 { key = ($2 == "plain" ? "pair" : $2) " " $3 " " $4; if (!(key in seen)) { seen[key] = ++n; keys[n] = key } took[key, $1] = $5 }
    END {
      count = split(peers, names, " ")
      printf "%-10s %5s %9s", "OPERATION", "RANKS", "BYTES"
      for (i = 1; i <= count; ++i) printf " %13s", toupper(names[i])
      print "   (us)"
      for (k = 1; k <= n; ++k) {
        split(keys[k], part, " ")
        printf "%-10s %5s %9s", part[1], part[2], part[3]
        for (i = 1; i <= count; ++i) printf " %13s", ((keys[k], names[i]) in took) ? took[keys[k], names[i]] : "-"
        print ""
      }
    }' "$work/figures"
}

. "$here/deploy/wanlab_mesh.sh"

# Inside the laboratory: the mesh, and the program of the laboratory that times broadcasts until the last has it.
measure_phoenix() {
  mkdir "$work/mesh"
  begin_mesh "$build" "$work/mesh"
  inside mpirun --mesh wide -n "$WANLAB_N" "$work/phoenix" "$@"
  inside down --mesh wide
}

measure_wide() {
  for peer in ${PEERS:-phoenix ompi mpich}; do
    echo "== $peer, load $(cut -d' ' -f1 /proc/loadavg)"
    set -- both "${ROUNDS:-10}" "${PAUSE_MS:-150}" 12 ${SIZES:-1 1024 65536 1048576 4194304}
    case $peer in
      phoenix) measure_phoenix "$@" ;;
      # MPICH does not always end by itself.
      *) timeout -k 2 200 "$work/bench/mpi.sh" "$peer" polite bcast_bench "$@" 2>/dev/null || true ;;
    esac
  done
}

case ${1:-local} in
  local) measure_local ;;
  inside) measure_wide ;;
  wide)
    [ -x "$WANLAB/wanlab" ] || { echo "say where the emulator is: WANLAB=/path/to/wanlab $0 wide" >&2; exit 2; }
    cp -r "$WANLAB/bench" "$work/bench"
    case ${RANKS_OF:-world} in
      copy) color=0 ;;
      part) color='rank % 4 == 3 ? MPI_UNDEFINED : 0' ;;
    esac
    # Of those that are left out each meets the others at the end.
    [ -z "$color" ] || sed -i -e 's/MPI_COMM_WORLD/ranks/g' -e 's/^static double now/static MPI_Comm ranks;\n&/' \
      -e "s/MPI_Init(&argc, &argv);/& { int rank; MPI_Comm_rank(MPI_COMM_WORLD, \&rank); \
          MPI_Comm_split(MPI_COMM_WORLD, $color, 0, \&ranks); } if (ranks == MPI_COMM_NULL) { MPI_Finalize(); return 0; }/" \
      "$work/bench/bcast_bench.c"
    "$build/bin/mpicc" -O2 -o "$work/phoenix" "$work/bench/bcast_bench.c"
    mpicc.openmpi -O2 -o "$work/bench/bcast_bench.ompi" "$work/bench/bcast_bench.c"
    mpicc.mpich -O2 -o "$work/bench/bcast_bench.mpich" "$work/bench/bcast_bench.c"
    export MPI_SPEED_FOLDER=$work WANLAB
    "$WANLAB/wanlab" up "$WANLAB/topo/${TOPOLOGY:-agm6x4}" --lab mpispeed --timeout 900 -- "$here/deploy/mpi_speed.sh" inside ;;
  *) sed -n '2,7p' "$0" >&2; exit 2 ;;
esac
