#!/usr/bin/env bash
# One host of the run on every machine of a list, started by mpirun:   examples/cluster/openmpi.sh EXPERIMENT MACHINES
# MACHINES is a file with one name a line. mpirun says which of them a process is, not where the others are: this script
# writes them into a roster behind the experiment. Run it in a folder that all machines share.
set -euo pipefail

experiment=${1:?openmpi.sh EXPERIMENT MACHINES}
machines=${2:?openmpi.sh EXPERIMENT MACHINES}
keys=$HOME/.rubato/keys
port=${PORT:-7001}
out=runs/openmpi
run=$out/run.toml

mkdir -p -m 700 "$keys"
mkdir -p "$out"
cp "$experiment" "$run"
count=0
while read -r machine; do
  [ -n "$machine" ] || continue
  [ -e "$keys/$machine.secret" ] || rubato keygen "$machine" --out "$keys" > /dev/null
  printf '\n[[roster]]\nname = "%s"\naddress = "tcp://%s:%s"\nbind = "tcp://*:%s"\n' \
    "$machine" "$machine" "$port" "$port" >> "$run"
  count=$((count + 1))
done < "$machines"

# Ranks follow the list, like the roster.
mpirun --hostfile "$machines" --map-by ppr:1:node -np "$count" sh -c \
  'exec rubato node "$0" --keys "$1" --out "$2/$OMPI_COMM_WORLD_RANK" --quiet' "$run" "$keys" "$out"
