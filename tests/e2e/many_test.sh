#!/bin/sh
# As many daemons as a small cluster has, on this machine, and a job on all of them.
. "$(dirname "$0")/lib.sh"

cd "$work" || exit 1
check "64 daemons start" sh -c "$phoenix up --local 64 >up.out"
check "and are listed in the order of their numbers" grep -q "^started 64 processors: $(seq -f p%.0f -s ' ' 1 64)\$" up.out
check "all of them are members" has_processors 64
check "a job runs on all" "$phoenix" run -n 128 --output-dir out -- "$demos/heat" --size 200 --steps 20
check "its result is right" sh -c "cat out/*.out | grep -q 'equal to the sequential run bit for bit'"
check "half of them leave at once" "$phoenix" drain $(seq -f p%.0f 1 32)
check "the others stay" has_processors 32
check "and work" "$phoenix" run -n 64 -- "$demos/heat" --size 100 --steps 10
check "the mesh ends" "$phoenix" down
await "no daemon is left" no_daemon
all_done
