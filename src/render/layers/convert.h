/* `memsnap convert`: a layer trace as a file that can be read again, by memsnap or another program.
 *
 * All write to a stream; the caller looks at ferror(). False means out of memory: what was written
 * is not whole. Every field that a row has is written, and no other, so that reading it back gives
 * the same rows. */
#ifndef MEMSNAP_RENDER_LAYERS_CONVERT_H
#define MEMSNAP_RENDER_LAYERS_CONVERT_H

#include <stdio.h>

#include "model/layer_trace.h"

/* In the format of FairScale's LayerwiseMemoryTracker.load(). */
bool layers_write_json(FILE *out, const struct layer_trace *trace);
/* memsnap's compact form: see decode_msgpack_layers(). */
bool layers_write_msgpack(FILE *out, const struct layer_trace *trace);

#endif
