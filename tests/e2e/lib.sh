# Read by the tests of this folder: real daemons, real sockets, real time. Each test has a folder and
# a mesh of its own, waits for events instead of sleeping, and takes everything down at its end.
#
#   $1 of every test: the folder with the programs phoenix and phoenixd; $2: the folder of the demos;
#   $3: the folder of the application travel

set -u
test_name=$(basename "$0" _test.sh)
bin=$(cd "$1" && pwd)
demos=$(cd "$2" && pwd)
travel=$(cd "$3" && pwd)/travel
phoenix=$bin/phoenix
work=$(mktemp -d /tmp/phoenix-e2e-XXXXXX)
# What whoever runs the tests has set up for himself is not meant for them.
# shellcheck disable=SC2046
unset $(env | sed -n 's/^\(PHOENIX_[A-Z_]*\)=.*/\1/p') MPIEXEC_TIMEOUT
export PHOENIX_CONFIG=/dev/null
export PHOENIX_DIR=$work/dir
passed=0
failed=0
complete=

# The last line of every test: one that stops before it has failed.
all_done() { complete=1; }
# skipped WHAT-IS-MISSING: a part of this test, or all of it by skip_all. deploy/test.sh lists these lines.
skipped() { echo "skipped: e2e.$test_name: $*"; }
skip_all() { skipped "$@"; exit 77; }

# Everything that was started here: it has a name of our folder in its environment.
ours() { grep -ls "$work" /proc/[0-9]*/environ | sed -n 's|^/proc/\([0-9]*\)/environ$|\1|p'; }

# All meshes below our folder, wherever a test has put them, then what has not ended.
end_all() {
  find "$work" -name 'p[0-9]*.json' 2>/dev/null | sed 's|/[^/]*$||' | sort -u | while read -r mesh; do
    PHOENIX_DIR=$(dirname "$mesh") timeout -s KILL 4 "$phoenix" down --mesh "$(basename "$mesh")" \
      >/dev/null 2>&1 </dev/null
  done
  type tidy_up >/dev/null 2>&1 && tidy_up
  for pid in $(ours); do
    # One of them may have ended meanwhile, and its number be somebody else's.
    grep -qs "$work" "/proc/$pid/environ" && kill -KILL "$pid" 2>/dev/null
  done
}

# What explains a failure: all that is not too long, to be read later, and the ends of logs, to be read now.
keep_all() {
  kept=$bin/../logs/e2e-$test_name
  rm -rf "$kept"
  mkdir -p "$kept" && kept=$(cd "$kept" && pwd)
  (cd "$work" && find . -type f -size -2048k ! -name key ! -name '*_key' -print0 | tar -c --null -T - 2>/dev/null) |
    tar -x -C "$kept"
  for log in "$work"/logs/* "$PHOENIX_DIR"/*/phoenixd-*.log "$PHOENIX_DIR"/.logs/*/* "$work"/*.out; do
    [ -s "$log" ] || continue
    echo "--- the end of $log"
    tail -n 20 "$log"
  done
  echo "--- all of it is in $kept"
}

finish() {
  code=$?
  trap '' INT TERM
  trap - EXIT
  cd /
  if [ "$code" -eq 77 ] && [ "$failed" -eq 0 ]; then
    end_all
    rm -rf "$work"
    exit 77
  fi
  [ -n "$complete" ] || echo "FAILED: it stopped before its end, with exit code $code"
  if [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ] && [ "$code" -eq 0 ] && [ -n "$complete" ]; then verdict=0; else verdict=1; fi
  rm -rf "$bin/../logs/e2e-$test_name"  # of before
  [ "$verdict" -eq 0 ] || keep_all
  end_all
  rm -rf "$work"
  echo "$passed passed, $failed failed"
  exit "$verdict"
}
trap finish EXIT
trap 'exit 1' INT TERM

# check SENTENCE COMMAND...: counts whether the command succeeds.
check() {
  sentence=$1
  shift
  if "$@" >"$work/said" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    { echo "FAILED: $sentence: $*"; sed 's/^/    /' "$work/said"; } | tee -a "$work/failures"
  fi
}

# says TEXT COMMAND...: it writes this, to standard output or to stderr.
says() {
  text=$1
  shift
  "$@" 2>&1 | grep -q -- "$text"
}

# fails_with TEXT COMMAND...: the command must fail, and say this.
fails_with() {
  text=$1
  shift
  if "$@" >"$work/refusal" 2>&1; then
    echo "succeeded, but should say: $text"
    return 1
  fi
  grep -q -- "$text" "$work/refusal" || { cat "$work/refusal"; return 1; }
}

# ends_with CODE COMMAND...: the command must end with this exit code.
ends_with() {
  wanted=$1
  shift
  "$@"
  got=$?
  [ $got -eq "$wanted" ] || { echo "exit code $got"; return 1; }
}

# takes_signals PID: the tool has begun, and Ctrl-C is its own. Until then the process is a shell, with the
# traps of this one, which drops signals.
takes_signals() {
  grep -q '^phoenix$' "/proc/$1/comm" && grep -q 'SigCgt:.*[2367abef]$' "/proc/$1/status"
}

# await SENTENCE COMMAND...: until the command succeeds, at most 60 s.
await() {
  sentence=$1
  shift
  tries=0
  until "$@" >/dev/null 2>&1; do
    tries=$((tries + 1))
    if [ "$tries" -gt 600 ]; then
      failed=$((failed + 1))
      echo "FAILED: waited 60 s in vain until $sentence" | tee -a "$work/failures"
      return 1
    fi
    sleep 0.1
  done
}

processors() { "$phoenix" status --json | grep -c '"endpoints"'; }
has_processors() { [ "$(processors)" -eq "$1" ]; }
# Vnodes of all jobs that processor $1 holds.
holds_some() { "$phoenix" status | grep "^p$1 " | grep -q 'j[0-9]*:'; }
process_of() { sed -n 's/.*"pid": \([0-9]*\).*/\1/p' "$PHOENIX_DIR/default/p$1.json"; }
endpoint_of() { sed -n 's/.*"endpoint": "\([^"]*\)".*/\1/p' "$PHOENIX_DIR/default/p$1.json"; }
oldest() { "$phoenix" status | sed -n 's/^p\([0-9]*\) .*/\1/p' | head -n 1; }
# Stops processor $1 as it stands: its connections stay, and it does nothing. `kill -CONT "$frozen"` ends that.
freeze() { frozen=$(process_of "$1"); kill -STOP "$frozen"; }
no_daemon() { ! pgrep -f "[m]esh-dir $PHOENIX_DIR" >/dev/null; }

# dies_frozen PROCESSOR OUTPUT TEXT: freezes a processor on which $job runs. The job must end with this
# text in its output, and the processor end itself when it goes on.
dies_frozen() {
  await "the job holds vnodes on p$1" holds_some "$1"
  freeze "$1"
  wait "$job"
  check "the job ends when p$1 is frozen" test $? -eq 1
  check "naming what is lost" grep -q "$3" "$2"
  kill -CONT "$frozen"
  await "p$1, which was declared dead, ends itself" sh -c "! kill -0 $frozen"
}

# under_change NAME COMMAND...: two processors join, the two oldest are drained, again and again until
# the command ends, whose output goes to NAME.out.
under_change() {
  name=$1
  shift
  "$@" >"$work/$name.out" 2>&1 &
  job=$!
  changes=0
  while kill -0 "$job" 2>/dev/null; do
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
