/* `memsnap analyze` for one file of any kind. */
#ifndef MEMSNAP_COMMANDS_ANALYZE_FILE_H
#define MEMSNAP_COMMANDS_ANALYZE_FILE_H

#include "commands/analyze/options.h"

/* Kept of a file after its report. */
struct file_figures {
    struct comparison_row *rows; /* one per device, malloc'ed */
    size_t row_count;
};

/* Settings for any kind of file. */
struct analyze_job {
    const struct analyze_options *options;
    const struct page *page; /* the report goes to page->out */
    const char *path;
    const struct load_progress *progress;
    const struct profiled *profiled; /* of --with-trace, or NULL; shared by all files */
};

/* Reads and closes `fd`, and prints the report. Thread-safe. */
bool analyze_file(const struct analyze_job *job, int fd, struct file_figures *figures,
                  struct error *err);

/* The same for an input that is open, of which nothing was read; takes ownership of it. */
bool analyze_input(const struct analyze_job *job, struct input *input, struct file_figures *figures,
                   struct error *err);

/* Refuses an option that does not apply to this kind of file. */
bool analyze_check_options(const struct analyze_options *options, enum file_kind kind,
                           struct error *err);

#endif
