#!/bin/bash
# Summarises the captures of a run with GNU parallel, merges the summaries and compares the ranks.
#
#     parallel.sh RUN SUMMARIES [PARALLEL-OPTION...]
#
# RUN is the folder of the captures, SUMMARIES a folder for the results. Options are those of parallel:
# --jobs 8, or --sshlogin node1,node2 for machines that see both folders and have memsnap. A capture that
# cannot be read is reported, the others are compared, and the status is 1.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=share/cluster/captures.sh
. "$here/captures.sh"

if [ $# -lt 2 ]; then
    echo "usage: $0 RUN SUMMARIES [PARALLEL-OPTION...]" >&2
    exit 2
fi
if ! command -v parallel >/dev/null; then
    echo "$0: GNU parallel is missing (Debian: parallel)" >&2
    exit 2
fi
run=$1
summaries=$2
shift 2
export HOME="${HOME:-/tmp}" # parallel keeps files there, and warns of a job that has none
mkdir -p "$summaries/parts"
find "$summaries/parts" -name 'part-*.summary' -delete

failed=0
list_captures "$run" |
    parallel --will-cite --null --quote "$@" "$MEMSNAP" merge --jobs 1 -o "$summaries/parts/part-{#}.summary" -- {} ||
    failed=1
merge_parts "$summaries"
exit $failed
