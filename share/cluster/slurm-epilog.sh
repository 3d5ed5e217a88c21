#!/bin/bash
# Summarises captures where a job ran, on a node's own disk, before they are gone.
#
#     srun --task-epilog=/path/to/slurm-epilog.sh train.py     # or the TaskEpilog of slurm.conf
#     srun --ntasks-per-node=1 slurm-epilog.sh                 # or the last line of a batch script
#
# MEMSNAP_CAPTURES: the folder of the captures on the node
# MEMSNAP_SUMMARIES: a folder that all nodes see; each writes JOB.NODE.summary there
#
# It runs once on each node, and always ends with 0: for Slurm, a failing epilog may be a broken node.
# `memsnap ranks MEMSNAP_SUMMARIES` compares the ranks.
set -u
if [ "${SLURM_LOCALID:-0}" != 0 ] || [ ! -d "${MEMSNAP_CAPTURES-}" ]; then
    exit 0
fi
node=${SLURMD_NODENAME:-$(hostname)}
if [ -z "${MEMSNAP_SUMMARIES-}" ] || ! mkdir -p "$MEMSNAP_SUMMARIES"; then
    echo "memsnap epilog on $node: MEMSNAP_SUMMARIES is no folder to write to" >&2
    exit 0
fi
export MEMSNAP_MPI=no
"${MEMSNAP:-memsnap}" analyze --summary "$MEMSNAP_SUMMARIES/${SLURM_JOB_ID:-job}.$node.summary" "$MEMSNAP_CAPTURES" >&2 ||
    echo "memsnap epilog on $node: status $?" >&2
exit 0
