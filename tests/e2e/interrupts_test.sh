#!/bin/sh
# Ctrl-C at whatever moment leaves a mesh that can be asked and ended, or none; and no process.
. "$(dirname "$0")/lib.sh"

cd "$work" || exit 1
# interrupted AFTER COMMAND...: runs it, and interrupts it after so many seconds.
interrupted() {
  after=$1
  shift
  env --default-signal=INT "$@" >"$work/interrupted.out" 2>&1 &
  running=$!
  # Before it is the tool that runs, the signal is ignored, as in all that a script puts aside.
  until [ "$(cat "/proc/$running/comm" 2>/dev/null)" != "$(cat /proc/$$/comm)" ] &&
    ! grep -q '^SigIgn:.*[2367abef]$' "/proc/$running/status" 2>/dev/null; do :; done
  sleep "$after"
  kill -INT "$running" 2>/dev/null
  wait "$running"
}
# The mesh ends, and no daemon has to be killed for that.
ends() { check "$1" sh -c "$phoenix down >down.out 2>&1; code=\$?; cat down.out; exit \$code"; }
by_itself() { check "by itself" sh -c "cat down.out; test -s down.out && ! grep -q 'did not end by itself' down.out"; }
# Whether status and down do what they should, however little or much there is.
is_usable() {
  if [ -e "$PHOENIX_DIR/default/key" ]; then
    "$phoenix" status && "$phoenix" down
  else
    fails_with "phoenix up" "$phoenix" status
  fi
}

for after in 0 0.005 0.01 0.02 0.03 0.05 0.08 0.12 0.2 0.5; do
  interrupted "$after" "$phoenix" up --local 8 -q
  check "a start interrupted after $after s leaves all or nothing" is_usable
  await "no daemon is left after $after s" no_daemon
done

# Who is being added when that is interrupted leaves again; who was said to be there stays.
check "a mesh starts" "$phoenix" up --local 2 -q
stays=2
for after in 0.02 0.06 0.12 0.25; do
  interrupted "$after" "$phoenix" add --local 12 && told=12 ||
    told=$(sed -n 's/^.*(\([0-9]*\) of 12 daemons started.*$/\1/p' "$work/interrupted.out")
  stays=$((stays + ${told:-0}))
  has_as_many() { [ "$("$phoenix" status --json | grep -c '"id":')" = "$stays" ]; }
  await "an add interrupted after $after s leaves those that it names" has_as_many
done
sleep 2  # One that comes late would have done so.
await "and nobody comes later" has_as_many
check "that mesh ends" "$phoenix" down
await "no daemon of it is left" no_daemon

# A mesh that ends while others come to it: they end, too, and need not be killed.
for after in 0.03 0.045 0.05 0.055 0.06; do
  check "a mesh starts" "$phoenix" up --local 2 -q
  "$phoenix" add --local 12 -q >added.out 2>&1 &
  adding=$!
  sleep "$after"
  ends "it ends while some are added, after $after s"
  by_itself
  wait "$adding"
  await "no daemon is left" no_daemon
done

# A mesh that is ended while it is being started: by whoever starts it, at once.
for after in 0 0.03 0.06 0.1; do
  "$phoenix" up --local 48 >started.out 2>&1 &
  starting=$!
  until ls "$PHOENIX_DIR"/default/starter-* >/dev/null 2>&1 || ! kill -0 "$starting" 2>/dev/null; do :; done
  sleep "$after"
  ends "a mesh ends that is being started, after $after s"
  by_itself
  wait "$starting"
  check "who started it says so, or had done it" grep -q "^started 48\|^phoenix: interrupted, by a signal or phoenix down" started.out
  check "and no daemon complains" sh -c "! grep 'did not start' started.out"
  check "nothing is left" sh -c "! test -e $PHOENIX_DIR/default"
  await "nor a daemon" no_daemon
done

