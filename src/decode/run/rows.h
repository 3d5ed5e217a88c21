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

#endif
