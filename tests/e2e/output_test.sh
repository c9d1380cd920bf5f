#!/bin/sh
# A tool that does not read for long (Ctrl-Z, a pager) loses nothing of its job's output, nor the job.
. "$(dirname "$0")/lib.sh"

lines=4000000 # 31 MB per process, 93 MB in all: more than any daemon keeps
seq 1 $lines | md5sum >"$work/expected"

run_much() {
  "$phoenix" run -n 3 --attach-timeout 1000 -- seq 1 $lines >"$work/much.out" 2>"$work/much.err"
}
# The tool, not the shell that waits for it.
tool_of() { pgrep -P "$1" -x phoenix; }
# All processes are held up.
waits_for_tool() { "$phoenix" status --json | grep -c '"waiting": "the tool that follows' | grep -qx "$1"; }
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
rm -f "$work/much.out"
run_much &
job=$!
await "output comes" test -s "$work/much.out"
kill -STOP "$(tool_of $job)"
await "the processes wait for the tool" waits_for_tool 3
check "the daemons keep little of it" peaks_below 80
kill -CONT "$(tool_of $job)"
wait "$job"
check "the job ends well" test $? -eq 0
check "all of its output has come" is_complete p1 p2 p3

rm -f "$work/much.out"
run_much &
job=$!
await "output comes" test -s "$work/much.out"
kill -STOP "$(tool_of $job)"
await "the processes wait for the tool" waits_for_tool 3
check "a job whose tool is stopped can be ended" "$phoenix" kill "$("$phoenix" ps | grep -o 'j[0-9][0-9]*' | head -n 1)"
await "its processes are gone" sh -c "! pgrep -x seq -P $(process_of 1),$(process_of 2),$(process_of 3)"
kill -CONT "$(tool_of $job)"
wait "$job"
check "its tool says so" grep -q 'ended by request' "$work/much.err"
