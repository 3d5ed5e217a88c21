/* Short words for events without stacks, of the capture of a file of tests. */
#ifndef MEMSNAP_TESTS_UNIT_ANALYSIS_CATEGORY_BARE_EVENTS_H
#define MEMSNAP_TESTS_UNIT_ANALYSIS_CATEGORY_BARE_EVENTS_H

#include "unit/analysis/one_capture.h"

static inline void born(uint64_t addr, uint64_t size)
{
    capture_event(&capture, "alloc", addr, size, "");
}

static inline void freed(uint64_t addr, uint64_t size)
{
    capture_free(&capture, addr, size, "");
}

#endif
