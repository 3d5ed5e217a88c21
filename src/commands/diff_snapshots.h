/* `memsnap diff` of two allocator snapshots. */
#ifndef MEMSNAP_COMMANDS_DIFF_SNAPSHOTS_H
#define MEMSNAP_COMMANDS_DIFF_SNAPSHOTS_H

#include "commands/diff_options.h"

/* What is the same for every kind of file. */
struct diff_job {
    const struct diff_settings *settings;
    const struct page *page; /* the report goes to page->out */
    char *const *paths;      /* A, B */
    struct watch *watch;
    bool *exceeded; /* set where B exceeds A by more than --fail-over allows */
};

/* Takes over both inputs, of which nothing is read yet, and prints the report. On failure `*blame`
 * is the input that it is about; 2: neither. A goes before B is read, but for its sums. */
bool diff_snapshots(const struct diff_job *job, struct input inputs[2], unsigned *blame,
                    struct error *err);

#endif
