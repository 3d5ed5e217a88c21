/* The files that the arguments of a command stand for: files, folders, and patterns such as
 * 'run-*' that no shell has replaced; and which of them, by their rank. */
#ifndef MEMSNAP_COMMANDS_CLI_CHOICE_H
#define MEMSNAP_COMMANDS_CLI_CHOICE_H

#include "commands/cli/folder.h"
#include "commands/cli/look.h"

struct file_choice {
    struct look_for what;     /* of the files in folders and patterns */
    size_t most;              /* the command reads 1 or 2 files, not more; 0: any number */
    bool has_rank;            /* only files of this rank */
    uint64_t rank;            /* if has_rank */
    const char *rank_pattern; /* NULL: as rank_of_path() has it */
    bool has_verbose;         /* the command has --verbose, which sets the next one */
    bool verbose; /* name the files that are left out on standard error, instead of counting them */
};

/* Replaces each folder and pattern by its files of the right kinds, in order of ranks, then of
 * names, in which numbers count as numbers. An empty file that is named like a capture counts as
 * one if any number of files is read, for a rank may have failed to write it. If the command reads
 * only one file for an argument, it must be one. A rank is found by the pattern, else in a profiler
 * trace, else by the name. Fails if there is no such file, or too many. Processes in the sandbox
 * look at the files. */
bool paths_expand(struct paths *paths, char *const *named, size_t count,
                  const struct file_choice *choice, struct error *err);

/* The ranks of files, found in the same way; -1 if unknown. */
bool paths_ranks(char **paths, size_t count, const struct file_choice *choice, int64_t *ranks,
                 struct error *err);

#endif
