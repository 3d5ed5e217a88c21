/* The typed rows of the tables that torch.profiler prints. */
#ifndef MEMSNAP_DECODE_RUN_OPERATOR_ROWS_H
#define MEMSNAP_DECODE_RUN_OPERATOR_ROWS_H

#include "base/error.h"
#include "base/symbols.h"

/* Sums over the calls of an operator. "self" leaves out the operators that it calls. Times are in
 * nanoseconds, memory is in bytes: allocated less freed. */
enum operator_figure {
    OPERATOR_SELF_CPU_TIME,
    OPERATOR_CPU_TIME,
    OPERATOR_SELF_DEVICE_TIME,
    OPERATOR_DEVICE_TIME,
    OPERATOR_SELF_CPU_BYTES,
    OPERATOR_CPU_BYTES,
    OPERATOR_SELF_DEVICE_BYTES,
    OPERATOR_DEVICE_BYTES,
    OPERATOR_FIGURES
};

#define OPERATOR_BYTES OPERATOR_SELF_CPU_BYTES /* the first figure in bytes */

struct operator_row {
    string_id name;   /* the table cuts long names, which then end in "..." */
    string_id shapes; /* STRING_EMPTY: not in the table */
    int64_t calls;
    int64_t values[OPERATOR_FIGURES]; /* 0 if the table has no such column */
    int64_t slack[OPERATOR_FIGURES];  /* the table rounds by at most this */
};

struct operator_table_facts {
    uint64_t line;     /* where the table begins */
    string_id device;  /* "CUDA"; STRING_EMPTY: no column of a device */
    uint32_t present;  /* a bit for each enum operator_figure that is a column */
    int64_t totals[2]; /* the totals that the table states: self CPU time, self device time, in ns;
                          -1: not stated */
    int64_t slack[2];  /* of the totals */
};

/* Called for every table in file order: its rows, then the table. */
struct operators_sink {
    void *self;
    bool (*row)(void *self, const struct operator_row *row, struct error *err);
    bool (*table)(void *self, const struct operator_table_facts *facts, struct error *err);
};

#endif
