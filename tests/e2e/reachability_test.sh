#!/bin/sh
# Eight machines that do not all reach each other: network namespaces on one bridge, with firewalls.
# Needs root, ip and nft; without them it is skipped.
#
#   p1, p2  reach everybody          p3 - p5  refuse each other's connections
#   p4      behind NAT: takes none   p2 - p3  nothing passes between them for 15 s, five times the peer time-out
#   p7, p8  behind NAT as well
. "$(dirname "$0")/lib.sh"

if [ "$(id -u)" -ne 0 ] || ! command -v ip >/dev/null || ! command -v nft >/dev/null; then
  skip_all "needs root, ip and nft (deploy/setup.sh --tests)"
fi
space=phx$$
hosts="1 2 3 4 5 6 7 8"
mesh=$PHOENIX_DIR/default
in_host() { host=$1; shift; ip netns exec "$space-$host" "$@"; }
tidy_up() {
  for host in $hosts; do
    # Whoever is in these namespaces was started here.
    for pid in $(ip netns pids "$space-$host" 2>/dev/null); do kill -9 "$pid" 2>/dev/null; done
    ip netns del "$space-$host" 2>/dev/null
  done
  ip netns del "$space-hub" 2>/dev/null
}
lay_out() {
  ip netns add "$space-hub" || return 1
  ip -n "$space-hub" link add hub type bridge
  ip -n "$space-hub" link set hub up
  for host in $hosts; do
    ip netns add "$space-$host"
    ip -n "$space-hub" link add "to$host" type veth peer name eth0 netns "$space-$host"
    ip -n "$space-hub" link set "to$host" master hub up
    ip -n "$space-$host" address add "10.77.0.$host/24" dev eth0
    ip -n "$space-$host" link set eth0 up
    ip -n "$space-$host" link set lo up
    in_host "$host" nft "add table inet wall; add chain inet wall in { type filter hook input priority 0; }"
  done
}
forbid() { host=$1; shift; in_host "$host" nft "add rule inet wall in $*"; }
lift() { in_host "$1" nft flush chain inet wall in; }
start() {
  host=$1
  shift
  in_host "$host" "$bin/phoenixd" --mesh-dir "$mesh" --listen "10.77.0.$host:7000" --peer-timeout 3 \
    --log-file "$work/logs/p$host" --detach "$@"
}
tool() { in_host 1 "$phoenix" "$@"; }
all_are_there() { [ "$(tool status --json | grep -c '"endpoints"')" -eq 8 ]; }
# The relay between two processors, as status tells it; fails if there is none.
detour() { tool status | grep -q "^p$1 and p$2 talk through p"; }
no_detour() { ! detour "$1" "$2"; }
nobody_was_lost() { ! grep -h "processor-gone\|fenced" "$work"/logs/*; }

cd "$work" || exit 1
mkdir -p "$work/logs" "$mesh"
chmod 700 "$PHOENIX_DIR" "$mesh"
check "eight namespaces on a bridge" lay_out
for host in 4 7 8; do forbid "$host" iifname eth0 ct state new drop; done
forbid 3 ip saddr 10.77.0.5 tcp dport 7000 reject with tcp reset
forbid 5 ip saddr 10.77.0.3 tcp dport 7000 reject with tcp reset
check "the first daemon starts" start 1 --new-key
for host in 2 3 4 5 6 7 8; do check "daemon $host joins" start "$host" --join 10.77.0.1:7000; done
await "all are members" all_are_there

tool demo reduce --vnodes 24 --length 1 --length 3000 >"$work/reduce.out" 2>&1
check "a job is exact" grep -q "equal to the sequential results" "$work/reduce.out"
check "one that refuses is reached through another one" detour 3 5
check "two that take no connections too" detour 7 8
check "and it is in the figures" sh -c "ip netns exec $space-1 $phoenix status --json | grep -q '\"via\"'"
check "whoever takes none dials back, where that is possible" no_detour 1 4
check "nobody was lost" nobody_was_lost

tool demo heat --vnodes 24 --size 256 --until "$work/enough" >"$work/heat.out" 2>&1 &
job=$!
forbid 2 ip saddr 10.77.0.3 drop
forbid 3 ip saddr 10.77.0.2 drop
sleep 15
check "a pair that is cut talks through another one" detour 2 3
touch enough
wait "$job"
check "the job ended well" test $? -eq 0
check "bit for bit" grep -q "bit for bit" "$work/heat.out"
lift 2
lift 3
await "it talks directly again" no_detour 2 3
check "a job is exact" tool demo reduce --vnodes 24 --length 3000
check "nobody was lost in all that" nobody_was_lost

# One that nobody reaches for a while takes the others for dead, as they take it. When it reaches them again it ends.
has_logged() { grep -q "$2" "$work/logs/p$1"; }
sixth=$(tool status | sed -n 's/^p\([0-9]*\) .*10.77.0.6:7000 .*/\1/p')
forbid 6 iifname eth0 drop
await "it is put out" sh -c "! ip netns exec $space-1 $phoenix status | grep -q '^p$sixth '"
await "it puts the others out" sh -c "test \$(grep -o 'processor-gone p[0-9]*' $work/logs/p6 | sort -u | wc -l) -eq 7"
lift 6
await "it ends, and says why" has_logged 6 "out-of-mesh the mesh goes on without this processor, .* in view"
await "its process is gone" sh -c "test -z \"\$(ip netns pids $space-6)\""
# A tool that reaches nobody forgets nothing, unless it is told so.
mkdir -m 700 "$work/far" "$work/far/default"
cp "$mesh/key" "$mesh/mesh.json" "$work/far/default"
forbid 6 iifname eth0 drop
far() { in_host 6 env PHOENIX_DIR="$work/far" "$phoenix" "$@"; }
check "a tool that reaches nobody says so" fails_with "phoenix down --forget" far down
check "and keeps what it knows" test -e "$work/far/default/mesh.json"
check "it forgets that when it is told so" far down --forget
check "and knows nothing any more" test ! -e "$work/far/default/mesh.json"
lift 6
check "the mesh ends" tool down
none_is_left() { for host in 1 2 3 4 5 7 8; do test -z "$(ip netns pids "$space-$host")" || return 1; done; }
await "and so do all, also those who are reached through others" none_is_left
all_done
