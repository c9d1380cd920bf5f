#!/bin/sh
# The bundled demos, each of which verifies its own result, while processors come and go all the
# time: as many changes as fit into each run.
. "$(dirname "$0")/lib.sh"

cd "$work" || exit 1
check "a mesh starts" "$phoenix" up --local 3 -q
under_change broadcast "$phoenix" demo broadcast --vnodes 12 --max 1M
under_change reduce "$phoenix" demo reduce --vnodes 12 --length 1 --length 3000
under_change queens "$phoenix" demo queens --vnodes 48 --size 15
under_change heat "$phoenix" demo heat --vnodes 24 --size 256 --steps 1500 --output "$work/heat.png"
check "the image is there" test -s heat.png
check "every result is named" grep -q "every checksum right" broadcast.out
check "reductions too" grep -q "equal to the sequential results" reduce.out
check "queens too" grep -q "2279184 solutions, as known" queens.out
check "and heat" grep -q "bit for bit" heat.out
check "the mesh ends" "$phoenix" down

check "elastic verifies everything" "$phoenix" demo elastic --processors 3 --change 2 \
  --vnodes 16 --seconds 3 --size 64K --output "$work/charts"
check "and draws charts" test -s charts/phoenix-elastic.svg -a -s charts/phoenix-elastic.png
check "its mesh is gone" sh -c "! ls $PHOENIX_DIR | grep -q elastic-"
check "a demo that does not exist is an error" sh -c "! $phoenix demo nothing"

# What is wrong is said once, in the order of the command line, and nothing is started for it.
"$phoenix" demo heat one two >wrong.out 2>&1
check "wrong arguments are misuse" test "$?" = 2
check "they are named once" test "$(cat wrong.out)" = \
  "phoenix demo heat: not expected: one two; see phoenix demo heat --help"
"$phoenix" demo heat --steps -1 >wrong.out 2>&1
check "a number out of range is misuse" test "$?" = 2
check "it is named" grep -q "^phoenix demo heat: --steps: '-1' is no number from" wrong.out
# demo_refuses TEXT WORDS...: is misuse, and this one line alone is written.
demo_refuses() { check "a wrong demo is told" refuses "$@"; }
refuses() {
  text=$1
  shift
  "$phoenix" demo "$@" >wrong.out 2>&1
  code=$?
  grep -q -- "$text" wrong.out && [ "$(wc -l <wrong.out)" -eq 1 ] && [ $code -eq 2 ] && return
  echo "code $code"
  cat wrong.out
  return 1
}
demo_refuses "^phoenix demo elastic: --size: '0' is no size like 100, 64K or 4M, from 1 byte to 1G" elastic --size 0
demo_refuses "--size: '1.5M' is no size" elastic --size 1.5M
demo_refuses "^phoenix demo broadcast: --min is 2 KiB, which is more than --max (1 KiB)" broadcast --min 2kib --max 1KB
demo_refuses "^phoenix demo broadcast: --min is 64 KiB, which is more than --max (1 KiB)" broadcast --min 64K --max 1K
echo short >short
demo_refuses "which is more than all of short (6 B)" broadcast --min 1K --file short
demo_refuses "max" broadcast --max 1K --file short
demo_refuses "--tolerance: 'nan' is no number from 0 to 1000000000" heat --tolerance nan
demo_refuses "^phoenix demo heat: --steps excludes --until" heat --until x --steps 3
demo_refuses "--repeat: '0' is no number from 1 to" reduce --repeat 0

# Whether figures are good is for a quiet machine to say; here, that there are some.
for one in pair embedded moves; do
  check "bench measures '$one'" sh -c "'$phoenix' bench --only $one --json > bench-$one.json"
  check "with figures" grep -q '"value"' "bench-$one.json"
done
check "broadcast rounds are measured" sh -c "'$phoenix' bench round -n 2 --bytes 64 --rounds 2 --json > round.json"
check "and none is negative" sh -c "grep -q '\"v2_noise\"' round.json && ! grep -qE '(: |^ *)-[0-9]' round.json"
check "and leaves nothing behind" sh -c "! ls $PHOENIX_DIR | grep -q bench-"
all_done
