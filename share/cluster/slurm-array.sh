#!/bin/bash
#SBATCH --job-name=memsnap
#SBATCH --ntasks=1
# One task of the job array of slurm-submit.sh: summarises its part of the captures. A capture that cannot
# be read is reported, the others are summarised, and the task ends with memsnap's status.
set -euo pipefail
# shellcheck source=share/cluster/captures.sh
. "${MEMSNAP_CLUSTER:?is the folder of the scripts}/captures.sh"

run=$1
summaries=$2
mapfile -d '' captures < <(list_captures "$run")
part=()
for ((i = SLURM_ARRAY_TASK_ID; i < ${#captures[@]}; i += SLURM_ARRAY_TASK_COUNT)); do
    part+=("${captures[i]}")
done
[ ${#part[@]} -gt 0 ] || exit 0
exec srun --ntasks=1 "$MEMSNAP" merge --jobs "${SLURM_CPUS_PER_TASK:-1}" \
    -o "$summaries/parts/part-$SLURM_ARRAY_TASK_ID.summary" -- "${part[@]}"
