#!/bin/sh
# Containers of one machine that share PHOENIX_DIR: a daemon or a tool of another one has no number here, and lives.
. "$(dirname "$0")/lib.sh"

cd "$work" || exit 1
# apart COMMAND...: in a PID namespace of its own; alone COMMAND...: and with a network of its own.
apart() { unshare -p -f --mount-proc "$@"; }
alone() { unshare -n -p -f --mount-proc sh -c 'ip link set lo up; exec "$@"' sh "$@"; }
check "a mesh starts" "$phoenix" up --local 2 -q
if ! alone true 2>/dev/null; then
  skip_all "no namespaces can be made here"
fi
sockets() { ls "$PHOENIX_DIR"/default/app-*.sock | wc -l; }

check "daemons of another container are listed" says "^default  *2 " apart "$phoenix" list
check "and may be joined from there" sh -c "unshare -p -f --mount-proc $phoenix add --local 1 -q; $phoenix status | grep -q '^p2 '"
check "which takes nothing away from them" test -e "$PHOENIX_DIR/default/p1.json" -a "$(sockets)" -ge 2
check "jobs go on" "$phoenix" run -n 4 --on 2 -- true
check "who cannot reach them says where they are" \
  fails_with "no daemon of mesh 'default' answers.*there is p1 and p2: on this machine, in another container" alone "$phoenix" status
check "and does not start a mesh in their place" fails_with "in another container" alone "$phoenix" up --local 1
check "nor ends them" ends_with 1 alone "$phoenix" down
check "but says what to do" fails_with "p1 and p2 .*cannot be ended from here.*call phoenix down in that container" \
  alone "$phoenix" down
check "their key stays" test -s "$PHOENIX_DIR/default/key"
check "they go on" "$phoenix" status
check "who reaches them ends them" apart "$phoenix" down
check "all of them" sh -c "! test -e $PHOENIX_DIR/default"
await "no daemon is left" no_daemon

# Meshes of tools: the first process of a container has the number 1, and so has that of another.
"$phoenix" run -n 2 --attach-timeout 600 -- sh -c "until test -e $work/go; do sleep 0.1; done" >one 2>&1 &
one=$!
await "a private mesh runs a job" sh -c "ls $PHOENIX_DIR/run-*/p4.json"
check "it is listed elsewhere" says "^run-$one  *4 " apart "$phoenix" list
check "and its folder stays" test -e "$PHOENIX_DIR/run-$one/key"
touch go
check "its job ends well" wait "$one"
rm go
for i in 1 2; do
  apart "$phoenix" run -n 1 --on 1 --attach-timeout 600 -- \
    sh -c "touch $work/begun$i; until test -e $work/go; do sleep 0.1; done" >"said$i" 2>&1 &
  eval "tool$i=$!"
done
await "both jobs run at once" test -e begun1 -a -e begun2
check "in two meshes" test -d "$PHOENIX_DIR/run-1" -a -d "$PHOENIX_DIR/run-1-2"
touch go
check "the first ends well" wait "$tool1"
check "the second, too" wait "$tool2"
check "nothing is left" sh -c "! ls $PHOENIX_DIR | grep run-"
rm go
# Two launchers of MPI programs, which have no daemons.
for i in 1 2; do
  apart "$phoenix" mpirun -n 2 sh -c "touch $work/ranks$i; until test -e $work/go; do sleep 0.1; done" >"said$i" 2>&1 &
  eval "tool$i=$!"
done
await "both run at once" test -e ranks1 -a -e ranks2
check "whoever lists meshes" "$phoenix" list
check "takes nothing away" test -e "$PHOENIX_DIR/mpirun-1/key" -a -e "$PHOENIX_DIR/mpirun-1-2/key"
touch go
wait "$tool1" "$tool2"
await "nothing is left" sh -c "! ls $PHOENIX_DIR | grep run-"
all_done
