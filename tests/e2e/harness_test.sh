#!/bin/sh
# What these tests say of themselves is true: scripts that are planted here fail, are skipped and clean up as they should.
. "$(dirname "$0")/lib.sh"

lib=$(cd "$(dirname "$0")" && pwd)/lib.sh
cd "$work" || exit 1
# planted SCRIPT: runs it as a test of this folder, with a hostile environment.
planted() {
  printf '#!/bin/sh\n. %s\n%s\n' "$lib" "$1" >planted_test.sh
  env PHOENIX_MESH=nowhere PHOENIX_VNODES=x PHOENIX_CONFIG=/nowhere TMPDIR=/nowhere \
    sh planted_test.sh "$bin" "$demos" "$(dirname "$travel")" >planted.out 2>&1
  code=$?
  cat planted.out
  return $code
}
good='check "this is so" true'
gives() {
  code=$1 text=$2 script=$3
  check "'$script' gives $code" ends_with "$code" planted "$script"
  check "and says why" grep -q -- "$text" planted.out
}
gives 0 "^1 passed, 0 failed" "$good; all_done"
gives 1 "^FAILED: this is so: false" 'check "this is so" false; all_done'
gives 1 "^0 passed" all_done
for end in 'exit 0' 'exit 1' 'unset nothing; echo $nothing' ') (' 'kill -TERM $$; sleep 60' 'kill -INT $$; sleep 60'; do
  gives 1 "^FAILED: it stopped before its end" "$good
$end
all_done"
done
gives 1 "^1 passed" "$good; all_done; exit 3"
gives 77 "^skipped: e2e.planted: needs what is not here" "$good; skip_all needs what is not here"
gives 1 "stopped before its end" "check 'this is so' false; skip_all needs what is not here"
gives 0 "^skipped: e2e.planted: half of it" "skipped half of it; $good; all_done"

# Daemons in whatever folder, frozen or not, and a program that nobody waits for, are gone after a failure.
gives 1 "phoenixd-[0-9]*.log" 'echo "$work" >'"$work/where"'
check "this is so" false
check "a mesh" "$phoenix" up --local 2 -q
check "another one" env PHOENIX_DIR="$work/other" "$phoenix" up --local 1 -q --mesh more
freeze 1
sleep 1000 &
exit 1'
where=$(cat where)
gone() { ! grep -qs "$where" /proc/[0-9]*/environ; }
await "nothing is left of it" gone
check "nor its folder" test ! -e "$where"
check "its logs are kept" sh -c "ls $bin/../logs/e2e-planted/dir/default/phoenixd-*.log $bin/../logs/e2e-planted/other/more/*.log"
check "also what failed" grep -q "^FAILED: this is so" "$bin/../logs/e2e-planted/failures"
check "and no key" sh -c "! find $bin/../logs/e2e-planted -name key | grep ."
rm -rf "$bin/../logs/e2e-planted"
all_done
