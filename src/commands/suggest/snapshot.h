/* An allocator snapshot as `memsnap suggest` wants it: the layers of a forward pass. */
#ifndef MEMSNAP_COMMANDS_SUGGEST_SNAPSHOT_H
#define MEMSNAP_COMMANDS_SUGGEST_SNAPSHOT_H

#include "commands/cli/capture.h"
#include "solve/problem/forward.h"

struct suggest_snapshot {
    struct capture capture;
    struct forward_chain chain;
    struct forward_problem problem;
    uint32_t device;
};

/* Takes over the input. `most` layers at most. STATUS_CHECK_FAILED where nothing can be
 * checkpointed, since no backward pass needs anything; STATUS_BAD_INPUT where stacks are missing,
 * STATUS_USAGE where a pattern matches nothing. */
bool suggest_snapshot_open(struct suggest_snapshot *snapshot, struct input *input,
                           const struct capture_options *options, const struct cuts *cuts,
                           size_t most, struct error *err);
void suggest_snapshot_close(struct suggest_snapshot *snapshot);

#endif
