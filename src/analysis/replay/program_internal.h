/* What the files that make a program share. */
#ifndef MEMSNAP_ANALYSIS_REPLAY_PROGRAM_INTERNAL_H
#define MEMSNAP_ANALYSIS_REPLAY_PROGRAM_INTERNAL_H

#include "analysis/replay/program.h"
#include "base/arena.h"
#include "base/idtable.h"
#include "model/addrmap.h"

/* A program that is being made. */
struct maker {
    struct program *program;
    struct site_table *sites; /* or NULL */
    const struct allocator_rules *rules;
    struct addrmap live; /* by address: the slot */
    uint32_t *spare;     /* slots of freed allocations */
    size_t spare_count, spare_capacity;
    uint64_t reserved; /* before the current item */
    size_t burst_end;  /* the item after the burst of releases seen last */
    /* Of program->blocks: the requested sizes, and the places. */
    uint64_t *requested;
    uint32_t *block_places;
    size_t requested_capacity, block_place_capacity;
    /* places.c */
    struct idtable place_ids, pool_ids; /* the latter: of the first place of each pool */
    uint32_t last_extra, last_place;    /* most events have the same as the one before */
    bool has_last, looks_up;            /* looks_up: events do not name their pools */
    struct addrmap made_private;        /* by item of a segment_alloc: its place */
    struct block_set private_segments;  /* live ones, by address */
    struct arena arena;                 /* of the blocks in that set */
};

bool program_contradiction(struct error *err); /* returns false */

/* places.c: which pool and stream an event belongs to. */
bool program_places_begin(struct maker *maker, struct error *err);
void program_places_release(struct maker *maker);
/* The index of a place in program->places, which is added if it is new. */
bool program_place_of(struct maker *maker, const uint64_t pool[2], int64_t stream, uint32_t *place,
                      struct error *err);
bool program_place(struct maker *maker, size_t item, uint32_t *place, struct error *err);
/* Takes in an event that changes the segments. */
bool program_segment_event(struct maker *maker, size_t item, struct error *err);
/* The same for a segment from before the first item. */
bool program_segment(struct maker *maker, const struct start_segment *segment, struct error *err);

/* state.c: the segments and blocks before the first item, which `moment` describes. */
bool program_state(struct maker *maker, const struct moment *moment, struct error *err);

#endif
