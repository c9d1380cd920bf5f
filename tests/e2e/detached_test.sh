#!/bin/sh
# Jobs that go on without the terminal that started them: logs, attach, how they end.
. "$(dirname "$0")/lib.sh"

cd "$work" || exit 1
# goes_on GATE [CODE]: a job of one process that writes, waits for the file GATE, writes, and ends.
job() { echo "echo begun; while [ ! -e $work/$1 ]; do sleep 0.05; done; echo ended; exit ${2:-3}"; }
detach() { "$phoenix" run -d -n 2 --on 1 --attach-timeout 600 "$@"; }
has() { grep -q "$2" "$1"; }
follower_of() { awk -v inode="$(stat -c %i "$PHOENIX_DIR/.jobs/default.$1")" \
                    '$6 ~ ":" inode "$" { print $5 }' /proc/locks; }

check "a mesh starts" "$phoenix" up --local 2 -q
setsid sh -c "$phoenix run -d -n 2 --on 1 -- sh -c '$(job gate1)' >said1; sleep 600" 2>advice1 &
terminal=$!
await "a detached job gives its number, and nothing else" test -s said1
check "it is j1" test "$(cat said1)" = j1
check "on stderr stands what can be done" has advice1 "phoenix logs j1"
kill -KILL -"$terminal"
await "its output is kept" has phoenix-j1.out "begun"
still_runs() { "$phoenix" ps | grep -q "^j1 "; }
check "the job goes on when its terminal has died" still_runs
"$phoenix" attach j1 >attached 2>&1 &
attached=$!
env --default-signal=INT "$phoenix" attach j1 >left 2>&1 &
left=$!
"$phoenix" logs -f j1 >logs 2>&1 &
logs=$!
await "logs shows what was written before" has logs "begun"
await "attach is ready for signals" takes_signals "$left"
kill -INT "$left"
check "Ctrl-C leaves the job alone" ends_with 130 wait "$left"
check "and says so" has left "j1 goes on; phoenix kill j1 ends it"
touch gate1
check "attach ends as the job does" ends_with 3 wait "$attached"
check "attach shows what comes from now on" has attached "ended"
check "and nothing else" test "$(grep -c begun attached)" = 0
check "logs -f ends as the job does" ends_with 3 wait "$logs"
check "and shows all" has logs "ended"
check "attach to a job that is over gives its code" ends_with 3 "$phoenix" attach j1
check "and says how it ended" fails_with "j1 has ended (.*code 3.*), with exit code 3; its output is in " "$phoenix" attach j1

touch phoenix-j2.out
check "another one" test "$(detach -- sh -c "$(job gate2 0)" 2>advice2)" = j2
check "the file of another job is not touched" has advice2 "phoenix-j2-2.out"
await "it has begun" has phoenix-j2-2.out "begun"
kill -KILL "$(follower_of j2)"
dead() { test -z "$(follower_of j2)"; }
await "the tool that followed it is killed" dead
check "logs -f says what to do" fails_with "phoenix attach j2 follows it" \
      "$phoenix" logs -f j2
"$phoenix" attach j2 >again 2>&1 &
again=$!
touch gate2
check "and ends as the job does" ends_with 0 wait "$again"
check "and shows what was not shown" has again "ended"

check "an output file of one's own" test "$(detach --log own.txt -- sh -c 'echo own' 2>/dev/null)" = j3
check "is written" ends_with 0 "$phoenix" logs -f j3
check "as it says" has own.txt "own"
check "--log is for detached jobs" fails_with "requires --detach" \
      "$phoenix" run -n 2 --log own.txt -- true
check "what has no file is no job" fails_with "cannot write $work/no/such" \
      "$phoenix" logs -f "$(detach --log no/such -- true 2>refused || cat refused)"
check "a number that nobody can read is told" fails_with "^phoenix: j[0-9]* goes on, but cannot be told: No space left" \
      sh -c "$phoenix run -d -n 1 --name night -- echo first >/dev/full"
