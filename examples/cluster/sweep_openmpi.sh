#!/usr/bin/env bash
# A comparison in COUNT shares on the machines that mpirun has:   examples/cluster/sweep_openmpi.sh COUNT OUT COMPARE_ARGUMENT...
# OUT is a folder that all machines see. MPIRUN holds further words for mpirun, such as "--hostfile MACHINES". Run again after shares
# were killed it runs what is missing only. At the end it makes table and report.
set -euo pipefail

count=${1:?sweep_openmpi.sh COUNT OUT COMPARE_ARGUMENT...}
out=${2:?sweep_openmpi.sh COUNT OUT COMPARE_ARGUMENT...}
shift 2

# mpirun ends all shares when one ends with another code than 0: so a shell, which ends with 0, stays between them.
# shellcheck disable=SC2086  # MPIRUN holds several words
mpirun ${MPIRUN-} -np "$count" sh -c '
  out=$0
  rubato compare "$@" --quiet --threads 1 --shard "$((OMPI_COMM_WORLD_RANK + 1))/$OMPI_COMM_WORLD_SIZE" --out "$out" ||
    echo "share $((OMPI_COMM_WORLD_RANK + 1)) has ended with code $?" >&2' "$out" "$@"
exec rubato compare --merge "$out"
