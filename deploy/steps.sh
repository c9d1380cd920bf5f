# Read by quickstart.sh and test.sh: runs one step after the other and says what, how far and how long.
# A step's full output goes to build/logs/<step>.log; if the step fails, its end is shown.

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"
logs=$root/build/logs
mkdir -p "$logs"
rm -f "$logs"/*.passed "$logs"/*.stopped
began=$(date +%s)
# As many compilers as processors: with one more, which is what ninja takes on two processors, these need a tenth longer,
# because they share caches and memory.
CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc 2>/dev/null || echo 2)}
export CMAKE_BUILD_PARALLEL_LEVEL

# Shows every tenth part of ninja's and ctest's progress, and nothing else.
progress() {
  awk '
    match($0, /^\[[0-9]+\/[0-9]+\]/) {
      split(substr($0, 2, RLENGTH - 2), part, "/")
      report(part[1], part[2], "built")
    }
    match($0, /^ *[0-9]+\/[0-9]+ Test/) {
      split($0, part, "/"); split(part[2], total, " ")
      report(part[1] + 0, total[1], "tested")
    }
    function report(n, all, what,  tenth) {
      tenth = int(10 * n / all)
      if (what != last_what) { last_what = what; last_tenth = 0 }
      if (all >= 20 && tenth > last_tenth && tenth < 10) {
        printf "      %d of %d %s\n", n, all, what; fflush()
        last_tenth = tenth
      }
    }'
}

# step NAME SENTENCE COMMAND...
step() {
  name=$1; sentence=$2; shift 2
  log=$logs/$name.log
  start=$(date +%s)
  printf '==> %s\n' "$sentence"
  rm -f "$logs/$name.failed"
  { "$@" 2>&1 || echo "$?" > "$logs/$name.failed"; } | tee "$log" | progress
  took=$(($(date +%s) - start))
  if [ -e "$logs/$name.failed" ]; then
    printf '    FAILED after %d s; the end of %s:\n\n' "$took" "$log"
    tail -n 120 "$log"
    # Of tests that ran side by side, the one that failed may stand far above the end.
    failed=$(grep -n '\*\*\*' "$log" | grep -v '\*\*\*Skipped' | head -n 20 || true)
    [ -z "$failed" ] || printf '\nWhat failed, by line of the log:\n%s\n' "$failed"
    printf '\n%s: %s failed. Everything it said is in %s\n' "$(basename "$0")" "$name" "$log"
    exit 1
  fi
  printf '    done in %d s\n' "$took"
}

# behind NAME COMMAND [NAME COMMAND ...]: begins what later steps wait for, one after the other, with the time of the
# processors that the steps in between leave over. A command is a text for the shell. It ends with the script, however
# that ends.
behind() {
  # shellcheck disable=SC2016
  setsid nice -n 19 sh -c '
    logs=$1 script=$2; shift 2
    # A session has a share of its own where the system groups processes by these.
    { echo 19 > /proc/$$/autogroup; } 2>/dev/null || true
    (while kill -0 "$script" 2>/dev/null; do sleep 1; done; kill -- "-$$") &
    while [ "$#" -gt 0 ]; do
      sh -c "$2" > "$logs/$1.behind" 2>&1 && touch "$logs/$1.passed" || touch "$logs/$1.stopped"
      shift 2
    done' behind "$logs" "$$" "$@" &
  behind_group=$!
  trap 'kill -- "-$behind_group" 2>/dev/null || true' EXIT
}

# finish NAME: what `behind` began, as the command of a step.
finish() {
  until [ -e "$logs/$1.passed" ] || [ -e "$logs/$1.stopped" ]; do
    kill -0 "$behind_group" 2>/dev/null || { echo "what ran behind the other steps was killed"; break; }
    sleep 1
  done
  cat "$logs/$1.behind"
  [ -e "$logs/$1.passed" ]
}