killed=$(detach -- sleep 600 2>/dev/null)
check "a job is killed" "$phoenix" kill "$killed"
over() { ! "$phoenix" ps | grep -q "^$killed "; }
await "it is over" over
check "attach says why it is over" fails_with "$killed has ended (ended by request), with exit code 143; " \
      "$phoenix" attach "$killed"
night=$(detach --name night -- echo second 2>/dev/null)
check "of two jobs of a name the last is meant" says "second$" "$phoenix" logs -f night
check "and that is said" says "$night, the last one called 'night'; there are also j" \
      "$phoenix" logs night
check "a job that was not detached has no log" fails_with "run --detach" "$phoenix" logs j99
check "attach to no job" fails_with "no job j99; see phoenix ps" "$phoenix" attach j99
check "a name that is no job" fails_with "is no job" "$phoenix" logs x1
check "output that cannot be shown is an error" fails_with "cannot show the output" \
      sh -c "$phoenix logs j1 >/dev/full"
check "the mesh ends, quietly" test -z "$("$phoenix" down -q)"
check "what was written stays" ends_with 3 "$phoenix" logs -f j1

check "without a mesh it has its own" test "$(detach -- sh -c "$(job gate3 4)" 2>advice3)" = j1
mesh=$(sed -n 's/.*phoenix logs j1 --mesh \(run-[0-9]*\) .*/\1/p' advice3)
touch gate3
check "and ends as the job does" ends_with 4 "$phoenix" logs -f j1 --mesh "$mesh"
gone() { ! test -e "$PHOENIX_DIR/$mesh"; }
await "the mesh goes with the job" gone

# Whoever waits until nobody holds a file any more, as flock does, does not wait for a mesh.
held_by_none() { ! find /proc/[0-9]*/fd -lname "$work/held" 2>/dev/null | grep .; }
exec 8>"$work/held"
check "a mesh starts with a file open" "$phoenix" up --local 2 -q --mesh held
PHOENIX_DIR="$work/other" "$bin/phoenixd" --detach --new-key --listen 127.0.0.1:0 >other.ready
other=$(sed -n 's/.*"pid": \([0-9]*\).*/\1/p' "$work"/other/default/p1.json)
check "and a daemon by itself" kill -0 "$other"
check "and a detached job" test "$(detach -- sh -c 'until test -e gate4; do sleep 0.1; done' 2>advice4)" = j1
mesh=$(sed -n 's/.*phoenix logs j1 --mesh \(run-[0-9]*\) .*/\1/p' advice4)
exec 8>&-
check "none of them holds it" held_by_none
touch gate4
await "that mesh goes with the job" gone
kill "$other"
check "the other one ends" "$phoenix" down --mesh held

check "another mesh of the same name starts" "$phoenix" up --local 1 -q
"$phoenix" run -n 1 --attach-timeout 600 -- sh -c 'sleep 600' >other.out 2>&1 &
other=$!
runs() { "$phoenix" ps | grep -q "^j1 "; }
await "its first job runs" runs
check "attach does not take it for the one before" \
      fails_with "another tool follows j1 already" "$phoenix" attach j1
"$phoenix" kill j1
wait "$other"
check "the mesh ends" "$phoenix" down

# A mesh that begins anew with its old key, as after a reboot.
export PHOENIX_MESH=again
check "a mesh starts" "$phoenix" up --local 1 -q
check "with a job" "$phoenix" run -d -n 1 --fit -- sh -c 'exit 3'
check "which ends" ends_with 3 "$phoenix" logs -f j1
kill "$(sed -n 's/.*"pid": \([0-9]*\).*/\1/p' "$PHOENIX_DIR/again/p1.json")"
ended() { ! test -e "$PHOENIX_DIR/again/p1.json"; }
await "its daemon goes, and not by phoenix down" ended
check "it starts again" "$phoenix" up --local 1 -q
"$phoenix" run -n 1 --attach-timeout 600 -- sh -c 'sleep 600' >again.out 2>&1 &
other=$!
await "its first job runs" runs
check "attach does not take it for the one before, either" \
      fails_with "another tool follows j1 already" "$phoenix" attach j1
"$phoenix" kill j1
wait "$other"
check "the mesh ends" "$phoenix" down
all_done
