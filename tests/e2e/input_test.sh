#!/bin/sh
# Standard input of the tool goes to one process of the job, if it is asked to; else nobody reads it.
. "$(dirname "$0")/lib.sh"

cd "$work" || exit 1
check "a mesh starts" "$phoenix" up --local 3 -q
alone="$phoenix run -n 3 --attach-timeout 60"
run="$alone -i"
who='if read -r line; then echo "got $line"; fi; cat >/dev/null; echo end'
echo hello | $run -- sh -c "$who" >heard 2>&1
check "one process gets it" test "$(grep -c '] got hello' heard)" -eq 1
check "which begins with v0" grep -q "^\[p1\] got hello" heard
check "all read to the end" test "$(grep -c '] end' heard)" -eq 3
check "nobody gets it if it is not wanted" sh -c "echo hello | $alone -- sh -c '$who' | grep -c end | grep -qx 3"
printf 'one\ntwo\nthree\n' >list
while read -r line; do $alone --no-tags -- echo "$line" 2>>told; done <list >looped
check "a loop over lines keeps them" test "$(sort -u looped | tr '\n' ' ')" = "one three two "
check "without advice" test ! -s told
check "a file for nobody is told" sh -c "$alone -- true <list 2>&1 | grep -q 'nobody reads it: -i passes it on'"
check "a detached job has none" sh -c "echo hello | $alone -d --name night -- cat && $phoenix logs -f night"
check "and cannot have one" fails_with "excludes" $run -d -- cat

# More than any buffer on the way holds.
seq 1 400000 >numbers
check "all of it arrives" sh -c "$run --no-tags -- cat <numbers | cmp - numbers"
# The one that reads nothing holds the source up: a pipe holds 64 KiB, and 256 KiB are under way.
(cat numbers numbers numbers; touch written) | $run -- sh -c "until [ -e $work/go ]; do sleep 0.05; done; cat >/dev/null" &
job=$!
await "the job runs" sh -c "$phoenix ps | grep -q 'sh  *3 '"
sleep 0.5
check "who does not read holds the source up" test ! -e written
touch go
check "and when it reads the job ends" wait $job
check "with all written" test -e written
check "a process that ends early takes the rest" sh -c "yes | $run -- head -n 1 | grep -c '] y' | grep -qx 1"

# Its processor leaves: what it has read does not move.
yes | $run -- "$demos/heat" --until "$work/left.enough" >left 2>&1 &
job=$!
await "heat runs" sh -c "$phoenix ps | grep -q 'heat  *3 '"
check "its processor leaves" "$phoenix" drain p1
await "the tool says so" grep -q "p1 has gone, and with it the process that read standard input" left
touch left.enough
check "and ends with 1, though the job ends well" ends_with 1 wait $job
check "one comes" "$phoenix" add --local 1 -q

# Its source is silent for ever.
mkfifo silent
sleep 1000 >silent &
source=$!
check "a job ends though its input does not" sh -c "$run -- true <silent"
$run -- "$demos/heat" --until "$work/unread.enough" <silent >unread 2>&1 &
job=$!
await "heat runs again" sh -c "$phoenix ps | grep -q 'heat  *3 '"
check "the processor of the reader leaves" "$phoenix" drain p2
touch unread.enough
check "what would have come is lost, so it ends with 1" ends_with 1 wait $job
check "and says so" grep -q "p2 has gone, and with it the process that read standard input" unread
check "another one comes" "$phoenix" add --local 1 -q
kill $source
all_done
