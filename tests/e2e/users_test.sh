#!/bin/sh
# Meshes side by side, of one user and of two: none sees the other. What is read makes nothing.
. "$(dirname "$0")/lib.sh"

cd "$work" || exit 1
check "asking makes no folder" sh -c "! $phoenix status && ! $phoenix ps --mesh other && ! test -e $PHOENIX_DIR"
check "one mesh starts" "$phoenix" up --local 2 -q
check "another one of the same user too" "$phoenix" up --local 3 -q --mesh other
check "the first has its own processors" has_processors 2
check "and the other its own" sh -c "$phoenix status --mesh other | grep -q '3 processors'"
mv "$PHOENIX_DIR/default/key" key
check "a mesh that runs here without its key is told" \
  fails_with "p1 of mesh 'default' runs here, but its key is not in $PHOENIX_DIR/default; copy it to" "$phoenix" status
check "and not taken for none" fails_with "its key is not in" "$phoenix" run -n 2 -- true
cp "$PHOENIX_DIR/other/key" "$PHOENIX_DIR/default/key"
check "another key is told" fails_with "does not take the key in" "$phoenix" status
check "and ends nothing" fails_with "does not take the key in" "$phoenix" down
mv -f key "$PHOENIX_DIR/default/key"
"$phoenix" run -n 6 --mesh other -- "$demos/heat" --steps 100000 >"$work/other.out" 2>&1 &
job=$!
await "the other runs a job" sh -c "$phoenix ps --mesh other | grep -q heat"
check "which the first does not know" sh -c "$phoenix ps | grep -q 'no jobs'"
check "a daemon of one is not let into the other" fails_with "key" \
  "$bin/phoenixd" --mesh-dir "$PHOENIX_DIR/other" --join "$(endpoint_of 1)"
check "an unknown mesh is an error that names the others" fails_with "default, other" \
  "$phoenix" status --mesh nothing
check "the first ends" "$phoenix" down
check "the other does not" sh -c "$phoenix status --mesh other | grep -q '3 processors'"
check "its job ends when asked" "$phoenix" kill --mesh other j1
wait "$job"
check "and says why" grep -q "ended by request" other.out
check "the other ends" "$phoenix" down --mesh other
await "no daemon is left" no_daemon

# A folder named from here is the same one for daemons and processes elsewhere.
mkdir elsewhere
in_relative() { PHOENIX_DIR=relative "$phoenix" "$@"; }
check "a mesh starts in a folder with a relative name" in_relative up --local 2 -q
check "processes in another folder find it" in_relative run -n 2 --wdir elsewhere -- "$travel" run 5
check "it ends" in_relative down

# A mesh of which there is a key, and no daemon yet.
mkdir -m 700 "$PHOENIX_DIR/default"
tr -dc a-f0-9 </dev/urandom | head -c 64 >"$PHOENIX_DIR/default/key"
chmod 600 "$PHOENIX_DIR/default/key"
check "who wants it is told" fails_with "of mesh 'default' there is a key here, but no daemon runs; start some" \
  "$phoenix" run --mesh default -n 1 -- true
check "also by its environment" fails_with "no daemon runs" env PHOENIX_MESH=default "$phoenix" demo queens
check "as by other commands" fails_with "no daemon runs; start some, by its service or by phoenix up" "$phoenix" status
check "who does not has a mesh for the job" \
  says "no daemon runs: this job runs in a private mesh of 2 daemons (--mesh default insists" \
  "$phoenix" run -n 1 --on 2 -- true
"$bin/phoenixd" --join 127.0.0.1:1 >coming 2>&1 &
coming=$!
await "a daemon is on its way" sh -c "ls $PHOENIX_DIR/default/starting-*"
check "which is told" fails_with "mesh 'default' is just being started; try again" "$phoenix" ps
check "and the reason for a private mesh" says "is just being started: this job runs in a private mesh of 1 daemon" \
  "$phoenix" run -n 1 --on 1 -- true
