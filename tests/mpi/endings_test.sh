#!/bin/bash
# endings_test.sh BIN [OPTION...]: (options for mpicc) how MPI jobs end, what mpirun passes on, and that CMake finds mpicc.
set -u
. "$(dirname "$0")/jobs.sh"
expect() {  # expect NAME CODE PATTERN COMMAND...: the exit code, and a line of what it writes
  local name=$1 code=$2 pattern=$3
  shift 3
  timeout 50 "$@" > out 2>&1 < /dev/null  # on the mesh lab less than its --peer-timeout
  local got=$?
  if [ $got != "$code" ] || ! grep -q -e "$pattern" out; then
    echo "$name: code $got instead of $code (124: too slow), or no line with '$pattern':"
    cat out
    failed=1
  fi
}
none_left() {  # none_left PATTERN: processes that have been killed may need a moment
  for ((i = 0; i < 200; ++i)); do
    pgrep -f "$1" > /dev/null || return 0
    sleep 0.05
  done
  echo "processes are left behind:"
  pgrep -af "$1"
  failed=1
}
cp "$(command -v sleep)" idle  # a name that only this test has

cat > end.c <<'C'
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int sums(MPI_Comm comm) {  /* with results known; lengths up to many pieces */
  static int out[300000], in[300000];
  int rank, size, wrong = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int round = 0; round < 12; ++round) {
    const int root = round % size, count = round % 4 == 3 ? 300000 : round * 20;
    for (int i = 0; i < count; ++i) out[i] = rank == root ? i + round : -1;
    MPI_Bcast(out, count, MPI_INT, root, comm);
    for (int i = 0; i < count; ++i) wrong += out[i] != i + round;
    for (int i = 0; i < count; ++i) out[i] = i * (rank + 1);
    MPI_Reduce(out, in, count, MPI_INT, MPI_SUM, root, comm);
    for (int i = 0; i < count && rank == root; ++i) wrong += in[i] != i * size * (size + 1) / 2;
    MPI_Barrier(comm);
    MPI_Allreduce(MPI_IN_PLACE, out, count, MPI_INT, MPI_MAX, comm);
    for (int i = 0; i < count; ++i) wrong += out[i] != i * size;
    MPI_Allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, comm);
    for (int i = 0; i < size; ++i) wrong += in[i] != i;
  }
  return wrong;
}
int main(int argc, char** argv) {
  int rank, size, number = 0;
  const char* how = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (!strcmp(how, "input") && rank == 0 && scanf("%d", &number) == 1) printf("read %d\n", number);
  if (!strcmp(how, "name")) printf("%s is %d of %d\n", argv[2], rank, size);
  if (!strcmp(how, "which")) {
    int *program, found;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &program, &found);
    printf("%d is of program %d\n", rank, found ? *program : -1);
  }
  if (rank == 1 && !strcmp(how, "abort")) {
    printf("what rank 1 found\n");
    MPI_Abort(MPI_COMM_WORLD, argc > 2 ? atoi(argv[2]) : 7);
  }
  if (!strcmp(how, "until")) {  /* until FILE: this is there */
    printf("rank %d is here\n", rank);
    fflush(stdout);
    while (access(argv[2], F_OK) != 0) usleep(10000);
  }
  if (!strcmp(how, "after")) {
    MPI_Finalize();
    if (rank == 0) MPI_Barrier(MPI_COMM_WORLD);
    sleep(5);
    return 0;
  }
  if (rank == 1 && !strcmp(how, "kill")) raise(SIGKILL);
  if (rank == 1 && !strcmp(how, "leave")) _exit(0);
  if (!strcmp(how, "sums")) {  /* of all, and of parts with other orders of ranks */
    MPI_Comm part[3] = {MPI_COMM_WORLD};
    int wrong = 0;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part[1]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &part[2]);
    for (int i = 0; i < 3; ++i) wrong += sums(part[i]);
    if (wrong != 0) MPI_Abort(MPI_COMM_WORLD, 9);
    printf("rank %d has all sums\n", rank);
  }
  if (!strcmp(how, "storm")) {  /* storm WHO WHEN: dies in the middle of collective operations */
    static int out[65536], in[65536];
    for (int i = 0;; ++i) {
      if (rank == atoi(argv[2]) && i == atoi(argv[3])) kill(getpid(), SIGKILL);
      MPI_Bcast(out, i % 5 * 16000, MPI_INT, i % size, MPI_COMM_WORLD);
      MPI_Allreduce(out, in, i % 3 * 20000 + 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
      MPI_Alltoall(out, i % 2 * 8000, MPI_INT, in, i % 2 * 8000, MPI_INT, MPI_COMM_WORLD);
    }
  }
  if (!strcmp(how, "halt")) {  /* halt FILE: rank 1 stops itself, when all have had to do with all */
    int wrong = sums(MPI_COMM_WORLD);
    if (rank == 1) {
      FILE* file = fopen(argv[2], "w");
      fprintf(file, "%d\n", (int)getpid());
      fclose(file);
      raise(SIGSTOP);
    }
    wrong += sums(MPI_COMM_WORLD);
    printf("rank %d went on, %d wrong\n", rank, wrong);
  }
  if (rank == 1 && !strcmp(how, "error")) MPI_Send(&number, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
  if (!strcmp(how, "differ")) {
    rank == 0 ? MPI_Barrier(MPI_COMM_WORLD) : MPI_Allreduce(&rank, &number, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  if (rank == 0 && !strcmp(how, "stuck"))
    MPI_Recv(&number, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 2 && !strcmp(how, "stuck")) {
    MPI_Comm alone;
    MPI_Comm_dup(MPI_COMM_SELF, &alone);
    MPI_Comm_set_name(alone, "alone");
    MPI_Probe(MPI_ANY_SOURCE, 5, alone, MPI_STATUS_IGNORE);
  }
  if (!strcmp(how, "wait") || (size > 2 && strcmp(how, "input") && strcmp(how, "name") && strcmp(how, "stuck") && strcmp(how, "halt") &&
                                strcmp(how, "sums") && strcmp(how, "which"))) {
    system(IDLE " 1000 &");
    MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  if (!strcmp(how, "late")) {  /* what it does now is its own business */
    if (rank == 1) return 9;
    usleep(500000);
    printf("rank %d has written\n", rank);
  }
  return 0;
}
C
"$bin/mpicc" "${options[@]}" -DIDLE="\"$work/idle\"" -o end end.c || exit 1

# Ranks that wait for each other: seen after 11 s, while all else goes on.
stuck=()
for way in "" --tcp; do
  mkdir -m 700 "$work/stuck$way"
  PHOENIX_DIR=$work/stuck$way "$bin/phoenix" mpirun $way -n 3 ./end stuck > "stuck$way.out" 2>&1 &
  stuck+=($!)
done

# A launcher that is killed: its daemons elsewhere are told by nobody.
printf '#!/bin/sh\nshift\nexec sh -c "$*"\n' > shell && chmod +x shell  # every machine is this one
mkdir -m 700 "$work/forsaken"
PHOENIX_DIR=$work/forsaken "$bin/phoenix" mpirun --hosts one:2 --remote-shell "$work/shell" ./end until never > forsaken.out 2>&1 &
forsaken=$!
for ((i = 0; i < 1200; ++i)); do
  [ "$(grep -c 'is here' forsaken.out)" = 2 ] && break
  sleep 0.05
done
pgrep -f "phoenixd.*--mesh.*mpirun-$forsaken" > /dev/null || { echo "not seen: the daemons of a launcher"; cat forsaken.out; failed=1; }
kill -KILL $forsaken

# A rank that is stopped, for longer than daemons of a mesh may be silent.
halted=()
for way in "" --tcp; do
  mkdir -m 700 "$work/halted$way"
  PHOENIX_DIR=$work/halted$way timeout 100 "$bin/phoenix" mpirun $way -n 3 ./end halt "pid$way" > "halted$way.out" 2>&1 &
  halted+=($!)
done

expect abort 7 'rank 1 aborted the job' "$bin/phoenix" mpirun -n 3 ./end abort
expect killed 137 'rank 1 .*signal 9' "$bin/phoenix" mpirun -n 3 ./end kill
for who in 0 2 5; do
  for when in 0 $((RANDOM % 40 + 1)); do
    expect "killed $who at $when" 137 "rank $who .*signal 9" "$bin/phoenix" mpirun -n 6 ./end storm $who $when
  done
done
expect "killed, over TCP" 137 'rank 3 .*signal 9' "$bin/phoenix" mpirun --tcp -n 6 ./end storm 3 9
expect left 1 'rank 1 ended without MPI_Finalize' "$bin/phoenix" mpirun -n 3 ./end leave
expect "failed when all is done" 9 'rank 0 has written' "$bin/phoenix" mpirun -n 2 ./end late
expect "a code below 0" 255 'rank 1 aborted the job' "$bin/phoenix" mpirun -n 2 ./end abort -1
expect "called after the end" 15 'rank 0 aborted the job: MPI_Barrier: called after MPI_Finalize' "$bin/phoenix" mpirun -n 3 ./end after
[ "$(wc -l < out)" = 1 ] || { echo "what we ended is told:"; cat out; failed=1; }
for launcher in OMPI_COMM_WORLD PMI PMIX; do
  expect "started by another launcher" 0 '^phoenix: .* has started this program.*`phoenix mpirun`$' env ${launcher}_RANK=1 ./end name a
  grep -q '^a is 0 of 1$' out || { echo "it does not go on"; failed=1; }
  expect "said once" 0 '^a is 0 of 1$' env ${launcher}_RANK=0 ./end name a
  [ "$(wc -l < out)" = 1 ] || { echo "said more than once:"; cat out; failed=1; }
done
expect "started by ours within another" 0 '^a is 1 of 2$' env PMI_RANK=1 "$bin/phoenix" mpirun -n 2 ./end name a
[ "$(wc -l < out)" = 2 ] || { echo "said in vain:"; cat out; failed=1; }
expect "different operations" 35 'MPI_\(Barrier: rank 1 is in MPI_Allreduce\|Allreduce: rank 0 is in MPI_Barrier\): the ranks are in different' "$bin/phoenix" mpirun -n 2 ./end differ
expect error 6 'MPI_Send.*MPI_ERR_RANK' "$bin/phoenix" mpirun -n 3 ./end error
expect sums 0 'rank 4 has all sums' "$bin/phoenix" mpirun -n 5 ./end sums
expect "sums over TCP" 0 'rank 2 has all sums' "$bin/phoenix" mpirun --tcp -n 5 ./end sums
"$bin/phoenix" up -q --mesh lab --local 3 --daemon-option=--peer-timeout=60 || failed=1
cat > amid.c <<'C'
#include <mpi.h>
static void end(void* in, void* inout, int* count, MPI_Datatype* type) { MPI_Abort(MPI_COMM_WORLD, 7); }
int main(int argc, char** argv) {
  int one = 1, all;
  MPI_Op op;
  MPI_Init(&argc, &argv);
  MPI_Op_create(end, 1, &op);
  MPI_Allreduce(&one, &all, 1, MPI_INT, op, MPI_COMM_WORLD);
  return MPI_Finalize();
}
C
"$bin/mpicc" "${options[@]}" -o amid amid.c || exit 1
for mesh in "" "--mesh lab"; do
  expect "an abort within a reduction $mesh" 7 'MPI_Abort' "$bin/phoenix" mpirun $mesh -n 3 ./amid
done
expect "sums on a mesh" 0 'rank 2 has all sums' "$bin/phoenix" mpirun --mesh lab -n 3 ./end sums
if [ ${#options[@]} = 0 ] && command -v mpicc.mpich > /dev/null; then
  mpicc.mpich "-DIDLE=\"$work/idle\"" -o end_mpich end.c  # finds our library, and not the one that it was linked with
  expect "linked with MPICH" 0 'rank 2 has all sums' "$bin/phoenix" mpirun -n 3 ./end_mpich sums
  expect "the same on a mesh" 0 'rank 2 has all sums' "$bin/phoenix" mpirun --mesh lab -n 3 ./end_mpich sums
  expect "and of several programs" 0 '1 is of program 1' "$bin/phoenix" mpirun --mesh lab -x LD_LIBRARY_PATH=/nowhere \
    -n 1 ./end_mpich which : -n 2 ./end_mpich which
fi
expect "several on a mesh" 0 'b c is 2 of 3' "$bin/phoenix" mpirun --mesh lab -n 2 ./end name a : -n 1 ./end name "b c"
expect "which on a mesh" 0 '1 is of program 1' "$bin/phoenix" mpirun --mesh lab -n 1 ./end which : -n 2 ./end which
expect "several differ" 0 '^yes /tmp 2$' "$bin/phoenix" mpirun --mesh lab -n 1 ./end name a : -n 1 ./end name a \
  : -env ANSWER yes -wdir /tmp sh -c 'echo $ANSWER $(pwd) $PHOENIX_FIRST_VNODE; exec "$0" name x' "$work/end"
expect "one of several is missing" 127 'nowhere' "$bin/phoenix" mpirun --mesh lab -n 2 ./end name a : ./nowhere
expect "too many" 1 'the mesh has too few processors: 4 ranks take one each, and there are [0-9]; phoenix add' "$bin/phoenix" mpirun --mesh lab -n 2 ./end name a : -n 2 ./end name b
for who in 0 1 2; do
  expect "killed on a mesh" 137 "rank $who at p.* was killed by SIGKILL (signal 9)$" "$bin/phoenix" mpirun --mesh lab -n 3 ./end storm $who 3
  none_left "$work/end storm"
done
expect "aborted on a mesh" 7 'rank 1 at p.* asked for the end' "$bin/phoenix" mpirun --mesh lab -n 3 ./end abort
expect "written before an abort" 7 'what rank 1 found' "$bin/phoenix" mpirun --mesh lab -n 3 ./end abort
timeout 20 "$bin/phoenix" mpirun --mesh lab -n 2 ./end until go > ranks 2>&1 &
ranks=$!
for ((i = 0; i < 200; ++i)); do
  [ "$(grep -c 'is here' ranks)" = 2 ] && break
  sleep 0.05
done
expect "drained with a rank" 1 'rank 1 to end, which stays where it is' "$bin/phoenix" drain --mesh lab --timeout 1 p2
touch go
wait $ranks || { echo "the ranks of a drained processor failed"; cat ranks; failed=1; }
if [ "$(grep -c 'is here' ranks)" != 2 ]; then echo "a rank was started twice"; cat ranks; failed=1; fi
"$bin/phoenix" down --mesh lab > /dev/null || failed=1
printf 'one slots=2 listen=127.0.0.1:0\ntwo:1 listen=127.0.0.1:0\n' > hosts
expect "on hosts" 0 'rank 2 has all sums' "$bin/phoenix" mpirun --hostfile hosts --remote-shell "$work/shell" ./end sums
expect "on this machine, without a shell for others" 0 'rank 1 has all sums' "$bin/phoenix" mpirun --hosts localhost:2 ./end sums
expect "on a host twice" 0 'rank 3 has all sums' "$bin/phoenix" mpirun -n 4 -f hosts --remote-shell "$work/shell" ./end sums
expect "several on hosts" 0 'b is 2 of 3' "$bin/phoenix" mpirun -f hosts --remote-shell "$work/shell" ./end name a : -n 2 ./end name b
expect "killed on hosts" 137 'rank 0 at p.* was killed by SIGKILL (signal 9)$' "$bin/phoenix" mpirun -f hosts --remote-shell "$work/shell" ./end storm 0 3
expect "no host" 2 "'-x' is no name of a machine" "$bin/phoenix" mpirun --hosts a,-x ./end sums
printf '#!/bin/sh\n[ "$1" = nowhere ] && { echo "no such host" >&2; exit 255; }\nshift\nexec sh -c "$*"\n' > shell
expect "a host that fails" 1 'the daemon on nowhere did not start: no such host (.* daemons started[^;]*)$' \
  "$bin/phoenix" mpirun --hosts one:2,nowhere --remote-shell "$work/shell" ./end sums
if [ -n "$(ls "$work/meshes")" ]; then
  echo "a mesh is left behind:"
  find "$work/meshes"
  failed=1
fi
expect help 0 'Usage: phoenix mpirun' "$bin/phoenix" mpirun --help
expect version 0 '^mpirun (Phoenix) [0-9]' "$bin/mpirun" --version
expect "no number" 2 '4x is no number of processes' "$bin/phoenix" mpirun -n 4x ./end
expect "no time" 2 'soon is no number of seconds' "$bin/phoenix" mpirun --timeout soon ./end
expect timeout 124 'the time is up' "$bin/phoenix" mpirun -n 3 --timeout 1 ./end wait
expect "timeout of others" 124 'the time is up' env MPIEXEC_TIMEOUT=1 "$bin/mpiexec" -n 2 ./end wait
expect "options of others" 0 'a is 1 of 2' "$bin/mpirun" --bind-to none --mca btl tcp,self -ppn 2 -q -n 2 ./end name a
expect "no option" 2 'there is no option --what' "$bin/mpirun" --what -n 2 ./end name a
expect several 0 'b is 2 of 3' "$bin/mpiexec" -n 2 ./end name a : -n 1 ./end name b
expect "which of several" 0 '2 is of program 1' "$bin/mpiexec" -n 2 ./end which : -n 1 ./end which
expect "no options" 0 'a is 0 of 1' "$bin/mpiexec" -- ./end name a
expect "the end of options" 0 'b is 1 of 2' "$bin/mpiexec" -n 1 -- ./end name a : -n 1 -- ./end name b
expect "no timeout" 0 'a is 0 of 1' env MPIEXEC_TIMEOUT= "$bin/mpiexec" ./end name a
expect "a timeout of none" 0 'a is 0 of 1' env MPIEXEC_TIMEOUT=0 "$bin/mpiexec" ./end name a
expect "a setting of the first" 0 '^0 one$' "$bin/mpiexec" -x A=one -n 1 sh -c 'echo 0 $A' : -x A=two -n 1 sh -c 'echo 1 $A'
grep -q '^1 two$' out || { echo "a setting of the second:"; cat out; failed=1; }
expect "a setting of all" 0 '^1 one$' "$bin/mpiexec" -x A=one -n 1 sh -c 'echo 0 $A' : -n 1 sh -c 'echo 1 $A'
expect "other machines" 2 'said once, .* --hosts a,b$' "$bin/mpiexec" --hosts a -n 1 ./end name a : --hosts b -n 1 ./end name b
expect tagged 0 '^\[1\] a is 1 of 2' "$bin/mpiexec" -l -np 2 ./end name a
expect environment 0 'yes-1' "$bin/mpiexec" -n 2 -genv ANSWER yes sh -c 'echo $ANSWER-$PHOENIX_MPI_RANK'
expect "environment by name" 0 'yes-1' env ANSWER=yes "$bin/mpiexec" -n 2 -genvlist ANSWER,HOME sh -c 'echo $ANSWER-$PHOENIX_MPI_RANK'
expect folder 0 '^/tmp$' "$bin/mpiexec" -n 1 -wdir /tmp pwd
expect missing 127 'cannot start ./nowhere' "$bin/mpiexec" -n 2 ./nowhere
expect "a bare name" 127 'cannot start end: No such file or directory; here is ./end' "$bin/mpiexec" -n 2 end sums
mkfifo pipe && chmod +x pipe
expect "a pipe is no program" 126 'cannot start ./pipe' "$bin/mpiexec" -n 2 ./pipe
printf '\0libmpi.so.40\0' > other
expect "another MPI" 126 'other is linked with another MPI (libmpi.so.40)' "$bin/mpiexec" -n 2 ./other
echo 4711 | timeout 20 "$bin/mpiexec" -n 2 ./end input | grep -q 'read 4711' || { echo "no input"; failed=1; }
none_left "$work/idle"

for way in "" --tcp; do
  for line in 'nothing has happened for 10 s' 'rank 0 waits in MPI_Recv (a message of rank 1 with tag 7)$' \
    'rank 1 waits in MPI_Finalize (rank ' "rank 2 waits in MPI_Probe on 'alone' (a message of any rank with tag 5)\$"; do
    for ((i = 0; i < 1200; ++i)); do
      grep -q -e "$line" "stuck$way.out" && break
      sleep 0.05
    done
    grep -q -e "$line" "stuck$way.out" || { echo "stuck $way: not '$line' but"; cat "stuck$way.out"; failed=1; }
  done
done
for ((i = 0; i < 2; ++i)); do
  way=$([ $i = 0 ] || echo --tcp)
  for ((j = 0; j < 1200; ++j)); do
    grep -q 'rank 1 is stopped' "halted$way.out" && break
    sleep 0.05
  done
  kill -CONT "$(cat "pid$way")"
  wait "${halted[$i]}" && [ "$(grep -c 'went on, 0 wrong' "halted$way.out")" = 3 ] &&
    grep -q 'rank 1 is stopped' "halted$way.out" ||
    { echo "halted $way: it is not told, or not all go on:"; cat "halted$way.out"; failed=1; }
done
kill "${stuck[@]}"
wait "${stuck[@]}"
for way in "" --tcp; do
  [ "$(sed '1,/^phoenix: interrupted$/d' "stuck$way.out" | grep -c 'waits in')" = 3 ] ||
    { echo "stuck $way: who waits is not told at the end"; cat "stuck$way.out"; failed=1; }
done

for ((i = 0; i < 1200; ++i)); do
  pgrep -f "phoenixd.*--mesh.*mpirun-$forsaken" > /dev/null || break
  sleep 0.1
done
none_left "phoenixd.*--mesh.*mpirun-$forsaken"

"$bin/mpicc" -show x.c | grep -q -- '-lphoenix-mpi' || { echo "-show"; failed=1; }
"$bin/mpicc" -compile_info -c x.c | grep -q -- '-I' || { echo "-compile_info"; failed=1; }
cat > CMakeLists.txt <<'C'
cmake_minimum_required(VERSION 3.25)
project(consumer C)
find_package(MPI REQUIRED COMPONENTS C)
add_executable(consumer end.c)
target_compile_definitions(consumer PRIVATE IDLE="true")
target_link_libraries(consumer MPI::MPI_C)
C
cmake -S . -B made -DMPI_C_COMPILER="$bin/mpicc" > cmake.log 2>&1 && cmake --build made >> cmake.log 2>&1 ||
  { cat cmake.log; failed=1; }
expect found 0 'c is 1 of 2' "$bin/mpiexec" -n 2 made/consumer name c
exit $failed
