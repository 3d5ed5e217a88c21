/* One line of progress on a terminal, for what takes longer than a second. */
#ifndef MEMSNAP_BASE_PROGRESS_H
#define MEMSNAP_BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    int fd;
    bool enabled; /* fd is a terminal */
    bool shown;   /* a line stands there and must be wiped */
    int64_t started_ns, drawn_ns;
};

/* Shows nothing, ever, where `fd` is not a terminal. */
void progress_begin(struct progress *progress, int fd);
/* Cheap to call often. `total` is 0 where unknown. */
void progress_update(struct progress *progress, uint64_t done, uint64_t total);
/* The same of files instead of bytes. */
void progress_update_files(struct progress *progress, uint64_t done, uint64_t total);
/* Wipes the line, until the next update. */
void progress_end(struct progress *progress);

#endif
