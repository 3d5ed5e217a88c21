/* Decodes a FairScale layer trace into rows.
 *
 * {"traces": [{module_name, ..., event: {memory_diff, memory_activations}}]}, as
 * LayerwiseMemoryTracker.save_traces() writes it, or the list alone. A key may also stand outside
 * of `event`, or in it, where FairScale has it the other way. Of a key that is there twice the
 * last counts, as in Python. Errors: STATUS_BAD_INPUT with the offset and what was expected,
 * STATUS_LIMIT, STATUS_IO from the source, or whatever the sink set. */
#ifndef MEMSNAP_DECODE_LAYERS_H
#define MEMSNAP_DECODE_LAYERS_H

#include "decode/layer_rows.h"
#include "decode/source.h"

bool decode_json_layers(struct source *source, struct symbols *symbols,
                        const struct layer_sink *sink, struct error *err);

#endif
