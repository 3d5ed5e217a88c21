/* Decodes a FairScale layer trace into rows.
 *
 * {"traces": [{module_name, ..., event: {memory_diff, memory_activations}}]}, as
 * LayerwiseMemoryTracker.save_traces() writes it, or the list alone. A key may also stand outside
 * of `event`, or in it, where FairScale has it the other way. Of a key that is there twice the
 * last counts, as in Python. Errors: STATUS_BAD_INPUT with the offset and what was expected,
 * STATUS_LIMIT, STATUS_IO from the source, or whatever the sink set. */
#ifndef MEMSNAP_DECODE_LAYERS_LAYERS_H
#define MEMSNAP_DECODE_LAYERS_LAYERS_H

#include "decode/core/source.h"
#include "decode/layers/rows.h"

#define LAYERS_TABLE_KEY    "memsnap"
#define LAYERS_TABLE_LAYOUT "layers/1"

bool decode_json_layers(struct source *source, struct symbols *symbols,
                        const struct layer_sink *sink, struct error *err);
/* The same list, or the same dict, pickled, as dicts or as FairScale's named tuples. */
bool decode_pickle_layers(struct source *source, struct symbols *symbols,
                          const struct layer_sink *sink, struct error *err);
/* The same dict or list in msgpack; or memsnap's own compact form: a map of LAYERS_TABLE_KEY to
 * LAYERS_TABLE_LAYOUT, "columns" to an array of keys, and "rows" to an array of arrays with a value
 * for each, nil where that row does not have the key. */
bool decode_msgpack_layers(struct source *source, struct symbols *symbols,
                           const struct layer_sink *sink, struct error *err);

#endif
