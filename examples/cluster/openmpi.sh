#!/usr/bin/env bash
# One host of the run on every machine of a list, started by mpirun:   examples/cluster/openmpi.sh EXPERIMENT MACHINES
# MACHINES is a file with one name a line. mpirun says which of them a process is, not where the others are: this script
# writes them into a roster behind the experiment, in a file beside it: what the experiment names is found from there. Run it in
# a folder that all machines share, with the experiment in one, too.
set -euo pipefail

experiment=${1:?openmpi.sh EXPERIMENT MACHINES}
machines=${2:?openmpi.sh EXPERIMENT MACHINES}
keys=$HOME/.rubato/keys
port=${PORT:-7001}
out=runs/openmpi

mkdir -p "$out"
run=$(mktemp "$(dirname "$experiment")/.rubato-XXXXXX")
trap 'rm -f "$run"' EXIT
cat "$experiment" > "$run"
count=0
while read -r machine; do
  [ -n "$machine" ] || continue
  [ -e "$keys/$machine.secret" ] || rubato keygen "$machine" --out "$keys" > /dev/null
  printf '\n[[roster]]\nname = "%s"\naddress = "tcp://%s:%s"\nbind = "tcp://*:%s"\n' \
    "$machine" "$machine" "$port" "$port" >> "$run"
  count=$((count + 1))
done < "$machines"

# Ranks follow the list, like the roster. mpirun ends all of them as soon as one is killed or ends with another code than 0: so a
# shell, which ends with 0, stays between them, and in real time the others go on. When a whole machine goes mpirun ends all of them
# nevertheless; started again they go on from their checkpoints. A mpirun that is told to end gives them a second.
mpirun --hostfile "$machines" --map-by ppr:1:node -np "$count" sh -c '
  trap : INT TERM
  rubato node "$0" --keys "$1" --out "$2/$OMPI_COMM_WORLD_RANK" --quiet ||
    echo "host $OMPI_COMM_WORLD_RANK, counted from 0, has ended with code $?" >&2' "$run" "$keys" "$out"
