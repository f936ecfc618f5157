#!/usr/bin/env bash
# One host of the run on each of four machines:   sbatch examples/cluster/slurm.sh EXPERIMENT
# rubato node reads rank and machines from Slurm's variables, so the experiment needs no roster. The keys lie on the shared
# file system; they are made once for each machine.
#SBATCH --job-name=rubato
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=16
set -euo pipefail

experiment=${1:?sbatch slurm.sh EXPERIMENT}
keys=$HOME/.rubato/keys
out=runs/$SLURM_JOB_ID

mkdir -p -m 700 "$keys"
mkdir -p "$out"
for machine in $(scontrol show hostnames "$SLURM_JOB_NODELIST"); do
  [ -e "$keys/$machine.secret" ] || rubato keygen "$machine" --out "$keys" > /dev/null
done

# --kill-on-bad-exit=0: in real time the others go on without a host that has gone.
srun --kill-on-bad-exit=0 sh -c \
  'exec rubato node "$0" --keys "$1" --out "$2/$SLURM_PROCID" --threads "${SLURM_CPUS_PER_TASK:-1}" --quiet' \
  "$experiment" "$keys" "$out"
