/* The operator that made each allocation of a forward pass. A profiler trace names it; in a
 * snapshot, the C++ frames of the stack do. */
#ifndef MEMSNAP_ANALYSIS_CHAIN_OPERATIONS_H
#define MEMSNAP_ANALYSIS_CHAIN_OPERATIONS_H

#include "analysis/chain/sizes.h"

struct operations {
    string_id *names; /* by lifetime, from `first` on; STRING_EMPTY if not known */
    uint32_t first;
    size_t count, capacity;
    struct budget *budget; /* not owned */
};

/* Finds the operators of the lifetimes that begin in runs [0, end) of the tree. Adds names to the
 * symbols. */
bool operations_find(struct operations *operations, const struct chain_measure *measure,
                     uint32_t end, struct error *err);
void operations_release(struct operations *operations);

static inline string_id operations_at(const struct operations *operations, uint32_t lifetime)
{
    return operations->names[lifetime - operations->first];
}

#endif
