/* Decodes a memory profile in pprof's format, as jax.profiler.save_device_memory_profile() writes
 * it, into the rows of a snapshot: what is live at that moment, as blocks with a stack.
 *
 * A device is the number at the end of the sample's label "device". Samples without one, such as
 * compiled executables, are the host's. */
#ifndef MEMSNAP_DECODE_PPROF_PPROF_H
#define MEMSNAP_DECODE_PPROF_PPROF_H

#include "base/symbols.h"
#include "decode/core/rows.h"
#include "decode/core/source.h"

/* Fails with STATUS_USAGE if memsnap was built without protobuf-c. */
bool decode_pprof_snapshot(struct source *source, struct symbols *symbols,
                           const struct row_sink *sink, struct decoded *decoded, struct error *err);

#endif
