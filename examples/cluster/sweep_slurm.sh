#!/usr/bin/env bash
# A comparison in as many shares as the array has tasks:   sbatch examples/cluster/sweep_slurm.sh OUT COMPARE_ARGUMENT...
# OUT is a folder that all machines see. Submitted again after tasks were killed it runs what is missing only; when all are
# through, `rubato compare --merge OUT` makes table and report.
#SBATCH --job-name=rubato-sweep
#SBATCH --array=1-8
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=4
set -euo pipefail

out=${1:?sbatch sweep_slurm.sh OUT COMPARE_ARGUMENT...}
shift
exec rubato compare "$@" --quiet --threads "${SLURM_CPUS_PER_TASK:-1}" \
  --shard "$((SLURM_ARRAY_TASK_ID - SLURM_ARRAY_TASK_MIN + 1))/$SLURM_ARRAY_TASK_COUNT" --out "$out"
