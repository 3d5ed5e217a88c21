/* `memsnap diff` of two files of one kind. */
#ifndef MEMSNAP_COMMANDS_DIFF_JOB_H
#define MEMSNAP_COMMANDS_DIFF_JOB_H

#include "commands/diff/options.h"

#define DIFF_NEITHER 2 /* the error concerns neither input */

/* Settings for any kind of file. */
struct diff_job {
    const struct diff_settings *settings;
    const struct page *page; /* the report goes to page->out */
    char *const *paths;      /* A, B */
    struct watch *watch;
    bool *exceeded; /* set if B exceeds A by more than --fail-over allows */
};

/* Each takes ownership of both unread inputs and prints the report. On failure, `*blame` is the
 * index of the faulty input, or DIFF_NEITHER. */
typedef bool diff_files(const struct diff_job *job, struct input inputs[2], unsigned *blame,
                        struct error *err);

/* Allocator snapshots. A is reduced to its sums before B is read. */
diff_files diff_snapshots;
diff_files diff_layers;

#endif
