/* Decodes to a sink that takes every row and keeps none. */
#ifndef MEMSNAP_TESTS_FUZZ_IGNORE_ROWS_H
#define MEMSNAP_TESTS_FUZZ_IGNORE_ROWS_H

#include "decode/core/rows.h"
#include "decode/core/source.h"

/* As decode_json_snapshot(). */
typedef bool snapshot_decoder(struct source *source, struct symbols *symbols,
                              const struct row_sink *sink, struct decoded *decoded,
                              struct error *err);

/* Runs the decoder under a small memory budget, and traps if any of it stays counted. */
void decode_and_ignore(snapshot_decoder *decode, const uint8_t *data, size_t size);

#endif
