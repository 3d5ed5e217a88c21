/* The allocations in a trace of torch.profiler, each with its module and the operator that made it,
 * to be joined with a snapshot of the same run. */
#ifndef MEMSNAP_DECODE_PROFILER_ALLOCATIONS_H
#define MEMSNAP_DECODE_PROFILER_ALLOCATIONS_H

#include "decode/core/source.h"
#include "decode/profiler/rows.h"

/* STATUS_BAD_INPUT if the trace has no addresses, as in 2021: without them it cannot be joined. */
bool decode_profiler_allocations(struct source *source, struct symbols *symbols,
                                 const struct allocation_sink *sink, struct error *err);

#endif
