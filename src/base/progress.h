/* A progress line on a terminal, for operations that take longer than a second. */
#ifndef MEMSNAP_BASE_PROGRESS_H
#define MEMSNAP_BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    int fd;
    bool enabled; /* fd is a terminal */
    bool shown;   /* a line is displayed and must be wiped */
    int64_t started_ns, drawn_ns;
};

/* Shows nothing at all if `fd` is not a terminal. */
void progress_begin(struct progress *progress, int fd);
/* Cheap, so it may be called often. `total` is 0 if unknown. */
void progress_update(struct progress *progress, uint64_t done, uint64_t total);
/* Like progress_update(), counting files instead of bytes. */
void progress_update_files(struct progress *progress, uint64_t done, uint64_t total);
/* Shows `text` instead, of which the first 78 characters fit. */
void progress_update_text(struct progress *progress, const char *text);
/* Wipes the line. The next update shows it again. */
void progress_end(struct progress *progress);

#endif
