#!/bin/sh
# Whoever is killed, and with what signal: nothing goes on running that nobody wants any more.
. "$(dirname "$0")/lib.sh"

cd "$work" || exit 1
# A program of our own name, so that nobody else's process is taken for it.
cp "$(command -v sleep)" drowse
# How many of them run; their keepers and shells only mention it.
drowsing() { pgrep -c -f "^$work/drowse" || true; }
are_drowsing() { [ "$(drowsing)" -eq "$1" ]; }

# The tool of a private mesh.
# Numbers that no other test uses, which may run the same programs at the same time.
for verb in "run -n 4 -- $demos/heat --steps 123457" "demo elastic --seconds 1234.5 --output $work"; do
  # shellcheck disable=SC2086
  "$phoenix" $verb >"$work/private.out" 2>&1 &
  tool=$!
  await "the private mesh runs its job" pgrep -f "^$demos/(heat --steps 123457|elastic --seconds 1234.5)"
  kill -9 "$tool"
  await "no daemon is left of $verb" no_daemon
  await "no process is left of $verb" sh -c "! pgrep -f '^$demos/(heat --steps 123457|elastic --seconds 1234.5)'"
  await "no folder is left of $verb" sh -c "! ls $PHOENIX_DIR 2>/dev/null | grep -q ."
done

# One was added, and knows nothing of the tool.
"$phoenix" run -n 4 -- "$demos/heat" --steps 123457 >private.out 2>&1 &
tool=$!
await "the private mesh runs its job" pgrep -f "^$demos/heat --steps 123457"
check "one is added" "$phoenix" add --local 1 -q --mesh "run-$tool"
kill -9 "$tool"
await "no daemon is left, nor that one" no_daemon
wait "$tool"  # until then it is there
check "no mesh is listed" says "no mesh of yours" "$phoenix" list
check "nor is its folder there" sh -c "! ls $PHOENIX_DIR 2>/dev/null | grep -q run-"
check "nobody else calls a mesh so" fails_with "take another name" "$phoenix" up --local 1 --mesh run-1

# The tool of an MPI job, whose ranks have started others: killed, ended, and its worker killed.
printf '#!/bin/sh\n%s/drowse 1000\ntrue\n' "$work" >ranks
chmod +x ranks
for signal in KILL TERM; do
  "$phoenix" mpirun -n 3 ./ranks >mpirun.out 2>&1 &
  tool=$!
  await "three ranks run" are_drowsing 3
  kill -$signal "$tool"
  await "nothing is left of mpirun after SIG$signal" are_drowsing 0
  await "nor its folder" sh -c "! ls $PHOENIX_DIR 2>/dev/null | grep -q ."
  wait "$tool"
done
"$phoenix" mpirun -n 3 ./ranks >mpirun.out 2>&1 &
tool=$!
await "three ranks run" are_drowsing 3
kill -KILL "$(pgrep -P "$tool")"
check "the tool says so" ends_with 137 wait "$tool"
check "and nothing is left" are_drowsing 0
check "no folder either" sh -c "! ls $PHOENIX_DIR 2>/dev/null | grep -q ."

# A tool that was killed before there was a key; what is young may belong to one that only begins.
mkdir -p -m 700 "$PHOENIX_DIR/run-123456" "$PHOENIX_DIR/mpirun-123456"
touch "$PHOENIX_DIR/run-123456/maker" "$PHOENIX_DIR/run-123456/starter-123456"
touch -d "2 minutes ago" "$PHOENIX_DIR/run-123456"
check "no mesh is listed" says "no mesh of yours" "$phoenix" list
check "its folder goes" test ! -e "$PHOENIX_DIR/run-123456"
check "a young one stays" rmdir "$PHOENIX_DIR/mpirun-123456"

check "a mesh starts" "$phoenix" up --local 2 -q
# What a job leaves behind, in its own session.
check "a job ends" "$phoenix" run -n 1 --on 1 -- sh -c "setsid $work/drowse 1000 & exit 0"
check "and what it had started" are_drowsing 0
"$phoenix" run -n 1 --on 1 -- sh -c "setsid $work/drowse 1000 & $work/drowse 1001; true" >kill.out 2>&1 &
job=$!
await "a job runs that started two" are_drowsing 2
check "it is ended" "$phoenix" kill "$("$phoenix" ps | sed -n 's/^\(j[0-9]*\) .*/\1/p')"
wait "$job"
await "and what it had started" are_drowsing 0

# The daemon.
"$phoenix" run -n 1 --on 1 -- sh -c "setsid $work/drowse 1000 & $work/drowse 1001; true" >kill.out 2>&1 &
job=$!
await "a job runs that started two" are_drowsing 2
kill -9 "$(process_of 1)" "$(process_of 2)"
await "nothing is left when the daemons are killed" are_drowsing 0
wait "$job"
check "and the job's tool says so" test $? -ne 0
check "the mesh ends" "$phoenix" down
await "no daemon is left" no_daemon
check "its key is gone with it" test ! -e "$PHOENIX_DIR/default"

# A key that somebody else has put there is theirs.
mkdir -m 700 "$PHOENIX_DIR/lab"
(umask 077 && head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$PHOENIX_DIR/lab/key")
"$bin/phoenixd" --mesh-dir "$PHOENIX_DIR/lab" --log-level error &
daemon=$!
answers() { "$phoenix" status --mesh lab >/dev/null 2>&1; }
await "a daemon runs that was started by hand" answers
check "its mesh ends" "$phoenix" down --mesh lab
check "and the daemon" wait "$daemon"
check "nothing is left but the key" test "$(ls "$PHOENIX_DIR/lab")" = key
mv "$PHOENIX_DIR/lab" "$PHOENIX_DIR/default"
check "beside a key without a mesh a job has a mesh of its own" says "^here" "$phoenix" run -n 1 --no-tags -- echo here
check "and the key is there still" test "$(ls "$PHOENIX_DIR/default")" = key
all_done
