/* Decodes a Chrome trace of torch.profiler (export_chrome_trace, *.pt.trace.json) into the rows of
 * a snapshot: [memory] events become allocations and frees, the ranges around them their stacks.
 *
 * Eras: traces of 2021 have only the size of each change, later ones addresses and totals. Without
 * addresses, each free is taken to end the latest allocation of its size. Memory of the CPU becomes
 * that of DEVICE_HOST. A file that is cut off, or has commas too many, is read as far as it goes.
 */
#ifndef MEMSNAP_DECODE_PROFILER_PROFILER_H
#define MEMSNAP_DECODE_PROFILER_PROFILER_H

#include "base/symbols.h"
#include "decode/core/rows.h"
#include "decode/core/source.h"

bool decode_profiler_snapshot(struct source *source, struct symbols *symbols,
                              const struct row_sink *sink, struct decoded *decoded,
                              struct error *err);

#endif
