#!/bin/sh
# A job computes on while processors come and go, its own home among them; its result is checked by
# the job itself.
. "$(dirname "$0")/lib.sh"

check "a mesh starts" "$phoenix" up --local 3 -q
check "a second one of the same name is refused" fails_with "runs already" "$phoenix" up --local 1

cd "$work" || exit 1
"$phoenix" run -n 24 -- "$demos/heat" --until "$work/enough" >"$work/heat.out" 2>&1 &
job=$!
await "the job holds vnodes" holds_some 3
check "processors are added" "$phoenix" add --local 2 -q
await "a newcomer holds vnodes" holds_some 5
check "the coordinator and home is drained" "$phoenix" drain p1
check "two at once are drained" "$phoenix" drain p2 p3
check "two are left" has_processors 2
check "processors are added again" "$phoenix" add --local 2 -q
await "they hold vnodes, too" holds_some 7
touch enough
wait "$job"
check "the job ended well" test $? -eq 0
check "its result is the sequential one" grep -q "equal to the sequential run bit for bit" heat.out
check "no job is left" sh -c "$phoenix ps | grep -q 'no jobs'"

# Two jobs at once, each with vnodes of its own.
"$phoenix" run -n 8 -- "$demos/heat" --steps 100 >"$work/a.out" 2>&1 &
first=$!
"$phoenix" run -n 12 --output-dir "$work/out" -- "$demos/heat" --steps 100 &
second=$!
wait "$first"
check "the first of two jobs ended well" test $? -eq 0
wait "$second"
check "the second of two jobs ended well" test $? -eq 0
check "output went to files" sh -c "cat $work/out/*.out | grep -q 'bit for bit'"

check "a private mesh serves a job" env PHOENIX_DIR="$work/other" "$phoenix" run -n 4 --on 2 -- "$demos/heat" --steps 10
check "and is gone" sh -c "! ls $work/other | grep -q run-"
check "the mesh ends" "$phoenix" down
check "its daemons are gone" sh -c "! pgrep -f '[m]esh-dir $PHOENIX_DIR'"
all_done
