/* Divides the inputs of gather() among the processes of MPI (commands/cluster/cluster.h). Process 0
 * runs the command, and the others only read their part of the files. Each file comes back to its
 * slot, so the result is the same as without MPI. */
#ifndef MEMSNAP_COMMANDS_SUMMARY_SPREAD_H
#define MEMSNAP_COMMANDS_SUMMARY_SPREAD_H

#include "commands/cluster/cluster.h"
#include "commands/summary/gather.h"

/* The summaries of one input, or why there are none. */
struct gather_slot {
    struct gathered_list list;
    bool failed;
    struct error err;
};

#ifdef HAVE_MPI

/* True in processes that only read. */
bool spread_follows(void);
/* Reads the part of this process. */
enum status spread_follow(const char *rules, const struct gather_options *options);

/* In process 0: tells the other processes the inputs, and marks in inputs->elsewhere those that
 * others read. */
bool spread_share(struct inputs *inputs, struct error *err);

/* Moves the slots of the others' inputs to process 0. `memory` is the limit for a file. */
bool spread_collect(struct gather_slot *slots, const struct inputs *inputs,
                    const struct gather_options *options, size_t memory, struct error *err);

#else

static inline bool spread_follows(void)
{
    return false;
}

static inline enum status spread_follow(const char *rules, const struct gather_options *options)
{
    (void)rules, (void)options;
    return STATUS_OK;
}

static inline bool spread_share(struct inputs *inputs, struct error *err)
{
    (void)inputs, (void)err;
    return true;
}

static inline bool spread_collect(struct gather_slot *slots, const struct inputs *inputs,
                                  const struct gather_options *options, size_t memory,
                                  struct error *err)
{
    (void)slots, (void)inputs, (void)options, (void)memory, (void)err;
    return true;
}

#endif
#endif
