/* An opened file whose kind is not known yet: its source, and a budget that the decoded object
 * takes over. */
#ifndef MEMSNAP_DECODE_CORE_INPUT_H
#define MEMSNAP_DECODE_CORE_INPUT_H

#include "decode/core/source.h"

struct input {
    struct source source;
    struct budget *budget; /* malloc'ed; source.budget */
    uint64_t bytes;        /* size as stored (compressed, if it is); 0: unknown, a pipe */
};

/* Takes over `fd`, also on failure. `max_memory` 0: budget_default_limit(). */
bool input_from_fd(struct input *input, int fd, size_t max_memory, struct error *err);
/* Reads from memory that the caller keeps. */
bool input_from_memory(struct input *input, const void *bytes, size_t size, size_t max_memory,
                       struct error *err);

/* Closes the source and leaves the budget to the caller. Sets the size of a pipe, which is now
 * known. */
void input_close(struct input *input);
/* Closes the source and frees the budget, in which nothing may be counted any more. */
void input_discard(struct input *input);

#endif
