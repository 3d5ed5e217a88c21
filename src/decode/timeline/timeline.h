/* Decodes a memory timeline of torch.profiler (export_memory_timeline) into the rows of a snapshot.
 *
 * .raw.json is a list of changes, [time_ns, action, bytes, category]. A free is taken to end the
 * latest allocation of its size and category. .json has the sum of each category at each time; its
 * differences become allocations and frees, so that the curves are those of the file. Neither names
 * its device: it is 0. An allocation's stack is one frame that names its size, or its category. */
#ifndef MEMSNAP_DECODE_TIMELINE_TIMELINE_H
#define MEMSNAP_DECODE_TIMELINE_TIMELINE_H

#include "base/symbols.h"
#include "decode/core/rows.h"
#include "decode/core/source.h"

bool decode_timeline_snapshot(struct source *source, struct symbols *symbols,
                              const struct row_sink *sink, struct decoded *decoded,
                              struct error *err);

#endif
