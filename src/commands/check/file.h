/* `memsnap check` of one file, of whatever kind. */
#ifndef MEMSNAP_COMMANDS_CHECK_FILE_H
#define MEMSNAP_COMMANDS_CHECK_FILE_H

#include "analysis/check/check.h"
#include "commands/check/options.h"

/* What is the same for every file. */
struct check_job {
    const struct check_options *options;
    const struct check_baseline *baseline; /* NULL: none */
    const struct load_progress *progress;
};

/* Reads `fd`, which it closes, and holds it to the rules. May run in several threads at once. */
bool check_file(const struct check_job *job, int fd, struct check_result *result,
                struct error *err);
/* Reads `fd`, which it closes, into an initialized baseline. */
bool check_file_baseline(const struct check_job *job, int fd, struct check_baseline *baseline,
                         struct error *err);

#endif
