/* The layers of a forward pass in an allocator snapshot, for `memsnap suggest`. */
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

/* Takes ownership of the input, and finds at most `most` layers. STATUS_CHECK_FAILED if no backward
 * pass needs memory that a checkpoint could free, STATUS_BAD_INPUT if stacks are missing,
 * STATUS_USAGE if a pattern matches nothing. `by_calls` as in solve/problem/forward.h. */
bool suggest_snapshot_open(struct suggest_snapshot *snapshot, struct input *input,
                           const struct capture_options *options, const struct cuts *cuts,
                           size_t most, bool by_calls, struct error *err);
/* Makes the same chain again, cut `inner` levels deeper (struct chain_options). `cuts`, `most` and
 * `by_calls` as before. Both are to be closed; `deeper` before the snapshot, whose capture it uses.
 */
bool suggest_snapshot_deepen(const struct suggest_snapshot *snapshot, const struct cuts *cuts,
                             size_t most, bool by_calls, size_t inner,
                             struct suggest_snapshot *deeper, struct error *err);
/* Releases what suggest_snapshot_deepen() made. */
void suggest_snapshot_drop(struct suggest_snapshot *deeper);
void suggest_snapshot_close(struct suggest_snapshot *snapshot);
/* Closes an input of a kind that has no layers. Reports STATUS_BAD_INPUT, and returns false. */
bool suggest_refuse_kind(struct input *input, enum file_kind kind, struct error *err);

#endif
