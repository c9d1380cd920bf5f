#!/bin/sh
# A large vnode moves between two daemons, while two other processes exchange single bytes over the
# same link.
. "$(dirname "$0")/lib.sh"
moves=$(dirname "$travel")/moves

cd "$work" || exit 1
check "a mesh starts" "$phoenix" up --local 2 -q
"$phoenix" run -n 2 --no-balance -- "$moves" ping 4 >ping.out 2>&1 &
pinging=$!
await "the bytes go to and fro" sh -c "'$phoenix' ps | grep -q moves"
check "a vnode of 256 MiB moves" "$phoenix" run -n 2 --no-balance -- "$moves" carry 256
cp "$work/said" carry.out
cat carry.out
check "it is unharmed" grep -q "256 MiB handed over in .* unharmed" carry.out
wait $pinging
cat ping.out
check "round trips are counted" grep -q "round trips" ping.out
# Half of the state in one frame would take longer than either of these.
took=$(sed -n 's/.*handed over in \([0-9.]*\) s.*/\1/p' carry.out)
check "no round trip waits for half of the state" \
  awk -v took="$took" '/longest/ { if ($NF > 400 && $NF > 500 * took) exit 1 }' ping.out
check "the mesh ends" "$phoenix" down
