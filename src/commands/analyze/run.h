/* `memsnap analyze` for a run of MemProfiler. */
#ifndef MEMSNAP_COMMANDS_ANALYZE_RUN_H
#define MEMSNAP_COMMANDS_ANALYZE_RUN_H

#include "commands/analyze/file.h"

/* A file of a run, and what became of it. */
struct run_input {
    const char *path;
    int fd;
    bool failed;
    bool is_other;      /* not of a run: `input` is left open for a report of its own */
    struct input input; /* the descriptor is closed with it */
    struct error err;
};

/* Reads and closes the descriptors of all files that have not failed yet, and prints one report
 * about those that can be read. `path` of the job is the run's folder. */
bool analyze_run(const struct analyze_job *job, struct run_input *files, size_t count,
                 struct error *err);

/* The same for one file of statistics under any name; takes ownership of the input. */
bool analyze_run_stats(const struct analyze_job *job, struct input *input,
                       struct file_figures *figures, struct error *err);

/* The same for one file of tables, whose rank is taken to be 0. */
bool analyze_run_tables(const struct analyze_job *job, struct input *input,
                        struct file_figures *figures, struct error *err);

#endif
