#!/usr/bin/env bash
# Three hosts on this machine: keys, a roster, three processes that talk over encrypted loopback connections.
#
#   examples/cluster/local.sh [EXPERIMENT [OUT [more options of rubato node]]]
#
# Without arguments it runs examples/quickstart.toml and leaves the results of hosts a, b and c in runs/cluster. The command
# is $RUBATO, else build/rubato of this repository, else the one on the path. The experiment must not have a roster yet.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
experiment=${1:-$here/examples/quickstart.toml}
out=${2:-runs/cluster}
rubato=${RUBATO:-}
if [ -z "$rubato" ]; then rubato=$here/build/rubato; [ -x "$rubato" ] || rubato=rubato; fi

folder=$(mktemp -d)   # for the keys and what the hosts say
run=                  # the experiment with its roster: beside the original, because the files that it names are found from there
nodes=()
clean_up() {
  for node in "${nodes[@]}"; do kill "$node" 2>/dev/null || true; done
  rm -rf "$folder" "$run"
}
trap clean_up EXIT
run=$(mktemp "$(dirname "$experiment")/.rubato-XXXXXX")

# Another program answers there.
is_taken() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

port=$((20000 + RANDOM % 12000))
cat "$experiment" > "$run"
for host in a b c; do
  while is_taken "$port"; do port=$((port + 1)); done
  echo >> "$run"
  "$rubato" keygen "$host" --out "$folder" | sed "s#tcp://$host:7001#tcp://127.0.0.1:$port#" >> "$run"
  port=$((port + 1))
done

mkdir -p "$out"
for host in c b a; do   # in any order
  "$rubato" node "$run" --keys "$folder" --host "$host" --out "$out/$host" --threads 1 --quiet "${@:3}" \
    > "$folder/$host.txt" 2> "$folder/$host.err" &
  nodes+=($!)
done

code=0
for node in "${nodes[@]}"; do wait "$node" || code=$?; done
nodes=()
for host in a b c; do
  echo "--- host $host"
  cat "$folder/$host.err" "$folder/$host.txt"
done
exit "$code"
