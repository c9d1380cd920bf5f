#!/bin/bash
# packages.sh [BUILD [PATTERN]]: the programs of Debian's packages that are linked with MPICH's library,
# unmodified, over Phoenix: netpipe-mpich2, scalapack-mpi-test, as far as they are installed. Their own
# checks decide. PATTERN picks among the programs of ScaLAPACK; REFERENCE=1 runs them over MPICH too.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../../build/dev}" && pwd)
pattern=${2:-.}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
show() {  # show NAME RANKS COMMAND...: what its own checks say
  local name=$1 ranks=$2 begin=$EPOCHREALTIME code
  shift 2
  timeout 300 env LD_LIBRARY_PATH="$build/lib/phoenix-mpi" "$build/bin/phoenix" mpirun -n "$ranks" "$@" \
    > "$work/out" 2>&1 < /dev/null
  code=$?
  printf '%-14s %2d ranks  code %-3d %7.2f s  %s\n' "$name" "$ranks" $code \
    "$(echo "$EPOCHREALTIME - $begin" | bc)" "$(verdict "$work/out")"
  if [ $code != 0 ] || grep -qE ' FAILED|[1-9][0-9]* tests? completed and failed|SUSPECT' "$work/out"; then
    failed=1
    tail -5 "$work/out"
  fi
  [ -n "${REFERENCE:-}" ] || return
  begin=$EPOCHREALTIME
  timeout 300 mpiexec.mpich -n "$ranks" "$@" > "$work/out" 2>&1 < /dev/null
  printf '%-14s over MPICH code %-3d %7.2f s  %s\n' "" $? "$(echo "$EPOCHREALTIME - $begin" | bc)" \
    "$(verdict "$work/out")"
}
verdict() {  # what a program counts itself, else lines that say so
  local passed
  passed=$(sed -n 's/^ *\([0-9][0-9]*\) tests completed and passed.*/\1/p' "$1" | paste -sd+ | bc)
  if [ -n "$passed" ]; then
    echo "$passed passed, $(sed -n 's/^ *\([0-9]*\) tests completed and failed.*/\1/p' "$1" | paste -sd+ | bc) failed"
  else
    echo "$(grep -cE 'PASSED|passed' "$1") lines of passed, $(grep -cE 'FAILED|\*\*\*.*fail' "$1") of failed"
  fi
}

cd "$work" || exit 1
if command -v NPmpich2 > /dev/null; then
  show NPmpich2 2 NPmpich2 -u 1048576 -n 20 -i -o "$work/np"
fi
tests=/usr/lib/$(cc -print-multiarch)/scalapack/mpich-tests
if [ -d "$tests" ]; then
  cp -rL "$tests" "$work/scalapack"
  for folder in . PBLAS BLACS; do
    cd "$work/scalapack/$folder" || continue
    for program in *; do
      [ -x "$program" ] && [ ! -d "$program" ] && [[ $program =~ $pattern ]] || continue
      show "$program" 4 "./$program"
    done
  done
fi
exit $failed
