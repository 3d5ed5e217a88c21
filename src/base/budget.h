/* A bound on the memory one input may take, shared by everything that grows while the input is
 * read. The budget counts requested capacity, so it refuses before an allocation is made, never
 * after. Several threads may take from it and give back. */
#ifndef MEMSNAP_BASE_BUDGET_H
#define MEMSNAP_BASE_BUDGET_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct budget {
    size_t limit; /* bytes */
    size_t used;  /* bytes, never above limit */
};

/* Three quarters of machine_memory(""), in bytes. */
size_t budget_default_limit(void);

/* Counts `bytes` more. Fails with STATUS_LIMIT if that would exceed the limit. */
bool budget_take(struct budget *budget, size_t bytes, struct error *err);
/* True if most of the budget is left. Threads may share a budget while this holds; otherwise, which
 * of them exceeds it could depend on chance. */
bool budget_is_ample(const struct budget *budget);
/* Counts `bytes` less, which budget_take() has counted before. */
void budget_give(struct budget *budget, size_t bytes);

/* Used by vec_grow() when the capacity is too small. */
bool vec_grow_beyond(void **data, size_t *capacity, size_t need, size_t item, struct budget *budget,
                     struct error *err);

/* Grows `*data` (of `*capacity` items of `item` bytes) so that it holds at least `need` items.
 * Doubles the capacity, checks every product, and counts the bytes in the budget. The caller owns
 * `*data` and releases it with vec_free(). STATUS_LIMIT if the budget or the memory does not
 * suffice; `*data` and its items are then unchanged. */
static inline bool vec_grow(void **data, size_t *capacity, size_t need, size_t item,
                            struct budget *budget, struct error *err)
{
    return need <= *capacity || vec_grow_beyond(data, capacity, need, item, budget, err);
}

/* vec_grow() for a pointer and its capacity, both lvalues. The item type is the pointer's target.
 */
#define vec_reserve(data, capacity, need, budget, err)                                             \
    vec_grow((void **)&(data), &(capacity), need, sizeof *(data), budget, err)

/* Appends an item, whose expression may contain commas. STATUS_LIMIT as vec_grow(). */
#define vec_push(data, count, capacity, budget, err, ...)                                          \
    (vec_reserve(data, capacity, (count) + 1, budget, err) &&                                      \
     ((data)[(count)++] = (__VA_ARGS__), true))

void vec_free(void *data, size_t capacity, size_t item, struct budget *budget);

/* Bytes of memory this process may use: the machine's memory, or the lowest limit of its control
 * groups (version 1 or 2) if that is less. `root` is prepended to /proc and /sys; it is "" outside
 * of tests. */
uint64_t machine_memory(const char *root);

#endif
