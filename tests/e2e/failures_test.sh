#!/bin/sh
# What goes wrong is noticed, named, and harms nothing else.
. "$(dirname "$0")/lib.sh"

cd "$work" || exit 1
check "no mesh is an error that says what to do" fails_with "phoenix up" "$phoenix" status
for verb in run mpirun; do
  check "an exit code of $verb arrives also where SIGCHLD is ignored" \
    ends_with 7 timeout 60 env --ignore-signal=CHLD "$phoenix" $verb -n 1 sh -c 'exit 7'
done
check "a mesh starts without a word" \
  sh -c "test -z \"\$($phoenix up --local 4 -q --daemon-option=--peer-timeout=3 2>&1)\""

check "an exit code is passed on" sh -c "$phoenix run -n 4 -- /bin/sh -c 'exit 7'; test \$? -eq 7"
check "a signal is named" fails_with "killed by SIGSEGV (signal 11)" "$phoenix" run -n 4 -- /bin/sh -c 'kill -SEGV $$'
check "a program that is not executable is named" fails_with "chmod +x" "$phoenix" run -n 4 -- /etc/passwd
check "a missing program is named" fails_with "/nonexistent" "$phoenix" run -n 4 -- /nonexistent
check "a program that never attaches is named" \
  fails_with "phx::Session" "$phoenix" run -n 4 --attach-timeout 1 -- sleep 1000
check "a process that ends with 0 in the middle is named, at once" \
  fails_with "ended with exit code 0: it had not called finish()" \
  timeout 20 "$phoenix" run -n 4 -- "$travel" vanish
check "so is one that does not even attach" \
  fails_with "every process needs a phx::Session" timeout 20 \
  "$phoenix" run -n 4 -- sh -c "test \$PHOENIX_PROCESSOR = 1 && exit 0; exec $travel run 1000"
check "but not if none does" "$phoenix" run -n 4 -- true
check "no such processor" fails_with "no processor" "$phoenix" drain p99
check "no such job" fails_with "no job" "$phoenix" kill j99
check "all at once cannot be drained" fails_with "phoenix down" "$phoenix" drain p1 p2 p3 p4
check "a taken port is named, and who is there" fails_with "port taken.*(p1 (process [0-9]*) of this mesh is there" \
  "$bin/phoenixd" --mesh-dir "$PHOENIX_DIR/default" --listen "$(endpoint_of 1)"