kill "$coming"
wait "$coming"
touch -d '2 minutes ago' "$PHOENIX_DIR"/default/starting-*
timeout 1 "$bin/phoenixd" --join 127.0.0.1:1
check "what it has left goes with the next one" test "$(ls "$PHOENIX_DIR"/default/starting-* | wc -l)" -eq 1
check "the mesh is ended" "$phoenix" down
rm -r "$PHOENIX_DIR/default"
check "without anything of a mesh nothing is said" sh -c "test -z \"\$($phoenix run -n 1 --on 1 -- true 2>&1)\""

# Two starts at once.
for after in 0 0.01 0.02; do
  "$phoenix" up --local 2 -q >one 2>&1 &
  one=$!
  sleep $after
  "$phoenix" up --local 2 -q >two 2>&1
  two=$?
  wait "$one"
  check "one of two starts at once succeeds, after $after s" test $(($? + two)) -eq 1
  check "the other says why it does not" grep -q "is just being started\|runs already" one two
  check "there is one mesh of two" has_processors 2
  check "it ends" "$phoenix" down
  await "no daemon is left" no_daemon
done

# A state file whose daemon is dead, and whose number another process has.
check "a mesh starts" "$phoenix" up --local 2 -q
sleep 1000 &
innocent=$!
kill -9 "$(process_of 1)"
state=$PHOENIX_DIR/default/p1.json
await "the dead daemon is not taken for one that runs" sh -c "! $phoenix status | grep -q '^p1 '"
sed -i "s/\"pid\": .*/\"pid\": $innocent,/" "$state"
check "the mesh ends" timeout 30 "$phoenix" down
check "and an innocent process lives" kill -0 "$innocent"
kill "$innocent"

nobody="setpriv --reuid 65534 --regid 65534 --clear-groups env -u PHOENIX_DIR XDG_RUNTIME_DIR=$work/nobody"
mkdir -m 700 "$work/nobody"
chmod 711 "$work"
if [ "$(id -u)" -ne 0 ] || ! chown 65534:65534 "$work/nobody" || ! $nobody test -x "$phoenix"; then
  skipped "no second user who can run $phoenix"
  all_done
  exit 0
fi
key=$PHOENIX_DIR/default/key
check "a mesh of the first user starts" "$phoenix" up --local 2 -q
check "the second user does not see it" fails_with "no mesh 'default' runs here" $nobody "$phoenix" status
check "nor reads its key" fails_with "Permission denied" $nobody cat "$key"
check "nor looks into its folder" fails_with "belongs to somebody else" \
  $nobody env PHOENIX_DIR="$PHOENIX_DIR" "$phoenix" status
check "and has a mesh of the same name" $nobody "$phoenix" up --local 3 -q
check "with its own processors" sh -c "$nobody $phoenix status | grep -q '3 processors'"
check "the first keeps its own" has_processors 2
# What somebody else has made first is not taken, neither by the tool nor by a daemon.
theirs=/tmp/phoenix-65534-$$
mkdir -m 700 "$theirs"
ln -s "$work/nobody" "$theirs.link"
for folder in "$theirs" "$theirs.link"; do
  for program in "$phoenix up --local 1 -q" "$bin/phoenixd --new-key"; do
    # shellcheck disable=SC2086
    check "$folder is refused by $program" fails_with "set PHOENIX_DIR to a folder of yours" \
      timeout 20 $nobody env PHOENIX_DIR="$folder" $program
  done
done
rm -r "$theirs" "$theirs.link"
cd "$work/nobody" || exit 1
# A program that nobody may run as root, as sudo would: it is not for that user to kill.
cp "$(command -v setpriv)" become && chmod 4755 become
if [ "$($nobody ./become --reuid 0 --regid 0 --clear-groups id -ru)" = 0 ]; then
  begin="./become --reuid 0 --regid 0 --clear-groups setsid sh -c 'echo \$\$ >other; exec sleep 1000'"
  check "a job ends that leaves a process of another user behind" timeout 100 \
    $nobody "$phoenix" run -n 1 --on 1 -- sh -c "$begin & until [ -s other ]; do sleep 0.1; done"
  check "which goes on" kill -0 "$(cat other)"
  kill "$(cat other)"
else
  skipped "no program that another user may run as root in $work"
fi
check "the second user runs a job" $nobody "$phoenix" run -n 6 -- "$demos/heat" --steps 10
check "the second user's mesh ends" $nobody "$phoenix" down
check "the first user's does not" has_processors 2
all_done
