/* The inner loops of the CPU back end, one variant for each vector instruction set. */
#ifndef MEMSNAP_SOLVE_CPU_VARIANT_H
#define MEMSNAP_SOLVE_CPU_VARIANT_H

#include <stdbool.h>
#include <stddef.h>

#include "solve/cpu/tile.h"

struct cpu_variant {
    const char *name;        /* "AVX2" */
    bool (*supported)(void); /* true if the processor supports it */
    /* Computes a tile, in the table and in the buffer of columns. */
    void (*tile)(const struct tile *tile);
};

extern const struct cpu_variant cpu_variants[]; /* the fastest first; the last is plain C */
extern const size_t cpu_variant_count;

const struct cpu_variant *cpu_best_variant(void);

/* Like backend.solve, with the given variant and at most `threads` threads (0: chosen by size).
 * Adds the operations done to *done unless it is NULL. */
bool cpu_solve_with(const struct cpu_variant *variant, const struct cost_problem *problems,
                    struct cost_table *tables, size_t count, unsigned threads,
                    struct cpu_work *done, struct budget *budget, struct error *err);

#endif
