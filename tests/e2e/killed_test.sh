#!/bin/sh
# 64 daemons, their jobs and tools, all killed at once: nothing is left of them.
. "$(dirname "$0")/lib.sh"

cd "$work" || exit 1
# A program of our own name, so that nobody else's process is taken for it.
cp "$(command -v sleep)" drowse
are_drowsing() { [ "$(pgrep -c -f "^$work/drowse" || true)" -eq "$1" ]; }
daemons() { sed -n 's/.*"pid": \([0-9]*\).*/\1/p' "$PHOENIX_DIR"/default/p*.json; }
no_keeper() { ! pgrep -f "phoenix-keeper .*$work" >/dev/null; }

check "64 daemons start" "$phoenix" up --local 64 -q
"$phoenix" run -n 64 -- sh -c "setsid $work/drowse 1000 & $work/drowse 1001; true" >job.out 2>&1 &
tool=$!
check "a detached job, too" "$phoenix" run -d -n 64 --log night.out -- "$work/drowse" 1002
await "each has three processes" are_drowsing 192
detached=$(awk -v inode="$(stat -c %i "$PHOENIX_DIR"/.jobs/default.j*)" '$6 ~ ":" inode "$" { print $5 }' /proc/locks)
# shellcheck disable=SC2046
kill -9 $(daemons) "$tool" "$detached"
await "no process of the jobs is left" are_drowsing 0
await "no daemon" no_daemon
await "no keeper" no_keeper
check "the tools say so" fails_with "no daemon of mesh 'default' answers" "$phoenix" status
check "a mesh can start there" "$phoenix" up --local 2 -q
check "of two" has_processors 2
check "and what the dead have left is gone" test "$(ls "$PHOENIX_DIR"/default/p*.json | wc -l)" -eq 2
check "sockets, too" test "$(ls "$PHOENIX_DIR"/default/*.sock | wc -l)" -eq 2
# A daemon whose log is taken away writes another one when it is told, and nothing else.
log=$(ls -t "$PHOENIX_DIR"/default/phoenixd-*.log | head -1)
first=$(basename "$log" .log)
mv "$log" rotated.log
check "a daemon gets SIGHUP" kill -HUP "${first#phoenixd-}"
await "it has a log again" test -e "$log"
check "both daemons are there" has_processors 2
check "the mesh ends" "$phoenix" down
await "no daemon is left" no_daemon
all_done
