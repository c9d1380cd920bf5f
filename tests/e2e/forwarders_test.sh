#!/bin/sh
# Processors die that hold nothing of a job, and only pass on its broadcasts and reductions: no job
# ends for that, and each verifies its own results. PHX_KILLS: how many die.
. "$(dirname "$0")/lib.sh"

cd "$work" || exit 1
wanted=${PHX_KILLS:-12}
# The youngest that runs nothing of a job and was not asked to run it.
bystander() { "$phoenix" status | sed -n 's/^p\([0-9]*\) .* -$/\1/p' | tail -n 1; }

check "a mesh starts" "$phoenix" up --local 6 -q
kills=0
rounds=0
while [ "$kills" -lt "$wanted" ] && [ "$rounds" -lt $((10 * wanted)) ] && [ "$failed" -eq 0 ]; do
  rounds=$((rounds + 1))
  if [ $((rounds % 2)) -eq 0 ]; then
    "$phoenix" demo broadcast --vnodes 12 --on 3 --max 1M >job.out 2>&1 &
  else
    "$phoenix" demo reduce --vnodes 12 --on 3 --length 1 --length 3000 >job.out 2>&1 &
  fi
  job=$!
  while kill -0 "$job" 2>/dev/null && [ "$kills" -lt "$wanted" ]; do
    "$phoenix" status | grep -q ' j[0-9]*:' || continue  # nobody has vnodes of it yet
    victim=$(bystander)
    [ -n "$victim" ] || continue
    kill -9 "$(process_of "$victim")" && kills=$((kills + 1))
    check "another one comes for p$victim" "$phoenix" add --local 1 -q
  done
  wait "$job"
  code=$?
  [ "$code" -eq 0 ] || cat job.out
  check "job $rounds ends well, after $kills deaths" test "$code" -eq 0
done
check "as many died as were to: $kills" test "$kills" -eq "$wanted"
all_done
