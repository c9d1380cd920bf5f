#!/bin/bash
# packages.sh [BUILD [PATTERN]]: the programs of Debian's packages that are linked with MPICH's library,
# unmodified, over Phoenix: netpipe-mpich2, scalapack-mpi-test, yorick-mpy-mpich2; those that are not
# installed are named. Their own checks decide. PATTERN picks among the programs of ScaLAPACK; REFERENCE=1 runs
# all over MPICH too.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../../build/dev}" && pwd)
pattern=${2:-.}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
input=/dev/null
show() {  # show NAME RANKS COMMAND...: what its own checks say
  local name=$1 ranks=$2 begin=$EPOCHREALTIME code
  shift 2
  timeout 300 "$build/bin/phoenix" mpirun -n "$ranks" "$@" \
    > "$work/out" 2>&1 < "$input"
  code=$?
  printf '%-14s %2d ranks  code %-3d %7.2f s  %s\n' "$name" "$ranks" $code \
    "$(echo "$EPOCHREALTIME - $begin" | bc)" "$(verdict "$work/out")"
  if [ $code != 0 ] || grep -qE ' FAILED|[1-9][0-9]* tests? completed and failed|SUSPECT' "$work/out"; then
    failed=1
    tail -5 "$work/out"
  fi
  [ -n "${REFERENCE:-}" ] || return
  begin=$EPOCHREALTIME
  timeout 300 mpiexec.mpich -n "$ranks" "$@" > "$work/out" 2>&1 < "$input"
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
else
  echo "netpipe-mpich2 is not installed"
fi
suite=/usr/share/doc/yorick-mpy-common/examples/testmp.i.gz
if command -v mpy.mpich2 > /dev/null && [ -e "$suite" ]; then
  zcat "$suite" > testmp.i
  printf 'include, "testmp.i"\nmp_include, "testmp.i"\ntestmp\nquit\n' > "$work/input"
  input=$work/input
  show mpy.mpich2 3 mpy.mpich2 -q
  grep -q 'testmp3 passed on all 3 ranks' "$work/out" && [ "$(grep -c 'nerrors=0' "$work/out")" = 3 ] ||
    { failed=1; cat "$work/out"; }
  input=/dev/null
else
  echo "yorick-mpy-mpich2 is not installed"
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
else
  echo "scalapack-mpi-test is not installed"
fi
exit $failed
