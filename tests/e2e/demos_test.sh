#!/bin/sh
# The bundled demos, each of which verifies its own result, while processors come and go all the
# time: as many changes as fit into each run.
. "$(dirname "$0")/lib.sh"

cd "$work" || exit 1
runs() { kill -0 "$job" 2>/dev/null; }
oldest() { "$phoenix" status | sed -n 's/^p\([0-9]*\) .*/\1/p' | head -n 1; }

# under_change NAME VNODES ARGUMENTS...: two processors join, the two oldest are drained, again and
# again until the job ends.
under_change() {
  name=$1
  vnodes=$2
  shift 2
  "$phoenix" demo "$name" --vnodes "$vnodes" "$@" >"$work/$name.out" 2>&1 &
  job=$!
  changes=0
  while runs; do
    check "$name: two join" "$phoenix" add --local 2 -q
    leaver=$(oldest)
    check "$name: the oldest is drained" "$phoenix" drain "p$leaver"
    leaver=$(oldest)
    check "$name: and the next" "$phoenix" drain "p$leaver"
    changes=$((changes + 1))
  done
  wait "$job"
  code=$?
  [ "$code" -eq 0 ] || cat "$work/$name.out"
  check "$name ended well, after $changes changes" test "$code" -eq 0
  check "$name changed at least once" test "$changes" -ge 1
}

check "a mesh starts" "$phoenix" up --local 3 -q
under_change broadcast 12 --max 1M
under_change reduce 12 --length 1 --length 3000
under_change queens 48 --size 15
under_change heat 24 --size 256 --steps 1500 --output "$work/heat.png"
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
