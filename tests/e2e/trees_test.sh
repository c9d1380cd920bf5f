#!/bin/sh
# Trees of a job by name, over real daemons: its collectives are right along each of them, while
# processors come and go; and the exchanges and rounds that phoenix bench measures.
. "$(dirname "$0")/lib.sh"

cd "$work" || exit 1
check "a mesh starts" "$phoenix" up --local 3 -q
for tree in mgo list agm; do
  under_change "$tree" "$phoenix" run -n 12 --tree "$tree" -- "$demos/reduce" --length 1 --length 3000
  check "reductions along $tree are right" grep -q "equal to the sequential results" "$tree.out"
done
check "trees that do not exist are refused" fails_with "there are no trees 'oak'; there are learned" \
  "$phoenix" run -n 2 --tree oak -- true
check "the mesh ends" "$phoenix" down
check "a mesh of another style starts" "$phoenix" up --local 3 -q --daemon-option=--trees=agm
check "its jobs are right" "$phoenix" run -n 6 -- "$demos/reduce" --length 1
check "the mesh ends" "$phoenix" down
cat >"$work/net" <<END
site A 1
site B 1
site C 1
latency A B 10000
latency B C 10000
latency A C 30000
END
check "a mesh that is given its network starts" \
  "$phoenix" up --local 3 -q --daemon-option="--network=$work/net"
"$phoenix" trees p1 --dot >tree.dot
check "its trees are those of that network" \
  sh -c 'grep -q "p1 -> p2" tree.dot && grep -q "p2 -> p3" tree.dot'
check "its jobs are right" "$phoenix" run -n 6 --tree agm -- "$demos/reduce" --length 1
check "the mesh ends" "$phoenix" down
echo "site A 0 x" >"$work/net"
check "a network that is none is refused" fails_with "net: " \
  "$(dirname "$phoenix")/phoenixd" --mesh-dir "$work/bad" --new-key --network "$work/net"
check "a mesh that finds trees by itself starts" \
  "$phoenix" up --local 2 -q --daemon-option=--trees=adaptive
check "and draws none" fails_with "find trees by local rules" \
  "$phoenix" run -n 2 --tree mgo -- true
check "the mesh ends" "$phoenix" down

# Whether figures are good is for a quiet machine to say; here, that there are some, and that what
# arrives is what was sent.
check "exchanges with each schedule" "$phoenix" bench redistribution -n 4 --bytes 1M --graphs 1
check "rounds, also while processors come and go" \
  "$phoenix" bench round -n 3 --bytes 1,64K --rounds 2 --receivers --moving 2
check "half of the processors leave with their states" \
  "$phoenix" bench drain -n 6 --bytes 32M --rounds 1
all_done
