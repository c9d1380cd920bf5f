#!/bin/sh
# A tool that does not read for long (Ctrl-Z, a pager) loses nothing of its job's output, nor the job.
. "$(dirname "$0")/lib.sh"

lines=4000000 # 31 MB per process, 93 MB in all: more than any daemon keeps
(echo ready && seq 1 $lines) | md5sum >"$work/expected"
# A program of our own name, so that nobody else's process is taken for it.
cp "$(command -v seq)" "$work/count"
# Says a word, and the rest when the test wants it.
much="echo ready; until [ -e $work/go ]; do sleep 0.1; done; exec $work/count 1 $lines"

# Starts it, and stops its tool before there is much to read.
run_much_and_stop() {
  rm -f "$work/go" "$work/much.out"
  "$phoenix" run -n 3 --attach-timeout 1000 -- sh -c "$much" >"$work/much.out" 2>"$work/much.err" &
  tool=$!
  await "output comes" test -s "$work/much.out"
  kill -STOP $tool
  touch "$work/go"
  await "the processes wait for the tool" waits_for_tool 3
  check "there are three of them" are_counting 3
}
# All processes are held up.
waits_for_tool() { "$phoenix" status --json | grep -c '"waiting": "the tool that follows' | grep -qx "$1"; }
are_counting() { [ "$(pgrep -c -f "^$work/count" || true)" -eq "$1" ]; }
# Each process printed all its lines, in order.
is_complete() {
  for processor in "$@"; do
    sed -n "s/^\[$processor\] //p" "$work/much.out" | md5sum | diff "$work/expected" - || return 1
  done
}
# At its worst, in MiB; a daemon that kept the output would need 31 at the least, and the home 93.
peaks_below() {
  for file in "$PHOENIX_DIR"/default/p*.json; do
    pid=$(sed -n 's/.*"pid": \([0-9]*\).*/\1/p' "$file")
    awk -v most="$1" '/^VmHWM/ { print; exit $2 > most * 1024 }' "/proc/$pid/status" || return 1
  done
}

check "a mesh starts" "$phoenix" up --local 3 -q
run_much_and_stop
check "the daemons keep little of it" peaks_below 80
kill -CONT $tool
wait $tool
check "the job ends well" test $? -eq 0
check "all of its output has come" is_complete p1 p2 p3

run_much_and_stop
check "a job whose tool is stopped can be ended" "$phoenix" kill "$("$phoenix" ps | grep -o 'j[0-9][0-9]*' | head -n 1)"
await "its processes are gone" are_counting 0
kill -CONT $tool
wait $tool
check "its tool says so" grep -q 'ended by request' "$work/much.err"

# As a pager that is left alone: the tool waits in its write, and still hears Ctrl-C.
mkfifo "$work/pager"
sleep 1000 <"$work/pager" &
pager=$!
env --default-signal=INT "$phoenix" run -n 3 --attach-timeout 1000 -- sh -c "$much" \
  >"$work/pager" 2>"$work/pager.err" &
tool=$!
await "the processes wait for the tool" waits_for_tool 3
check "there are three of them" are_counting 3
kill -INT $tool
await "the tool passes it on" grep -q 'interrupt passed on' "$work/pager.err"
await "the processes end by it" are_counting 0
kill -INT $tool
wait $tool
code=$?
cat "$work/pager.err"
check "a second one ends the tool as well, and it says that the job failed" test $code -ne 0
kill $pager

# Output that cannot be written, or has nowhere to go.
check "what a command prints and nobody gets is an error" fails_with "cannot write to standard output" \
  sh -c "$phoenix status >/dev/full"
check "so is a closed output" fails_with "cannot write to standard output" sh -c "$phoenix status >&-"
check "and that of a job" fails_with "output to standard output: Bad file descriptor" \
  sh -c "$phoenix run -n 1 --fit -- echo lost >&-"
check "without a place for errors all else works" sh -c "$phoenix status 2>&- | grep -q '3 processors'"

# More than a pipe takes, and nobody reads it: Ctrl-C ends what shows it.
job=$("$phoenix" run -d -n 1 --fit -- seq 1 100000 | grep -o 'j[0-9][0-9]*' | head -n 1)
await "a job without a terminal writes" sh -c "$phoenix logs $job | grep -qx '\[p[0-9]*\] 100000'"
mkfifo "$work/unread"
exec 8<>"$work/unread"
for verb in "logs $job" "logs --follow $job"; do
  # shellcheck disable=SC2086
  env --default-signal=INT "$phoenix" $verb >"$work/unread" 2>"$work/unread.err" &
  tool=$!
  await "$verb begins" takes_signals $tool
  kill -INT $tool
  check "it ends when it is interrupted" ends_with 130 wait $tool
done
check "the time-out of a job whose output nobody reads is kept" ends_with 124 \
  sh -c "$phoenix run --timeout 2 -n 1 --fit -- yes >$work/unread"
exec 8<&-

"$phoenix" add --local 1 -q
check "where a newcomer can be reached is written down" grep -q "$(endpoint_of 4)" "$PHOENIX_DIR/default/mesh.json"
all_done
