/* The unpacked profile. Internal to decode/pprof. */
#ifndef MEMSNAP_DECODE_PPROF_INTERNAL_H
#define MEMSNAP_DECODE_PPROF_INTERNAL_H

#include "decode/core/rows.h"
#include "decode/pprof/profile.pb-c.h"

typedef Memsnap__Pprof__Profile pprof_profile;
typedef Memsnap__Pprof__Sample pprof_sample;
typedef Memsnap__Pprof__Location pprof_location;
typedef Memsnap__Pprof__Function pprof_function;

struct pprof_rows {
    const pprof_profile *profile;
    struct symbols *symbols;
    const struct row_sink *sink;
    struct budget *budget;
    struct error *err;
};

/* samples.c: hands out a segment for each device. */
bool pprof_emit(struct pprof_rows *rows);

/* stacks.c: the stack of each sample. */
struct pprof_stacks {
    struct pprof_rows *rows;
    const pprof_location **locations; /* by id */
    const pprof_function **functions;
    size_t location_count, location_capacity, function_count, function_capacity;
    frame_id *frames; /* of the current stack */
    size_t frame_count, frame_capacity;
};

bool pprof_stacks_init(struct pprof_stacks *stacks, struct pprof_rows *rows);
void pprof_stacks_release(struct pprof_stacks *stacks);
bool pprof_stack_of(struct pprof_stacks *stacks, const pprof_sample *sample, stack_id *stack);

/* damage.c: the error about a file that protobuf-c refused: where it is damaged, and what was
 * expected there. Returns false. */
bool pprof_refuse(const uint8_t *bytes, size_t size, struct error *err);

/* strings.c: a text by its index; empty if there is none. */
struct text pprof_text(const pprof_profile *profile, int64_t index);

#endif
