/* `memsnap analyze` of one file. */
#ifndef MEMSNAP_COMMANDS_ANALYZE_FILE_H
#define MEMSNAP_COMMANDS_ANALYZE_FILE_H

#include "commands/analyze_options.h"

/* What remains of a file once it is reported. */
struct file_figures {
    struct comparison_row *rows; /* one a device, malloc'ed */
    size_t row_count;
};

/* Reads `fd`, which it closes, and prints the report to page->out. May run in several threads at
 * once. */
bool analyze_file(const struct analyze_options *options, const struct page *page, const char *path,
                  int fd, const struct load_progress *progress, struct file_figures *figures,
                  struct error *err);

#endif
