# Read by the tests of this folder: real daemons, real sockets, real time. Each test has a folder and
# a mesh of its own, waits for events instead of sleeping, and takes everything down at its end.
#
#   $1 of every test: the folder with the programs phoenix and phoenixd; $2: the folder of the demos;
#   $3: the folder of the application travel

set -u
bin=$(cd "$1" && pwd)
demos=$(cd "$2" && pwd)
travel=$(cd "$3" && pwd)/travel
phoenix=$bin/phoenix
work=$(mktemp -d /tmp/phoenix-e2e-XXXXXX)
export PHOENIX_DIR=$work/dir
passed=0
failed=0

finish() {
  code=$?
  "$phoenix" down >/dev/null 2>&1
  type tidy_up >/dev/null 2>&1 && tidy_up
  if [ "$failed" -ne 0 ] || [ "$code" -ne 0 ]; then
    echo "--- logs of the daemons"
    tail -n 20 "$work"/logs/* 2>/dev/null
  fi
  rm -rf "$work"
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
  exit $?
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
    echo "FAILED: $sentence: $*"
    sed 's/^/    /' "$work/said"
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
      echo "FAILED: waited 60 s in vain until $sentence"
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
