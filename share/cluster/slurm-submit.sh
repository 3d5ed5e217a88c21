#!/bin/bash
# Summarises the captures of a run with a Slurm job array, merges the summaries and compares the ranks.
#
#     slurm-submit.sh RUN SUMMARIES [TASKS [SBATCH-OPTION...]]
#
# RUN is the folder of the captures, SUMMARIES a folder for the results; all nodes must see both. TASKS is
# the number of tasks (default: 16). The report is the output of the second job.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=share/cluster/captures.sh
. "$here/captures.sh"

if [ $# -lt 2 ]; then
    echo "usage: $0 RUN SUMMARIES [TASKS [SBATCH-OPTION...]]" >&2
    exit 2
fi
run=$1
summaries=$2
tasks=${3:-16}
shift $(($# < 3 ? $# : 3))

mapfile -d '' captures < <(list_captures "$run")
if [ ${#captures[@]} -eq 0 ]; then
    echo "$0: no captures in $run" >&2
    exit 3
fi
if [ "$tasks" -gt ${#captures[@]} ]; then
    tasks=${#captures[@]}
fi
mkdir -p "$summaries/parts"
find "$summaries/parts" -name 'part-*.summary' -delete

# sbatch copies a script, so that it does not know its folder.
export MEMSNAP_CLUSTER=$here
array=$(sbatch --parsable "$@" --array="0-$((tasks - 1))" "$here/slurm-array.sh" "$run" "$summaries")
merge=$(sbatch --parsable "$@" --dependency="afterany:${array%%;*}" "$here/slurm-merge.sh" "$summaries" "$tasks")
echo "submitted job array ${array%%;*} ($tasks tasks, ${#captures[@]} captures) and job ${merge%%;*}, which merges them"
