/* A run of the program beside others: a process in a session of its own, whose output is read but
 * not shown. */
#ifndef MEMSNAP_COMMANDS_DRYRUN_CHILD_H
#define MEMSNAP_COMMANDS_DRYRUN_CHILD_H

#include "commands/dryrun/program.h"
#include "commands/dryrun/tail.h"

struct dryrun_child {
    pid_t process; /* 0: none, or it has ended */
    int output;    /* -1: closed */
    struct dryrun_folder folder;
    struct tail tail;
    int64_t started_ns, deadline_ns; /* deadline 0: none */
    int64_t stopped_ns;              /* when child_stop() was called first; 0: it was not */
    bool has_timed_out;
    struct program_end end;
    uint64_t host_bytes, duration_us; /* set when it has ended */
};

int64_t child_clock_ns(void);

/* Starts the program with a folder of its own. On failure nothing is left. */
bool child_start(struct dryrun_child *child, const struct dryrun_options *options,
                 const char *library, char *const *arguments, struct error *err);
/* Reads what the program has printed. Call it whenever `output` is readable. */
void child_read(struct dryrun_child *child);
/* Stops the program if it is beyond its deadline. True if it has ended. */
bool child_has_ended(struct dryrun_child *child);
/* Asks the program and its processes to end; those that do not end soon are killed by
 * child_has_ended(). */
void child_stop(struct dryrun_child *child);
/* Kills the program's processes and deletes the folder. */
void child_release(struct dryrun_child *child);

#endif
