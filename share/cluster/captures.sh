# shellcheck shell=bash
# The captures of a run, by their names. Sourced by the scripts of this folder, which need bash 4.4.
#
# MEMSNAP: the program (default: memsnap).

: "${MEMSNAP:=memsnap}"
# Each process here is to work alone, though Slurm may have started it as for MPI.
export MEMSNAP_MPI=no

# list_captures FOLDER: prints paths, each ended by a NUL character, in the same order on every node.
list_captures() {
    local folder=$1
    case $folder in
    -*) folder=./$folder ;;
    esac
    find "$folder" -type f \( -name '*.pickle' -o -name '*.pickle.gz' -o -name '*.pkl' -o -name '*.pkl.gz' \
        -o -name '*.json' -o -name '*.json.gz' -o -name '*.summary' -o -name '*.summary.gz' \) -print0 |
        LC_ALL=C sort -z
}

# merge_parts FOLDER: merges FOLDER/parts into FOLDER/run.summary and compares the ranks.
merge_parts() {
    local merged=$1/run.summary
    "$MEMSNAP" merge -o "$merged" "$1/parts" && "$MEMSNAP" ranks "$merged"
}
