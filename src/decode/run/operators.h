/* Decodes the tables that torch.profiler prints: key_averages().table(), alone or in a log. */
#ifndef MEMSNAP_DECODE_RUN_OPERATORS_H
#define MEMSNAP_DECODE_RUN_OPERATORS_H

#include "decode/core/source.h"
#include "decode/run/operator_rows.h"

/* Reads the tables and passes over other text. STATUS_BAD_INPUT names the line of a bad cell, of an
 * unknown column, of a size in the spelling of another version of torch than the sizes above, and
 * of a table that is cut off. */
bool decode_operators(struct source *source, struct symbols *symbols,
                      const struct operators_sink *sink, struct error *err);

#endif
