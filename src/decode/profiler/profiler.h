/* Decodes a Chrome trace of torch.profiler (export_chrome_trace, *.pt.trace.json) into the rows of
 * a snapshot: [memory] events become allocations and frees, the ranges around them their stacks.
 *
 * Eras: traces of 2021 have only the size of each change, later ones addresses and totals. Without
 * addresses, each free is taken to end the latest allocation of its size. Memory of the CPU becomes
 * that of DEVICE_HOST. A file that is cut off, or has superfluous commas, is read as far as
 * possible.
 */
#ifndef MEMSNAP_DECODE_PROFILER_PROFILER_H
#define MEMSNAP_DECODE_PROFILER_PROFILER_H

#include "base/symbols.h"
#include "decode/core/rows.h"
#include "decode/core/source.h"
#include "decode/layers/rows.h"

bool decode_profiler_snapshot(struct source *source, struct symbols *symbols,
                              const struct row_sink *sink, struct decoded *decoded,
                              struct error *err);

/* The layer trace of one step: its modules as the calls of nn.Module nest. Needs Python stacks. A
 * row is a module without others inside; functions between two of them count for the first. Bytes
 * of parameters are those of the gradients that its backward pass leaves. Times are those of the
 * kernels that it launched, or the CPU's if the trace has none; the facts say which. */
bool decode_profiler_layers(struct source *source, struct symbols *symbols,
                            const struct layer_sink *sink, struct error *err);

#endif
