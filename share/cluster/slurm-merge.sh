#!/bin/bash
#SBATCH --job-name=memsnap-merge
#SBATCH --ntasks=1
# The last job of slurm-submit.sh: merges what the tasks wrote, and compares the ranks. Fails if a task
# wrote nothing, after merging what the others wrote.
set -euo pipefail
# shellcheck source=share/cluster/captures.sh
. "${MEMSNAP_CLUSTER:?is the folder of the scripts}/captures.sh"

summaries=$1
tasks=$2
missing=0
for ((i = 0; i < tasks; i++)); do
    if [ ! -e "$summaries/parts/part-$i.summary" ]; then
        echo "$0: task $i of the job array left no summary; see its output" >&2
        missing=1
    fi
done
merge_parts "$summaries"
exit $missing
