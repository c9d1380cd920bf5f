#!/bin/sh
# A vnode handed over by hand, in step, 200 times: a refusal that falls into a gathering once hung 40 of 100 runs.
# Not among the tests of every day: ctest --test-dir build/dev -C Long -L long
. "$(dirname "$0")/lib.sh"

cd "$work" || exit 1
check "a mesh starts" "$phoenix" up --local 4 -q
for turn in $(seq 1 100); do
  for mode in pass meet; do
    timeout 30 "$phoenix" run -n 8 --no-balance -- "$travel" $mode 3000 >pass.out 2>&1
    check "it is handed over in turn $turn: $mode" grep -q "travel: handed over" pass.out
  done
done
check "the mesh ends" "$phoenix" down
all_done
