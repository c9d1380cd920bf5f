#!/bin/sh
# Surroundings that take something away: the network, for a while or for good; /proc, /dev/null, long files.
# Needs root, unshare, ip and nft; without them it is skipped.
. "$(dirname "$0")/lib.sh"

if [ "$(id -u)" -ne 0 ] || ! command -v nft >/dev/null || ! unshare -n -m -p -f true 2>/dev/null; then
  skip_all "needs root, ip and nft (deploy/setup.sh --tests)"
fi
if [ -z "${PHX_APART:-}" ]; then
  rm -rf "$work"
  trap - EXIT
  PHX_APART=1 exec unshare -n -m "$0" "$@"
fi
ip link set lo up
mount --make-rprivate /
mkdir -m 700 "$PHOENIX_DIR"
cd "$work" || exit 1
has() { grep -q -- "$2" "$1"; }
log_of() { cat "$PHOENIX_DIR/$1"/*.log; }
# begins NAME COMMAND...: a daemon of a mesh of its own, which is started by that.
begins() {
  mesh=$1
  shift
  "$@" "$bin/phoenixd" --mesh-dir "$PHOENIX_DIR/$mesh" --new-key --log-file "$PHOENIX_DIR/$mesh/x.log" &
  daemon=$!
  await "a daemon of mesh $mesh runs" test -e "$PHOENIX_DIR/$mesh/p1.json"
}
# beside COMMAND...: where that daemon runs, with what is mounted there.
beside() { nsenter -m -t "$daemon" "$@"; }

# The connection of a tool breaks, and its daemon cannot be reached for a while.
check "a mesh starts" "$phoenix" up --local 1 -q
"$phoenix" run -n 1 --no-tags -- sh -c "echo begun; until [ -e $work/gate ]; do sleep 0.1; echo more; done; echo ended" \
  >reset.out 2>&1 &
tool=$!
await "a job writes" has reset.out more
port=$(endpoint_of 1)
nft "add table inet wall; add chain inet wall in { type filter hook input priority 0; }"
nft "add rule inet wall in meta l4proto tcp tcp dport ${port##*:} reject with tcp reset"
await "its tool is refused" has reset.out "waiting since .* since the connection to p1 is lost"
nft flush ruleset
touch gate
check "it goes on when it is let in again" wait "$tool"
check "with all that was written" has reset.out "^ended$"

# The same while the job says nothing: its daemon does not notice.
"$phoenix" run -n 1 --no-tags -- sh -c "echo begun; until [ -e $work/gate0 ]; do sleep 0.1; done; echo ended" \
  >silent.out 2>&1 &
tool=$!
await "a job is silent" has silent.out begun
nft "add table inet wall; add chain inet wall in { type filter hook input priority 0; }"
nft "add rule inet wall in meta l4proto tcp tcp dport ${port##*:} reject with tcp reset"
await "its tool is refused" has silent.out "waiting since .* since the connection to p1 is lost"
nft flush ruleset
touch gate0
check "it goes on in place of its former connection" wait "$tool"
check "with all that was written" has silent.out "^ended$"

# Of two tools that read nothing one is stopped, and the machine of the other one is gone.
"$phoenix" run -n 1 --no-tags -- sh -c 'echo begun; yes | head -c 30000000' >stopped.out 2>&1 &
stopped=$!
"$phoenix" run -n 1 --name gone --no-tags -- sh -c "echo begun; until [ -e $work/gone ]; do sleep 0.1; done; yes" >gone.out 2>&1 &
gone=$!
await "both have begun" has stopped.out begun
await "both have begun" has gone.out begun
kill -STOP "$stopped"
near=$(ss -Htnp | awk -v tool="pid=$gone," 'index($0, tool) { sub(".*:", "", $4); print $4 }')
nft "add table inet wall; add chain inet wall in { type filter hook input priority 0; }"
nft "add rule inet wall in meta l4proto tcp tcp sport $near drop"
nft "add rule inet wall in meta l4proto tcp tcp dport $near drop"
kill -KILL "$gone"
touch gone
# The machine may only sleep, so its job goes on; but another tool may follow it now.
job=$("$phoenix" ps | awk '$2 == "gone" { print $1 }')
follows() { timeout 20 "$phoenix" attach "$job" 2>>attach.err </dev/null | head -1 | grep -q .; }
await "the machine of the one is known to be gone" follows
"$phoenix" kill "$job" >/dev/null
nft flush ruleset
kill -CONT "$stopped"
check "that of the other one has waited" wait "$stopped"
check "and nothing is lost" [ "$(wc -c <stopped.out)" -eq 30000006 ]
wait "$gone"

# Memory runs out for one process: more than 40 MB are not to be had in a group of its own, nor is other storage.
group=
for place in /sys/fs/cgroup/memory /sys/fs/cgroup; do
  mkdir "$place/phoenix-$$" 2>/dev/null || continue
  for limit in memory.limit_in_bytes memory.memsw.limit_in_bytes memory.max; do
    [ -e "$place/phoenix-$$/$limit" ] && echo 40000000 2>/dev/null >"$place/phoenix-$$/$limit" && group=$place/phoenix-$$
  done
  [ -z "$group" ] || break
  rmdir "$place/phoenix-$$"
done
[ ! -e "$group/memory.swap.max" ] || echo 0 >"$group/memory.swap.max"
swaps=$(sed 1d /proc/swaps)
if [ -n "$group" ] && [ -n "$swaps" ] && [ ! -e "$group/memory.swap.max" ] && [ ! -e "$group/memory.memsw.limit_in_bytes" ]; then
  rmdir "$group"  # It would only become slow.
  group=
fi
eats="echo \$\$ >$group/cgroup.procs; exec tail /dev/zero"
why="(signal 9): the kernel has ended .* of this machine meanwhile because memory ran out"
if [ -n "$group" ]; then
  check "a process for which no memory is left says so" \
    fails_with "was killed by SIGKILL $why" "$phoenix" run -n 1 -- sh -c "$eats"
  check "a rank, too" fails_with "was killed by signal 9 (Killed): the kernel has ended .* because memory ran out" \
    "$phoenix" mpirun -n 1 sh -c "$eats"
  check "else it was somebody else" fails_with "was killed by SIGKILL (signal 9): it held v0" \
    "$phoenix" run -n 1 -- sh -c 'kill -KILL $$'
  await "nothing is left in the group" rmdir "$group"
else
  echo "skipped: memory that runs out (no group with a limit)"
fi

# Nothing passes any more.
ip link set lo down
check "a daemon that cannot be reached is told to end by a signal" \
  says "p1 (process .*) could not be reached: told to end by SIGTERM" "$phoenix" down
await "and ends" no_daemon
ip link set lo up
check "a mesh starts" "$phoenix" up --local 1 -q
freeze 1
check "a daemon that stands still is killed" says "did not end by itself within 10 s: killed" "$phoenix" down
await "and is gone" no_daemon

# A newcomer that has no place for its files was never a member.
check "a mesh starts" "$phoenix" up --local 1 -q
mkdir "$work/closed"
mount -t tmpfs -o ro,mode=0700 none "$work/closed"
check "a newcomer that cannot write says so" fails_with "cannot be written: Read-only file system" \
  "$bin/phoenixd" --mesh-dir "$work/closed" --key "$PHOENIX_DIR/default/key" --join "$(endpoint_of 1)"
check "and the mesh has not seen it" says "view 1, 1 processor" "$phoenix" status
umount "$work/closed"
check "the mesh ends" "$phoenix" down

# Files may not be longer than a page.
begins short sh -c 'ulimit -c 0; ulimit -f 8; exec "$@"' sh
check "a program runs where no file may be long" "$phoenix" demo broadcast --mesh short -n 2 --max 64K
check "a process has signals as usual" ends_with 153 "$phoenix" run --mesh short -n 1 -- sh -c 'kill -XFSZ $$'
check "the mesh ends" "$phoenix" down --mesh short
check "and its daemon, well" wait "$daemon"

# The numbers in /proc are those of others.
begins apart unshare -p -f
"$phoenix" run --mesh apart -n 1 -- sh -c "until [ -e $work/gate1 ]; do sleep 0.1; done" &
one=$!
await "a job runs" sh -c "'$phoenix' ps --mesh apart | grep -q ^j1"
"$phoenix" run --mesh apart -n 1 --no-tags -- sh -c "echo begun; until [ -e $work/gate2 ]; do sleep 0.1; done; echo well" \
  >other.out 2>&1 &
other=$!
await "another one, too" has other.out begun
touch gate1
check "the first ends" wait "$one"
check "a third one ends, with what it has left in its group" "$phoenix" run --mesh apart -n 1 -- sh -c "sleep 1000 & true"
touch gate2
check "the other one was left alone" wait "$other"
check "to its end" has other.out "^well$"
check "the daemon says what is not found" says "leftovers-not-found /proc is missing, or" log_of apart
check "the mesh ends" "$phoenix" down --mesh apart
wait "$daemon"

# Neither /proc nor /dev/null.
mkdir empty
begins bare unshare -m sh -c 'mount -t tmpfs none /proc && exec "$@"' sh
check "a daemon without /proc says what is not found" says "leftovers-not-found /proc is missing" log_of bare
check "jobs run" says "^here" beside "$phoenix" run --mesh bare -n 1 --no-tags -- sh -c 'sleep 1000 & echo here'
check "the mesh ends" beside "$phoenix" down --mesh bare
wait "$daemon"
begins void unshare -m sh -c "mount --bind $work/empty /dev && exec \"\$@\"" sh
check "without /dev/null a job says that" fails_with "no standard input, for /dev/null cannot be opened" \
  "$phoenix" run --mesh void -n 1 -- true
check "the mesh ends" "$phoenix" down --mesh void
wait "$daemon"
all_done
