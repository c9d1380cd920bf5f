#!/bin/sh
# Daemons on other machines: through a real ssh server on this one, and, as root, across network
# namespaces with addresses of their own.
. "$(dirname "$0")/lib.sh"

mesh=e2e-$$
space=phx$$
sshd_pid=

tidy_up() {
  "$phoenix" down --mesh "$mesh" >/dev/null 2>&1
  [ -n "$sshd_pid" ] && kill "$sshd_pid" 2>/dev/null
  for name in a b c hub; do
    # Whoever is in these namespaces was started here.
    ip netns pids "$space-$name" 2>/dev/null | xargs -r kill -KILL 2>/dev/null
    ip netns del "$space-$name" 2>/dev/null
  done
  sed -n 's/.*"pid": \([0-9]*\).*/\1/p' "/tmp/phoenix-$(id -u)/$mesh"/p*.json 2>/dev/null | xargs -r kill -KILL 2>/dev/null
  rm -rf "/tmp/phoenix-$(id -u)/$mesh"
}

cd "$work" || exit 1
if [ -x /usr/sbin/sshd ]; then
  ssh-keygen -q -t ed25519 -N '' -f host_key
  ssh-keygen -q -t ed25519 -N '' -f user_key
  cat >sshd_config <<END
ListenAddress 127.0.0.1
HostKey $work/host_key
AuthorizedKeysFile $work/user_key.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin prohibit-password
END
  [ "$(id -u)" -eq 0 ] && mkdir -p /run/sshd
  has_ended_or_answers() { ! kill -0 "$sshd_pid" || $shell 127.0.0.1 true; }
  # Below the ports that the system gives to whoever asks for none.
  for try in 0 1 2 3 4 5 6 7; do
    port=$((20000 + ($$ + 1009 * try) % 12000))
    /usr/sbin/sshd -D -e -p "$port" -f "$work/sshd_config" 2>>"$work/sshd.out" &
    sshd_pid=$!
    shell="ssh -F none -p $port -i $work/user_key -o BatchMode=yes -o LogLevel=ERROR -o ConnectTimeout=5"
    shell="$shell -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"
    await "the ssh server answers" has_ended_or_answers
    kill -0 "$sshd_pid" 2>/dev/null && break
  done
  printf '# two daemons on one machine\n127.0.0.1 slots=2 listen=127.0.0.1:0\n' >hosts
  check "a mesh starts through ssh" "$phoenix" up -q --mesh "$mesh" --hosts hosts --remote-shell "$shell"
  check "it has two processors" sh -c "$phoenix status --mesh $mesh | grep -q '2 processors'"
  check "it runs a job" "$phoenix" run --mesh "$mesh" -n 8 -- "$demos/heat" --steps 20
  check "a host is added by name" "$phoenix" add -q --mesh "$mesh" --remote-shell "$shell" 127.0.0.1
  check "a machine is drained by processor" "$phoenix" drain --mesh "$mesh" p1
  check "two are left" sh -c "$phoenix status --mesh $mesh | grep -q '2 processors'"
  check "a host that does not answer is named" fails_with "nowhere.invalid" \
    "$phoenix" add -q --mesh "$mesh" --remote-shell "$shell" nowhere.invalid
  check "it ends" "$phoenix" down --mesh "$mesh"
  await "nothing is left of it where its daemons were" sh -c "! test -e /tmp/phoenix-$(id -u)/$mesh"
else
  skipped "there is no ssh server on this machine"
fi

if [ "$(id -u)" -eq 0 ] && ip netns add "$space-hub" 2>/dev/null; then
  in_hub="ip netns exec $space-hub"
  $in_hub ip link add name hub type bridge
  $in_hub ip address add 10.93.0.254/24 dev hub
  $in_hub ip link set hub up
  $in_hub ip link set lo up
  number=1
  for name in a b c; do
    ip netns add "$space-$name"
    ip -n "$space-$name" link add eth0 type veth peer name "to-$name" netns "$space-hub"
    ip -n "$space-hub" link set "to-$name" master hub up
    ip -n "$space-$name" address add "10.93.0.$number/24" dev eth0
    ip -n "$space-$name" link set eth0 up
    ip -n "$space-$name" link set lo up
    number=$((number + 1))
  done
  # Runs a command on a "machine": each has a folder of its own, as machines do.
  cat >shell <<END
#!/bin/sh
machine=\$1
shift
mkdir -p -m 700 $work/machine-\$machine
PHOENIX_DIR=$work/machine-\$machine exec ip netns exec $space-\$machine sh -c "\$*"
END
  chmod +x shell
  printf 'a\nb slots=2\nc\n' >machines
  hub() { $in_hub "$phoenix" "$@"; }
  check "a mesh of four processors on three machines starts" \
    hub up -q --mesh "$mesh" --hosts machines --remote-shell "$work/shell"
  check "each has an address of its own" sh -c "$in_hub $phoenix status --mesh $mesh | grep -q 10.93.0.3:"
  $in_hub "$phoenix" run --mesh "$mesh" -n 16 -- "$demos/heat" --until "$work/enough" >across.out 2>&1 &
  job=$!
  await "the job holds vnodes" sh -c "$in_hub $phoenix status --mesh $mesh | grep '^p4 ' | grep -q 'j[0-9]*:'"
  check "a machine leaves by its name" hub drain --mesh "$mesh" b
  check "it comes back" hub add -q --mesh "$mesh" --remote-shell "$work/shell" b
  touch enough
  wait "$job"
  check "the job ended well across machines" test $? -eq 0
  check "with the sequential result" grep -q "bit for bit" across.out
  $in_hub "$phoenix" run --mesh "$mesh" -n 16 -- "$demos/heat" --steps 100000 >cut.out 2>&1 &
  job=$!
  await "the job holds vnodes" sh -c "$in_hub $phoenix status --mesh $mesh | grep -q 'c .*j[0-9]*:'"
  ip -n "$space-hub" link set to-c down
  wait "$job"
  check "a machine that is cut off ends the job" test $? -ne 0
  check "and is named" grep -q "is gone" cut.out
  check "the mesh ends" hub down --mesh "$mesh"
  await "what was logged on a machine stays there" sh -c \
    "PHOENIX_DIR=$work/machine-a $phoenix logs --daemon --mesh $mesh | grep -q 'processor-joined'"
  check "and nothing else" sh -c "! test -e $work/machine-a/$mesh"
  for name in a b c; do
    ip netns pids "$space-$name" | xargs -r kill 2>/dev/null
  done
else
  skipped "network namespaces cannot be made here"
fi
all_done
