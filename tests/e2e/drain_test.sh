#!/bin/sh
# What a drain tells: how far it is, for what it waits, that it goes on without its tool, and its end.
. "$(dirname "$0")/lib.sh"

cd "$work" || exit 1
check "a mesh starts" "$phoenix" up --local 3 -q
check "a drain that is done says how long it took" \
  sh -c "$phoenix drain p3 | grep -q '^drained: p3, in [0-9.]* [mu]*s$'"
# have_begun FILE: both processes of the job that writes there compute, or wait in a call.
have_begun() { [ "$(grep -c begun "$1")" -eq 2 ]; }
# Who computes reaches no safe point.
"$phoenix" run -n 4 -- "$travel" lag "$work/come" >lag.out 2>&1 &
job=$!
await "the job computes" have_begun lag.out
check "one that takes long is left" \
  fails_with "not gone in time, the drain goes on: p1: 2 vnodes left, waits for " \
  "$phoenix" drain p1 --timeout 5
check "and has told before how far it is" grep -q "^p1: 2 vnodes left, waits for" refusal
check "what its process does" grep -q "; its process has been computing for [0-9]* s" refusal
await "ps says who waits for that" says "p1 waits for v.* next safe point; p2 waits for .*; missing: p1 (v" \
  "$phoenix" ps
check "it does go on" sh -c "$phoenix status | grep -q '^p1 .* leaving '"
env --default-signal=INT "$phoenix" drain p1 >again 2>&1 &
again=$!
await "its tool is ready for signals" takes_signals "$again"
kill -INT "$again"
check "Ctrl-C ends the watching" ends_with 130 wait "$again"
check "and says so" grep -q "the drain of p1 goes on; see phoenix status" again
touch come
check "the job ends well" wait "$job"
await "the processor has left" has_processors 1
check "the last one stays" fails_with "would leave no processor" "$phoenix" drain p2
# A job that ends badly meanwhile has not got through the drain without loss.
check "one comes" "$phoenix" add --local 1 -q
"$phoenix" run -n 4 -- "$travel" lag "$work/never" >failed.out 2>&1 &
job=$!
await "the job computes" have_begun failed.out
"$phoenix" drain p4 >failing 2>&1 &
drain=$!
await "the drain waits" says "^p4 .* leaving " "$phoenix" status
pkill -KILL -P "$(process_of 4)"
wait "$drain"
check "a job that fails meanwhile makes the drain no success" test $? -eq 1
check "though it is done" grep -q "^drained: p4, in" failing
check "the job is named, and why" grep -q "j2 (travel) has failed meanwhile: .*killed by SIGKILL" failing
wait "$job"
check "the job ends like its process" test $? -eq 137
check "two come" "$phoenix" add --local 2 -q
check "a quiet drain says nothing" sh -c "test -z \"\$($phoenix drain p5 -q 2>&1)\""
check "one for programs says who has left, and how long it took" \
  sh -c "$phoenix drain p6 --json | grep -qE '^\{\"mesh\":\"default\",\"processors\":\[6\],\"seconds\":[0-9]+\.[0-9]+\}\$'"
check "the mesh ends" "$phoenix" down
await "no daemon is left" no_daemon
all_done