port=$(endpoint_of 1); port=${port##*:}
check "also where it listens at all addresses" fails_with "port taken.*(p1 (process [0-9]*) of this mesh is there" \
  "$bin/phoenixd" --mesh-dir "$PHOENIX_DIR/default" --listen "0.0.0.0:$port"
check "its log says who a daemon is, and where" grep -q " joined p2 at=127.0.0.1:[0-9]* members=[2-4]$" "$PHOENIX_DIR"/default/phoenixd-*.log
check "an option that daemons do not have is named" fails_with "--nonsense" \
  "$phoenix" up -q --mesh other --local 1 --daemon-option=--nonsense
check "and leaves nothing behind" sh -c "! test -e $PHOENIX_DIR/other"
check "a verb that does not exist is named" fails_with "no 'statsu'" "$phoenix" statsu
check "a folder that others can open is refused" fails_with "chmod 700" \
  sh -c "mkdir -m 755 $work/open && PHOENIX_DIR=$work/open $phoenix status"

# Output that cannot be written is told, and not taken for success.
check "a full standard output is told" \
  fails_with "standard output: No space" sh -c "$phoenix run -n 4 -- echo hello >/dev/full"
unread() {
  bash -c "set -o pipefail; timeout 60 '$phoenix' run -n 2 --no-tags -- yes 2>'$work/unread' | head -n 1"
  test $? -eq 141 && grep -q "standard output: Broken pipe" "$work/unread"
}
check "a job whose output nobody reads any more ends" unread
check "a folder for output that cannot be made is told" \
  fails_with "cannot make the folder" "$phoenix" run -n 4 --output-dir /dev/full/x -- echo hello
mkdir "$work/small"
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=64k tmpfs "$work/small" 2>/dev/null; then
  check "a full disk is told" fails_with "p1.out: No space" "$phoenix" run -n 1 --on 1 \
    --output-dir "$work/small/out" -- sh -c 'head -c 300000 /dev/zero | tr "\0" x'
  umount "$work/small"
  mount -t tmpfs -o size=64k,mode=700 tmpfs "$work/small"
  head -c 300000 /dev/zero >"$work/small/fill" 2>/dev/null
  check "a start on a full disk is told" fails_with "No space left" \
    env PHOENIX_DIR="$work/small/dir" "$phoenix" up -q --local 1
  check "and leaves nothing" sh -c "! ls $work/small/dir | grep -q ."
  check "a detached job there" "$phoenix" run -d -n 1 --fit --name full --log "$work/small/full.out" -- seq 1 9
  check "tells that its output is lost" sh -c \
    "$phoenix logs -f full 2>&1 | grep -q 'output of j[0-9]* is missing (standard output: No space'"
  umount "$work/small"
  # The folder of a mesh, with room for the files of one daemon and no more.
  mount -t tmpfs -o size=64k,mode=700 tmpfs "$work/small"
  check "a mesh starts there" env PHOENIX_DIR="$work/small" "$phoenix" up -q --local 1
  head -c 300000 /dev/zero >"$work/small/fill" 2>/dev/null
  check "a full disk is told by a daemon that is added" fails_with "No space left on device (0 of 1" \
    env PHOENIX_DIR="$work/small" "$phoenix" add -q --local 1
  check "which is no member then" sh -c \
    "PHOENIX_DIR=$work/small $phoenix status | grep -q '1 processor,'"
  check "the mesh ends" env PHOENIX_DIR="$work/small" "$phoenix" down
  umount "$work/small"
fi

# A start that fails says how, and where.
printf '#!/bin/sh\nkill -9 $$\n' >killed
printf '#!/bin/sh\nexit 3\n' >silent
chmod +x killed silent
check "a start that is killed is told" \
  fails_with "on 127.0.0.7 did not start: it was killed by SIGKILL (signal 9)" \
  "$phoenix" add -q --remote-shell "$work/killed" 127.0.0.7
check "each that fails is named, with its exit code" \
  fails_with "127.0.0.[78] did not start.*exit code 3.*127.0.0.[78] did not start.*(0 of 2" \
  "$phoenix" add -q --remote-shell "$work/silent" 127.0.0.7 127.0.0.8
# The shell of a remote user may greet everybody, and one that lets nobody in says so there.
printf '#!/bin/sh\necho "Welcome: 3 users"\necho\nshift\nPHOENIX_DIR=%s exec sh -c "$*"\n' "$work/greeted" >greeting
printf '#!/bin/sh\necho "This account is closed."\nexit 1\n' >closing
chmod +x greeting closing
printf '127.0.0.1 listen=127.0.0.1:0\n' >one_host
check "a remote shell that greets does not disturb" \
  "$phoenix" up -q --mesh greeted --hosts one_host --remote-shell "$work/greeting"
check "its mesh ends" "$phoenix" down --mesh greeted
check "what is said to standard output only is told" fails_with "did not start: This account is closed." \
  "$phoenix" up -q --mesh greeted --hosts one_host --remote-shell "$work/closing"
check "what many say is said once" \
  fails_with "^phoenix: the daemon here did not start: .*--nonsense[^;]*; see phoenixd --help ([2-9] times) (0 of" \
  "$phoenix" add -q --local 9 --daemon-option=--nonsense
check "a machine that cannot reach the mesh is refused at once" \
  fails_with "listens on loopback only.*up --hosts" "$phoenix" add -q --remote-shell false lab7
check "a name that would be an option of the remote shell is refused" \
  fails_with "no name of a machine" "$phoenix" add -q --remote-shell false -- -oProxyCommand=x
check "what is not expected is told in order" fails_with "not expected: one two three" \
  "$phoenix" ps one two three

printf 'lab2 slots=4x\n' >wrong_hosts
check "a line of hosts that is wrong is told" fails_with "wrong_hosts:1: 'slots=4x'; a line is HOST" \
  "$phoenix" up -q --mesh half --hosts wrong_hosts

# Of two machines one fails: the other is not lost.
printf '127.0.0.1 listen=127.0.0.1:0\n127.0.0.2 listen=127.0.0.1:0\n' >two_hosts
cat >first_only <<END
#!/bin/sh
test "\$1" = 127.0.0.1 || exit 3
shift
PHOENIX_DIR=$work/far exec sh -c "\$*"
END
chmod +x first_only
check "a start that half fails says what runs, and how to end it" \
  fails_with "(1 of 2 daemons started: p1); these run: .*phoenix down ends them" \
  "$phoenix" up -q --mesh half --hosts two_hosts --remote-shell "$work/first_only"
check "and it can be ended" "$phoenix" down --mesh half

chmod 644 "$PHOENIX_DIR/default/key"
check "a key that others can read is refused" fails_with "chmod 600" "$phoenix" status
chmod 600 "$PHOENIX_DIR/default/key"

mkdir -m 700 "$work/wrong"
head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$work/wrong/key"
chmod 600 "$work/wrong/key"
check "a wrong key is refused" fails_with "key" \
  "$bin/phoenixd" --mesh-dir "$work/wrong" --join "$(endpoint_of 1)"

check "so is a member without a port" fails_with "the port is missing" \
  timeout 20 "$bin/phoenixd" --mesh-dir "$work/wrong" --join 127.0.0.1

mkfifo -m 600 "$work/pipe"
check "a pipe is no key" fails_with "is not a regular file" \
  timeout 20 "$bin/phoenixd" --mesh-dir "$work/wrong" --key "$work/pipe"

# Garbage and connections that say nothing, while a job runs.
"$phoenix" run -n 8 -- "$demos/heat" --until "$work/enough" >"$work/heat.out" 2>&1 &
job=$!
await "the job holds vnodes" holds_some 2
address=$(endpoint_of 2)
for i in $(seq 200); do
  bash -c "exec 3<>/dev/tcp/${address%:*}/${address#*:} && head -c $((i * 20)) /dev/urandom >&3" 2>/dev/null
done
touch enough
wait "$job"
check "garbage at a port does not disturb a job" test $? -eq 0

"$phoenix" run -n 8 -- "$demos/heat" --steps 100000 >"$work/killed.out" 2>&1 &
job=$!
await "the job holds vnodes" holds_some 3
kill -9 "$(process_of 3)"
wait "$job"
check "the job of a killed processor ends" test $? -eq 1
check "naming processor and vnodes" grep -q "p3 is gone.*v4-5" killed.out
await "the mesh knows" has_processors 3

"$phoenix" run -n 6 -- "$demos/heat" --steps 100000 >"$work/frozen.out" 2>&1 &
job=$!
dies_frozen 4 frozen.out "p4 is gone.*v4-5"
check "its last words are in its log" grep -q "^phoenixd: " "$PHOENIX_DIR/default/phoenixd-$frozen.log"

# A program with a daemon of its own does not come in, and ends no job.
"$phoenix" run -n 4 -- "$demos/heat" --until "$work/seen" >"$work/visited.out" 2>&1 &
visited=$!
await "a job runs" says "heat" "$phoenix" ps
endpoint=$("$phoenix" status --json | grep -A1 '"endpoints"' | grep -o '127[0-9.:]*' | head -n 1)
check "which has an address" test -n "$endpoint"
visit() { PHOENIX_KEY_FILE=$PHOENIX_DIR/default/key PHOENIX_JOIN=$endpoint "$demos/heat" --steps 5; }
check "who joins with a daemon inside is told whose the jobs are" \
      fails_with "it takes no program with a daemon inside" visit
touch seen
check "and the job goes on to its end" wait "$visited"

env --default-signal=INT "$phoenix" run -n 4 -- "$demos/heat" --steps 100000 >"$work/interrupted.out" 2>&1 &
job=$!
await "the job holds vnodes" holds_some 1
kill -INT "$job"
wait "$job"
check "an interrupted job ends" test $? -ne 0
await "no process is left" sh -c "! pgrep -f '$demos/[h]eat --steps 100000'"
check "the mesh still works" "$phoenix" run -n 4 -- "$demos/heat" --steps 10

"$phoenix" run -n 4 -- "$demos/heat" --steps 100000 >"$work/homeless.out" 2>&1 &
job=$!
await "the job holds vnodes" holds_some 2
kill -9 "$(process_of 1)"
wait "$job"
check "the job ends when its home, the coordinator, is killed" test $? -eq 1
check "naming it" grep -q "p1 is gone" homeless.out

# A home that hangs closes no connection: the tool must notice by itself.
check "processors are added" "$phoenix" add --local 2 -q --daemon-option=--peer-timeout=3
timeout 60 "$phoenix" run -n 12 -- "$demos/heat" --steps 100000 >"$work/hanging.out" 2>&1 &
job=$!
home=$(oldest)
dies_frozen "$home" hanging.out "p$home is gone"
check "the mesh still works" "$phoenix" run -n 4 -- "$demos/heat" --steps 10

# Who dies before it has left was not drained.
last=$("$phoenix" status | sed -n 's/^p\([0-9]*\) .*/\1/p' | tail -n 1)
freeze "$last"
check "a drain of one that dies is no success" \
  fails_with "p$last is gone without having left (.*); jobs that had something there have ended" \
  "$phoenix" drain "p$last"
kill -CONT "$frozen"
await "p$last, which was declared dead, ends itself" sh -c "! kill -0 $frozen"
check "processors are added" "$phoenix" add --local 1 -q

# Nor does Ctrl-C depend on it. The mesh is to notice nothing here.
waits_for_silent() { "$phoenix" ps | grep -q "waits for .*; p1 does not answer"; }
check "the mesh ends" "$phoenix" down
check "a patient mesh starts" "$phoenix" up --local 3 -q --daemon-option=--peer-timeout=100
env --default-signal=INT "$phoenix" run -n 12 -- "$demos/heat" --steps 100000 >"$work/mute.out" 2>&1 &
job=$!
await "the job holds vnodes" holds_some 1
freeze 1
await "status says who does not answer" waits_for_silent
check "also that of the job" sh -c "$phoenix status j1 | grep -q '^p1  *silent '"
kill -INT "$job"
await "the first Ctrl-C is taken" grep -q "once more ends it" mute.out
kill -INT "$job"
await "the second one ends the tool" sh -c "! kill -0 $job"
kill -CONT "$frozen"
wait "$job"
check "which says so by its exit code" test $? -eq 130
check "and names the home" grep -q "p1 at .*, which looks after j1, does not answer; p. ends it" mute.out
await "no job is left" sh -c "$phoenix ps | grep -q 'no jobs'"
await "no process is left" sh -c "! pgrep -f '$demos/[h]eat --steps 100000'"

# Whoever tells of one drain may be taken out by another one.
check "processors are added" "$phoenix" add --local 2 -q
"$phoenix" run -n 12 -- "$demos/heat" --until "$work/drained" >"$work/drained.out" 2>&1 &
job=$!
await "the job holds vnodes" holds_some 3
"$phoenix" drain p2 p3 >"$work/drain.out" 2>&1 &
drain=$!
check "one of two drains at once ends well" "$phoenix" drain p1
wait "$drain"
check "so does the other" test $? -eq 0
touch drained
wait "$job"
check "and the job" test $? -eq 0

# With nobody else to ask, the tool says for whom it waits, and goes on with whoever answers again.
check "the mesh ends" "$phoenix" down
check "a mesh of one starts" "$phoenix" up --local 1 -q
"$phoenix" run -n 2 -- "$demos/heat" --steps 100000 >"$work/alone.out" 2>&1 &
job=$!
await "the job holds vnodes" holds_some 1
freeze 1
await "the tool says for whom it waits" \
  grep -q "waiting since .* for p1 at 127.*, which looks after j1, to answer .*gives up after 30 s" alone.out
kill -CONT "$frozen"
check "the job has not ended" sh -c "$phoenix ps | grep -q heat"
kill -TERM "$job"
wait "$job"
check "it ends when it is told to" test $? -ne 0
await "no process is left" sh -c "! pgrep -f '$demos/[h]eat --steps 100000'"
all_done