check "a mesh starts" "$phoenix" up --local 3 -q
for after in 0 0.01 0.02 0.05 0.1; do
  interrupted "$after" "$phoenix" add --local 4 -q
  check "an addition interrupted after $after s leaves a mesh" "$phoenix" status
  interrupted "$after" "$phoenix" run -n 6 -- "$demos/heat" --steps 100000
  await "a job interrupted after $after s ends" sh -c "$phoenix ps | grep -q 'no jobs'"
done
check "it works" "$phoenix" run -n 6 -- "$demos/heat" --steps 10
# What a script puts aside with & does not mind Ctrl-C, nor under nohup the end of its terminal.
(trap '' INT HUP; exec "$phoenix" run -n 2 -- sh -c 'echo begun; until [ -e over ]; do sleep 0.05; done') >aside.out 2>&1 &
aside=$!
await "a job runs aside" grep -q begun aside.out
kill -INT "$aside"
kill -HUP "$aside"
sleep 0.5  # A signal that is taken would have ended it.
touch over
check "signals that are ignored do not end a job" wait "$aside"
check "nor go to its processes" sh -c "! grep 'passed on' aside.out"
# One whose processes do not mind.
env --default-signal=INT "$phoenix" run -n 2 --attach-timeout 600 -- \
  sh -c 'trap "" INT; echo begun; exec sleep 600' >deaf.out 2>&1 &
deaf=$!
await "the job runs" grep -q begun deaf.out
kill -INT "$deaf"
await "it is told how to end it" grep -q "once more ends it" deaf.out
kill -INT "$deaf"
check "Ctrl-C twice ends a job, and is the exit code" ends_with 130 wait "$deaf"
check "which is what is said of it" grep -q "ended by request" deaf.out

for after in 0 0.01 0.02 0.05; do
  rm -f enough
  "$phoenix" run -n 12 -- "$demos/heat" --size 128 --until "$work/enough" >"$work/heat.out" 2>&1 &
  job=$!
  await "the job runs" sh -c "$phoenix ps | grep -q heat"
  leaver=$(oldest)
  interrupted "$after" "$phoenix" drain "p$leaver"
  touch enough
  wait "$job"
  check "a drain interrupted after $after s does the job no harm" test $? -eq 0
  check "and may be repeated" sh -c "$phoenix drain p$leaver || ! $phoenix status | grep -q '^p$leaver '"
  check "one joins" "$phoenix" add --local 1 -q
done
# A job that nobody was told of does not go on.
for after in 0 0.006 0.008 0.01 0.012 0.013 0.014 0.015 0.016 0.018 0.02 0.022; do
  env --default-signal=INT "$phoenix" run -d -n 2 --attach-timeout 600 -- sleep 600 >"$work/said" 2>"$work/advice" &
  running=$!
  sleep $after
  kill -INT "$running" 2>/dev/null
  sleep 0.001
  kill -INT "$running" 2>/dev/null
  wait "$running"
  if [ -s "$work/said" ]; then "$phoenix" kill "$(cat "$work/said")" >"$work/killed" 2>&1; fi
  await "no job is left, interrupted after $after s" sh -c "$phoenix ps | grep -q 'no jobs'"
done
check "the mesh ends" "$phoenix" down
await "no daemon is left" no_daemon

# A measurement with several cases: the case that is interrupted is the last one.
env --default-signal=INT "$phoenix" bench >bench.out 2>bench.err &
measuring=$!
await "it measures" grep -q measuring bench.err
await "in a mesh" sh -c "ls $PHOENIX_DIR | grep -q bench-"
kill -INT "$measuring"
check "Ctrl-C ends a measurement" ends_with 130 wait "$measuring"
check "and nothing else is measured" sh -c "cat bench.err; test \$(grep -c measuring bench.err) = 1"
check "what there is is printed" grep -q "^FIGURE" bench.out
await "no daemon of it is left" no_daemon

for after in 0.01 0.05 0.1 0.3; do
  interrupted "$after" "$phoenix" run -n 4 -- "$demos/heat" --steps 100000
  check "a private mesh is gone, interrupted after $after s" \
    sh -c "! ls $PHOENIX_DIR 2>/dev/null | grep -q run-"
  await "no daemon is left" no_daemon
done
all_done
