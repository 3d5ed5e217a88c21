/* The typed rows that the readers of a MemProfiler directory hand out. */
#ifndef MEMSNAP_DECODE_RUN_ROWS_H
#define MEMSNAP_DECODE_RUN_ROWS_H

#include "base/error.h"
#include "base/symbols.h"

enum run_side { RUN_START, RUN_END, RUN_SIDES };

/* A moment of a run: before or after a call of a function that MemProfiler watches. */
struct run_key {
    uint32_t rank;
    string_id function; /* "training_step" */
    uint32_t iteration;
    enum run_side side;
};

/* Called in file order: a point, then its statistics. */
struct run_stats_sink {
    void *self;
    bool (*point)(void *self, const struct run_key *key, struct error *err);
    /* A statistic by its name in the file: "active_bytes.all.peak", "rss". */
    bool (*stat)(void *self, string_id name, int64_t number, struct error *err);
};

/* Reads "0.training_step.2.end". False if the text has another form. */
bool run_key_parse(struct text text, struct symbols *symbols, struct run_key *key, bool *is_key,
                   struct error *err);

/* The kinds of memory in a table, of FSDPMemTracker and of MemTracker. */
enum run_kind {
    RUN_SHARDED_PARAM,
    RUN_UNSHARDED_PARAM,
    RUN_PARAM, /* MemTracker */
    RUN_BUFFER,
    RUN_SHARDED_GRAD,
    RUN_UNSHARDED_GRAD,
    RUN_GRAD, /* MemTracker */
    RUN_ACTIVATION,
    RUN_TEMP,
    RUN_ALL_GATHER,
    RUN_REDUCE_SCATTER,
    RUN_OPT_STATE,
    RUN_INPUTS,
    RUN_OTHER, /* MemTracker */
    RUN_TOTAL,
    RUN_KINDS
};

/* When a module was looked at. */
enum run_state {
    RUN_STATE_NONE, /* the peak of the whole program */
    RUN_PEAK_FORWARD,
    RUN_BEFORE_PRE_FORWARD,
    RUN_PRE_FORWARD,
    RUN_AFTER_PRE_FORWARD,
    RUN_BEFORE_POST_FORWARD,
    RUN_POST_FORWARD,
    RUN_AFTER_POST_FORWARD,
    RUN_PEAK_BACKWARD,
    RUN_BEFORE_PRE_BACKWARD,
    RUN_PRE_BACKWARD,
    RUN_AFTER_PRE_BACKWARD,
    RUN_BEFORE_POST_BACKWARD,
    RUN_POST_BACKWARD,
    RUN_AFTER_POST_BACKWARD,
    RUN_PRE_FORWARD_AC, /* activation checkpointing */
    RUN_POST_FORWARD_AC,
    RUN_STATES
};

#define RUN_NO_BYTES INT64_C(-1) /* the table has no such column */

/* A device at a moment. */
struct run_table_row {
    string_id module; /* STRING_EMPTY: of the whole program */
    string_id device; /* "cuda:0" */
    uint8_t state;    /* enum run_state */
    uint32_t call;    /* from 1; 0 if state is RUN_STATE_NONE */
    int64_t bytes[RUN_KINDS];
    int64_t slack; /* the sizes are rounded by at most this many bytes */
};

struct run_tables_sink {
    void *self;
    /* The rows that follow are of this iteration. Not called for a table without a heading. */
    bool (*heading)(void *self, string_id function, uint32_t iteration, struct error *err);
    bool (*row)(void *self, const struct run_table_row *row, struct error *err);
};

#endif
