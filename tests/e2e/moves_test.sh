#!/bin/sh
# A large vnode moves between two daemons, while two other processes exchange single bytes over the
# same link.
. "$(dirname "$0")/lib.sh"
moves=$(dirname "$travel")/moves

cd "$work" || exit 1
check "a mesh starts" "$phoenix" up --local 2 -q
"$phoenix" run -n 2 --no-balance -- "$moves" ping "$work/enough" >ping.out 2>&1 &
pinging=$!
await "the bytes go to and fro" sh -c "'$phoenix' ps | grep -q moves"
check "a vnode of 512 MiB moves" sh -c "$phoenix run -n 2 --no-balance -- $moves carry 512 >carry.out 2>&1"
touch enough
check "it is unharmed" grep -q "512 MiB handed over unharmed" carry.out
check "the others end well" wait "$pinging"
# Of ten parts of the move, in how many round trips came to their end. With half of the state in one frame it would be
# half of them at most.
parts=$(sed -n 's/.*handed over.* from \([0-9.]*\) to \([0-9.]*\)$/\1 \2/p' carry.out | cat - ping.out |
  awk 'NR == 1 { from = $1; part = ($2 - $1) / 10 }
       / round trip / && $NF >= from && $NF < from + 10 * part && !seen[int(($NF - from) / part)]++ { ++parts }
       END { print parts + 0 }')
check "bytes go to and fro in $parts of ten parts of the move" test "$parts" -ge 7
check "the mesh ends" "$phoenix" down
all_done
