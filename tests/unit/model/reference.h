/* The numbers of a trace by the definitions, as slowly and plainly as can be. */
#ifndef MEMSNAP_TESTS_UNIT_MODEL_REFERENCE_H
#define MEMSNAP_TESTS_UNIT_MODEL_REFERENCE_H

#include "unit/model/script.h"

struct reference_entry {
    uint64_t addr, size;
    int64_t from, to; /* live after the items from .. to - 1 */
};

struct reference {
    struct curve active, allocated;
    struct reserved_curve reserved;
    struct memory_state state;
    int64_t active_at[SCRIPT_EVENTS + 1]; /* after item i - 1 */
    int64_t allocated_at[SCRIPT_EVENTS + 1];
    int64_t reserved_at[SCRIPT_EVENTS + 1];
    uint64_t reallocated, size_changed;
    struct reference_entry entries[SCRIPT_EVENTS + SCRIPT_BLOCKS * SCRIPT_SEGMENTS];
    size_t entry_count;
};

void reference_compute(const struct script *script, uint32_t device, struct reference *reference);

#endif
