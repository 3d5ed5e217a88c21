/* `memsnap diff` of two files of one kind. */
#ifndef MEMSNAP_COMMANDS_DIFF_JOB_H
#define MEMSNAP_COMMANDS_DIFF_JOB_H

#include "commands/diff/options.h"

#define DIFF_NEITHER 2 /* what an error is about that is about neither input */

/* What is the same for every kind of file. */
struct diff_job {
    const struct diff_settings *settings;
    const struct page *page; /* the report goes to page->out */
    char *const *paths;      /* A, B */
    struct watch *watch;
    bool *exceeded; /* set where B exceeds A by more than --fail-over allows */
};

/* Each takes over both inputs, of which nothing is read yet, and prints the report. On failure
 * `*blame` is the input that it is about, or DIFF_NEITHER. */
typedef bool diff_files(const struct diff_job *job, struct input inputs[2], unsigned *blame,
                        struct error *err);

/* Allocator snapshots: A goes before B is read, but for its sums. */
diff_files diff_snapshots;
diff_files diff_layers;

#endif
