#!/bin/bash
# Three nodes in three network namespaces, joined by links that delay every frame by 20 ms and lose 5 % of them:
# namespaces.sh RUBATO QUICKSTART LOSSY_WIRE
#
# They learn the quick start's experiment to within 0.02 of the accuracy of a run in virtual time, at the first pace that
# this machine keeps beside whatever else it does, and their records replay. The links are spoilt by netem; where the kernel has none, LOSSY_WIRE stands for the bridge and does the same.
# Exit code 77, with the reason, where no namespace may be made. Everything lives in namespaces of its own, which go at
# the end.

set -eu
rubato=$1 quickstart=$2 lossy_wire=$3
delay_ms=20 loss_percent=5 hosts="a b c"

home=$(mktemp -d)
prefix=rbt$$
leave() {
  for name in $hosts switch; do
    for process in $(ip netns pids "$prefix-$name" 2> /dev/null); do kill -9 "$process" 2> /dev/null || true; done
    ip netns del "$prefix-$name" 2> /dev/null || true
  done
  rm -rf "$home"
}
trap leave EXIT
trap 'exit 1' INT TERM

skip() {
  echo "skipped: $*"
  exit 77
}
fail() {
  echo "namespaces.sh: $*" >&2
  for host in $hosts; do
    echo "--- $host" >&2
    tail -n 15 "$home/$host.log" >&2 2> /dev/null || true
  done
  exit 1
}
inside() {
  local name=$1
  shift
  ip netns exec "$prefix-$name" "$@"
}

# ---- the network -----------------------------------------------------------------------------------------------------

command -v ip > /dev/null || skip "ip is missing (package iproute2)"
ip netns add "$prefix-switch" 2> "$home/why" || skip "no network namespace may be made here: $(cat "$home/why")"
has_netem=no
inside switch tc qdisc add dev lo root netem delay 1ms 2> /dev/null && has_netem=yes
[ $has_netem = yes ] && inside switch ip link add bridge type bridge && inside switch ip link set bridge up

number=1
for host in $hosts; do
  ip netns add "$prefix-$host"
  inside switch ip link add "to-$host" type veth peer name wire netns "$prefix-$host"
  inside switch ip link set "to-$host" up
  [ $has_netem = no ] || inside switch ip link set "to-$host" master bridge
  inside "$host" ip address add "10.77.0.$number/24" dev wire
  inside "$host" ip link set lo up
  inside "$host" ip link set wire up
  [ $has_netem = no ] || inside "$host" tc qdisc add dev wire root netem delay "${delay_ms}ms" loss "$loss_percent%"
  number=$((number + 1))
done
if [ $has_netem = no ]; then
  [ -x "$lossy_wire" ] || skip "tc netem is missing in this kernel, and $lossy_wire is not built"
  inside switch "$lossy_wire" $delay_ms "0.0$loss_percent" to-a to-b to-c > "$home/wire.log" 2>&1 &
  disown
  for _ in $(seq 1200); do grep -q ready "$home/wire.log" && break || sleep 0.1; done
  grep -q ready "$home/wire.log" || skip "frames cannot be passed on here: $(cat "$home/wire.log")"
fi

# ---- the run ---------------------------------------------------------------------------------------------------------

grep -v '^clock = ' "$quickstart" > "$home/virtual.toml"
{
  printf 'clock = "wall"\n'
  cat "$home/virtual.toml"
  printf '\n[hosts]\nwait = 60.0\n'
  number=1
  for host in $hosts; do
    "$rubato" keygen "$host" --out "$home" > /dev/null
    printf '\n[[roster]]\nname = "%s"\naddress = "tcp://10.77.0.%s:7100"\npublic_key = "%s"\n' "$host" $number "$(head -c 40 "$home/$host.public")"
    number=$((number + 1))
  done
} > "$home/wall.toml"

accuracy() { sed -n '/"accuracy": {/,/}/s/.*"mean": \([0-9.e-]*\).*/\1/p' "$1/summary.json"; }

"$rubato" run "$home/virtual.toml" --quiet --out "$home/virtual" > /dev/null
in_virtual_time=$(accuracy "$home/virtual")
is_close=no
for pace in 20.0 10.0 5.0 2.0; do
  nodes=""
  for host in $hosts; do
    inside "$host" timeout 600 "$rubato" node "$home/wall.toml" --set "time_scale=$pace" --host "$host" --out "$home/$host" --anew --quiet --log-level info \
      > "$home/$host.log" 2>&1 &
    nodes="$nodes $!"
  done
  for node in $nodes; do wait "$node" || fail "a node has ended with exit code $?"; done
  "$rubato" replay "$home/a" "$home/b" "$home/c" > "$home/replay.log" || fail "the records do not replay: $(cat "$home/replay.log")"
  over_the_network=$(accuracy "$home/a")
  awk "BEGIN { d = $in_virtual_time - $over_the_network; exit !(d < 0.02) }" && is_close=yes && break
done
segments=$(inside a awk '/^Tcp:/ && NR > 1 { if (seen) { print $column; exit } for (i = 1; i <= NF; ++i) if ($i == "RetransSegs") { column = i; seen = 1 } }' /proc/net/snmp)
[ "$segments" -gt 0 ] || fail "not a segment was sent again: these links lose nothing"
grep ' summary: ' "$home/a.log"
echo "accuracy: $in_virtual_time in virtual time, $over_the_network in three namespaces (netem: $has_netem; $segments TCP segments of host a were sent again)"
[ $is_close = yes ] || fail "they have learnt less than in virtual time"
