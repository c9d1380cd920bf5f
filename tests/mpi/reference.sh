#!/bin/bash
# reference.sh [BUILD]: every program here over MPICH, as it is compiled there, and over Phoenix: that same
# binary, and what our wrapper makes of it. A check that MPICH does not pass is a wrong check.
# Needs libmpich-dev, mpich, gfortran. RANKS says how many processes.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../../build/dev}" && pwd)
ranks=${RANKS:-3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
run() {  # run COMMAND...: "yes" or "NO", and the seconds
  local begin=$EPOCHREALTIME answer=yes
  timeout 120 "$@" > "$work/out" 2>&1 < /dev/null || { answer=NO; failed=1; cp "$work/out" "$work/why"; }
  printf '%-4s %6.2f s  ' $answer "$(echo "$EPOCHREALTIME - $begin" | bc)"
}
printf '%-16s %-15s %-15s %s\n' "$ranks ranks" MPICH "its binary" "our binary"
for source in "$here"/*.c "$here"/*.f "$here"/*.f90; do
  name=$(basename "${source%.*}")
  compilers=(mpicc.mpich "$build/bin/mpicc")
  [[ $source == *.c ]] || compilers=(mpifort.mpich "$build/bin/mpifort")
  ${compilers[0]} -w -O1 -o "$work/theirs" "$source" -lm -lpthread &&
    ${compilers[1]} -w -O1 -o "$work/ours" "$source" -lm -lpthread || { failed=1; continue; }
  printf '%-16s ' "$name"
  run mpiexec.mpich -n "$ranks" "$work/theirs"
  run "$build/bin/phoenix" mpirun -n "$ranks" "$work/theirs"
  run "$build/bin/phoenix" mpirun -n "$ranks" "$work/ours"
  echo
done
[ $failed = 0 ] || { echo "the last that failed:"; head -20 "$work/why" 2> /dev/null; }
exit $failed
