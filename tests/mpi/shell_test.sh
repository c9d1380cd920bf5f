#!/bin/bash
# shell_test.sh BIN [OPTION...]: (options for mpicc) MPI jobs among other commands of a shell: pipes whose readers go, and signals.
set -u
. "$(dirname "$0")/jobs.sh"
wrong() {  # wrong TEXT [FILE]...
  echo "$1"
  shift
  [ $# = 0 ] || cat "$@"
  failed=1
}
one_line() {  # one_line NAME CODE COMMAND...: what it ends with when its output is read no further than one line
  local name=$1 code=$2
  shift 2
  timeout 60 "$@" 2> err < /dev/null | head -1 > line
  local got=${PIPESTATUS[0]}
  [ $got = "$code" ] && [ -s line ] || wrong "$name: code $got instead of $code (124: it goes on), or no line:" line err
}

cat > lines.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {  /* lines N: so many; 0: for ever */
  const long most = argc > 1 ? atol(argv[1]) : 0;
  MPI_Init(&argc, &argv);
  for (long i = 0; most == 0 || i < most; ++i) printf("line %ld of a job that writes what nobody reads\n", i);
  MPI_Finalize();
  return 0;
}
C
"$bin/mpicc" "${options[@]}" -o lines lines.c || exit 1

for way in "" -l; do
  one_line "a job that writes for ever $way" 141 "$bin/mpiexec" $way -n 2 ./lines
  one_line "one that has much to write $way" 141 "$bin/mpiexec" $way -n 2 ./lines 100000
  one_line "no MPI $way" 141 "$bin/mpiexec" $way -n 2 yes
done
# Nobody reads, and nobody is gone: signals and the end of the time are heard, and said where somebody reads.
mkfifo unread
sleep 1000 < unread 9>&- &
reader=$!
exec 9> unread
unread() {  # unread NAME CODE SENTENCE COMMAND...
  local name=$1 code=$2 sentence=$3
  shift 3
  timeout -s KILL 60 "$@" > unread 2> err < /dev/null
  local got=$?
  [ $got = "$code" ] && grep -q "^phoenix: $sentence" err || wrong "$name: code $got instead of $code (137: it goes on), or not said:" err
}
for way in "" -l; do
  unread "--timeout where nobody reads $way" 124 "the time is up" "$bin/mpiexec" $way -n 2 --timeout 1 ./lines
  rm -f runs
  "$bin/mpiexec" $way -n 2 sh -c 'touch runs; exec ./lines' > unread 2> err < /dev/null &
  until [ -e runs ]; do sleep 0.05; done
  kill -TERM $!
  wait $!
  got=$?
  [ $got = 143 ] && grep -q "^phoenix: interrupted" err || wrong "a signal where nobody reads $way: code $got, or not said:" err
done
unread "--timeout when all have ended" 124 "the time is up" "$bin/mpiexec" -l -n 2 --timeout 2 sh -c 'echo a line'
kill $reader
exec 9>&-
# A pipe within a rank is its own.
timeout 60 "$bin/mpiexec" -n 1 sh -c 'yes | head -1' > out 2>&1 && [ "$(cat out)" = y ] || wrong "a pipe within a rank:" out
# Whoever starts us may ignore signals.
(trap '' PIPE XFSZ; one_line "where the signal is ignored" 141 "$bin/mpiexec" -n 2 ./lines; exit $failed) || failed=1

# Some have called MPI_Init, and others have ended and will not; in both orders.
sentence='without having called MPI_Init, as others of the job have$'
without() {  # without RANK COMMAND...
  local rank=$1
  shift
  timeout 60 "$@" > out 2>&1 < /dev/null
  local code=$?
  [ $code = 1 ] && grep -q "^phoenix: rank $rank ended with exit code 0 $sentence" out || wrong "no MPI_Init of rank $rank: code $code" out
}
for way in "" --tcp; do
  without 1 "$bin/mpiexec" $way -n 1 ./lines 1 : -n 1 true
  without 0 "$bin/mpiexec" $way -n 1 true : -n 2 ./lines 1
  rm -f called
  without 1 "$bin/mpiexec" $way -n 1 sh -c 'touch called; exec ./lines 1' : -n 1 sh -c 'until [ -e called ]; do sleep 0.1; done; sleep 0.5'
done
# A rank that begins late, when the other one has ended: it hears of it all the same.
rm -f over
mkfifo over
without 1 "$bin/mpiexec" -n 1 sh -c 'read -r line < over; exec ./lines 1' : -n 1 sh -c 'echo > over'
timeout 60 "$bin/mpiexec" -n 4 true > out 2>&1 && [ ! -s out ] || wrong "no rank has called MPI_Init:" out

# Signals that are the program's own.
cat > signals.c <<'C'
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile sig_atomic_t first, second;
static void take(int number) { number == SIGUSR1 ? (first = 1) : (second = 1); }
int main(int argc, char** argv) {
  int rank;
  signal(SIGUSR1, take);
  signal(SIGUSR2, take);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("rank %d is here\n", rank);
  fflush(stdout);
  while (!first || !second) usleep(10000);
  MPI_Barrier(MPI_COMM_WORLD);
  printf("rank %d has had both\n", rank);
  MPI_Finalize();
  return 0;
}
C
"$bin/mpicc" "${options[@]}" -o signals signals.c || exit 1
passes_on() {  # passes_on OPTION...: of mpirun, with 3 ranks
  rm -f out  # what was said before is no sign that these ranks are here
  timeout 60 "$bin/phoenix" mpirun "$@" -n 3 ./signals > out 2>&1 < /dev/null &
  local limit=$! tool
  for ((i = 0; i < 1200; ++i)); do
    [ "$(grep -sc 'is here' out)" = 3 ] && break
    sleep 0.05
  done
  tool=$(pgrep -P $limit)
  kill -USR1 $tool
  kill -USR2 $tool
  wait $limit && [ "$(grep -c 'has had both' out)" = 3 ] || wrong "SIGUSR1 and SIGUSR2 of mpirun $*:" out
}
passes_on
passes_on --tcp
"$bin/phoenix" up -q --mesh lab --local 3 || failed=1
passes_on --mesh lab
"$bin/phoenix" down --mesh lab > /dev/null || failed=1

# Under nohup, or put aside by a shell: what is ignored does not end the job.
ignores() {  # ignores SIGNAL...
  rm -f out over
  (trap '' "$@"; exec "$bin/phoenix" mpirun --timeout 60 -n 2 sh -c 'echo begun; until [ -e over ]; do sleep 0.05; done') > out 2>&1 < /dev/null &
  local tool=$! signal
  for ((i = 0; i < 1200; ++i)); do
    [ "$(grep -sc begun out)" = 2 ] && break
    sleep 0.05
  done
  for signal; do kill -"$signal" $tool; done
  sleep 0.5  # One that is taken would have ended it.
  touch over
  wait $tool || wrong "mpirun that ignores $*:" out
}
ignores HUP INT

# More descriptors than the limit allows that a rank is to have.
(ulimit -S -n 40; timeout 60 "$bin/phoenix" mpirun -l -n 30 sh -c 'ulimit -S -n') > out 2>&1 < /dev/null || wrong "30 ranks with 40 files:" out
[ "$(grep -c '^\[[0-9]*\] 40$' out)" = 30 ] || wrong "the limit of each rank:" out

# Lines with bytes of zero are written as they are.
timeout 60 "$bin/mpiexec" -l -n 1 printf 'a\0b\n' > out 2> err
printf '[0] a\0b\n' | cmp -s - out || wrong "a byte of zero in a line:" out err

# A program of another MPI, whose processes are each alone: any program with such a name in it.
cp "$(type -P true)" other && printf '\0libmpi.so.40\0' >> other
timeout 60 "$bin/mpiexec" -n 2 ./other > out 2>&1
[ $? = 1 ] && grep -q 'linked with another MPI (libmpi.so.40)' out || wrong "two of another MPI:" out
timeout 60 "$bin/mpiexec" -n 1 ./other > out 2>&1 || wrong "one of another MPI:" out
exit $failed
