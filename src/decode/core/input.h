/* A file opened before it is known what it holds: its source, and the budget that is to become
 * that of what is made of it. */
#ifndef MEMSNAP_DECODE_CORE_INPUT_H
#define MEMSNAP_DECODE_CORE_INPUT_H

#include "decode/core/source.h"

struct input {
    struct source source;
    struct budget *budget; /* malloc'ed; source.budget */
    uint64_t bytes;        /* as stored (compressed, if it is); 0: unknown, a pipe */
};

/* Takes over `fd`, also on failure. `max_memory` 0: budget_default_limit(). */
bool input_from_fd(struct input *input, int fd, size_t max_memory, struct error *err);
/* From memory that the caller keeps. */
bool input_from_memory(struct input *input, const void *bytes, size_t size, size_t max_memory,
                       struct error *err);

/* Closes the source; the budget is the caller's. A pipe's size is known from now on. */
void input_close(struct input *input);
/* Closes the source, and frees the budget: nothing that counts in it may be left. */
void input_discard(struct input *input);

#endif
