/* `memsnap analyze` of one file, of whatever kind. */
#ifndef MEMSNAP_COMMANDS_ANALYZE_FILE_H
#define MEMSNAP_COMMANDS_ANALYZE_FILE_H

#include "commands/analyze/options.h"

/* What remains of a file once it is reported. */
struct file_figures {
    struct comparison_row *rows; /* one a device, malloc'ed */
    size_t row_count;
};

/* What is the same for every kind of file. */
struct analyze_job {
    const struct analyze_options *options;
    const struct page *page; /* the report goes to page->out */
    const char *path;
    const struct load_progress *progress;
};

/* Reads `fd`, which it closes, and prints the report. May run in several threads at once. */
bool analyze_file(const struct analyze_job *job, int fd, struct file_figures *figures,
                  struct error *err);

/* The same of an allocator snapshot, of which nothing is read yet: takes over the input. */
bool analyze_snapshot(const struct analyze_job *job, struct input *input,
                      struct file_figures *figures, struct error *err);

#endif
