#!/bin/sh
# What is faster than its consumer waits at its source, in bounds, and no job ends because of it.
. "$(dirname "$0")/lib.sh"

cd "$work" || exit 1
streams=$(dirname "$travel")/streams
# peak_of PROCESS-ID: the most memory it ever had, in MiB.
peak_of() { awk '/^VmHWM:/ { print int($2 / 1024) }' "/proc/$1/status"; }
# peak_in FILE VNODE: what the process of that vnode said of itself, in MiB.
peak_in() { sed -n "s/.*: v$2, peak \([0-9]*\) MiB.*/\1/p" "$1"; }
two() { "$phoenix" run -n 2 --on 2 --no-balance "$@"; }

check "a mesh starts" "$phoenix" up --local 3 -q
two -x PHOENIX_SEND_BYTES=67108864 -- "$streams" slow 1000 1048576 1000 >slow.out 2>&1
check "1,000 MiB to a slow consumer: the job ends well" test $? -eq 0
check "all came in order" grep -q "all 1000 messages came in order" slow.out
check "the source kept no more than its limit of 64 MiB" test "$(peak_in slow.out 0)" -le 160
check "the consumer held no more than its inbox" test "$(peak_in slow.out 1)" -le 200
for p in 1 2 3; do
  check "the daemon of p$p held no more than its budget" test "$(peak_of "$(process_of $p)")" -le 128
done

"$phoenix" run -n 6 --on 3 --no-balance -- "$streams" first 20971520 >first.out 2>&1
check "everybody sends 120 MiB first and receives afterwards" grep -q "everybody sent first" first.out
two -- "$streams" late 200 1048576 >late.out 2>&1
check "a message behind 200 MiB of others is received before them" \
      grep -q "the last one came first" late.out
two -x PHOENIX_RECEIVE_BYTES=33554432 -- "$streams" late 200 1048576 >full.out 2>&1
check "unless they may not wait here: that ends with a sentence" \
      grep -q "recv by v1 of tag 1 from any vnode: .* MiB of other messages wait in this process" full.out
two -x PHOENIX_SEND_BYTES=67108864 -- "$streams" idle 40 1048576 >idle.out 2>&1
check "what nobody receives does not hold up the end" grep -q "nobody receives" idle.out

two -x PHOENIX_SEND_BYTES=1048576 -- "$streams" slow 20 1048576 5000000 >waits.out 2>&1 &
job=$!
says_why() { "$phoenix" status | grep -q "send: v1 has not taken [0-9]* [KM]iB from v0"; }
await "status says whom send waits for" says_why
"$phoenix" kill j6 >/dev/null 2>&1
wait "$job"
check "the mesh ends" "$phoenix" down
all_done
