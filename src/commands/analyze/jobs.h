/* The reports that `memsnap analyze` prints: one for each file, and one for all files of a run. */
#ifndef MEMSNAP_COMMANDS_ANALYZE_JOBS_H
#define MEMSNAP_COMMANDS_ANALYZE_JOBS_H

#include <stdbool.h>
#include <stddef.h>

struct job {
    const size_t *inputs; /* indexes */
    size_t count;
    bool is_run; /* the files of a MemProfiler run, in one folder */
};

struct jobs {
    struct job *items; /* in the order of their first inputs */
    size_t count;
    size_t *inputs; /* every index once */
};

/* If a folder has files with the names that MemProfiler gives, among them statistics or
 * tables, all such files of the folder are one job. Their contents are looked at later. False
 * if out of memory. */
bool jobs_make(struct jobs *jobs, char *const *paths, size_t count);
void jobs_release(struct jobs *jobs);

#endif
