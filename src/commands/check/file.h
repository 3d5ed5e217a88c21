/* `memsnap check` for one file of any kind. */
#ifndef MEMSNAP_COMMANDS_CHECK_FILE_H
#define MEMSNAP_COMMANDS_CHECK_FILE_H

#include "analysis/check/check.h"
#include "commands/check/options.h"

/* Settings that all files share. */
struct check_job {
    const struct check_options *options;
    const struct check_baseline *baseline; /* NULL: none */
    int64_t rank;                          /* as its path tells; or BASELINE_NO_RANK */
    const struct load_progress *progress;
};

/* Reads and closes `fd`, and checks it against the rules. Thread-safe. */
bool check_file(const struct check_job *job, int fd, struct check_result *result,
                struct error *err);
/* Reads `fd` into an initialized baseline, and closes it. */
bool check_file_baseline(const struct check_job *job, int fd, struct check_baseline *baseline,
                         struct error *err);

#endif
