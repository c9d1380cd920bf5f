#!/bin/sh
# Message-driven programs between daemons that come and go: no message is lost, doubled or out of
# order; and vnodes that a program hands over by hand.
. "$(dirname "$0")/lib.sh"

cd "$work" || exit 1
check "a mesh starts" "$phoenix" up --local 3 -q
under_change run "$phoenix" run -n 24 -- "$travel" run 20000
check "every hop of the handler is counted" grep -q "480000 hops: every one counted" run.out
under_change next "$phoenix" run -n 24 -- "$travel" next 2000
check "every hop of the loop is counted" grep -q "48000 hops: every one counted" next.out
"$phoenix" run -n 2 --on 2 --no-balance -- "$travel" take >take.out 2>&1
check "a vnode is handed over by hand" grep -q "from v0, handed over" take.out
for mode in pass meet pass meet pass meet; do
  timeout 200 "$phoenix" run -n 8 --no-balance -- "$travel" $mode 3000 >pass.out 2>&1
  check "a vnode is handed over by hand in step: $mode" grep -q "travel: handed over" pass.out
done
# Who is to have a vnode may be told to leave just then.
check "processors are added" "$phoenix" add --local 2 -q
for balance in "" --no-balance; do
  "$phoenix" run -n 12 $balance -- "$travel" round 3000 >round.out 2>&1 &
  job=$!
  changes=0
  while kill -0 "$job" 2>/dev/null; do
    check "three leave at once" "$phoenix" drain --timeout 60 \
      $("$phoenix" status | sed -n 's/^\(p[0-9]*\) .*/\1/p' | head -n 3)
    check "three come" "$phoenix" add --local 3 -q
    changes=$((changes + 1))
  done
  wait "$job"
  check "some left meanwhile" test "$changes" -gt 0
  check "vnodes are handed round while processors leave $balance, $changes times" \
    grep -q "travel: handed round" round.out
done
check "the mesh ends" "$phoenix" down
all_done
