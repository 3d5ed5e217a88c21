/* A snapshot written down as rows, pushed through the loader's sink as a decoder would. */
#ifndef MEMSNAP_TESTS_UNIT_MODEL_SCRIPT_H
#define MEMSNAP_TESTS_UNIT_MODEL_SCRIPT_H

#include "model/loader.h"
#include "model/timeline.h"

#define SCRIPT_EVENTS   512
#define SCRIPT_BLOCKS   64
#define SCRIPT_SEGMENTS 8
#define SCRIPT_DEVICES  3

struct script {
    size_t devices; /* traces announced */
    struct {
        uint32_t device;
        struct event_row row;
    } events[SCRIPT_EVENTS];
    size_t event_count;
    struct {
        struct segment_row row;
        struct block_row blocks[SCRIPT_BLOCKS];
    } segments[SCRIPT_SEGMENTS];
    size_t segment_count;
    uint32_t device; /* that script_event and script_segment add to */
};

void script_init(struct script *script);
/* An event 10 us after the one before, with a stack of its own: 1 + its place in the script. */
struct event_row *script_event(struct script *script, enum action action, uint64_t addr,
                               uint64_t size);
void script_segment(struct script *script, uint64_t total_size);
/* Into the latest segment. */
void script_block(struct script *script, uint64_t addr, uint64_t size, uint64_t requested,
                  enum block_state state);

/* NULL on failure; `window` NULL: everything; `max_memory` 0: the default. */
struct snapshot *script_load(const struct script *script, const struct window *window,
                             size_t max_memory, struct error *err);
/* Both abort the test on failure. */
struct snapshot *script_must_load(const struct script *script, const struct window *window);
struct timeline *script_timeline(const struct snapshot *snapshot, uint32_t device);

#endif
