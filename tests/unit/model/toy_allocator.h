/* A caching allocator small and plain enough to be believed, which writes down its events and how
 * memory is cut up after each. */
#ifndef MEMSNAP_TESTS_UNIT_MODEL_TOY_ALLOCATOR_H
#define MEMSNAP_TESTS_UNIT_MODEL_TOY_ALLOCATOR_H

#include "base/buffer.h"
#include "unit/model/random_script.h"

#define TOY_CELLS   48 /* blocks of a region */
#define TOY_REGIONS 24
#define TOY_EVENTS  160

enum toy_state { TOY_UNMAPPED, TOY_FREE, TOY_ALLOCATED, TOY_PENDING };

struct toy_cell {
    uint64_t addr, size, requested;
    enum toy_state state;
};

/* A segment, or the address space of an expandable one. */
struct toy_region {
    uint64_t base;
    int64_t stream;
    bool small, expandable;
    struct toy_cell cells[TOY_CELLS]; /* tile it */
    size_t count;                     /* 0: not in use */
};

struct toy {
    struct dice dice;
    bool expandable, recording;
    uint64_t limit, reserved, max_split;
    struct toy_region regions[TOY_REGIONS];
    struct buffer events; /* JSON, from when recording was switched on */
    size_t event_count;
    struct toy_region truth[TOY_EVENTS][TOY_REGIONS]; /* after each event */
};

void toy_init(struct toy *toy, uint64_t seed);
/* One allocation, free, or emptying of the cache at random. */
void toy_step(struct toy *toy);
/* The capture, as JSON. */
void toy_dump(const struct toy *toy, struct buffer *json);

#endif
