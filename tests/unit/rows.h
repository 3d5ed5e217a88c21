/* The output of a snapshot decoder as text, one line for each row. */
#ifndef MEMSNAP_TESTS_UNIT_ROWS_H
#define MEMSNAP_TESTS_UNIT_ROWS_H

#include "base/buffer.h"
#include "decode/json/snapshot.h"
#include "decode/pickle/decode.h"
#include "unit/unit.h"

/* decode_json_snapshot or decode_pickle_snapshot */
typedef bool rows_decoder(struct source *source, struct symbols *symbols,
                          const struct row_sink *sink, struct decoded *decoded, struct error *err);

struct rows_outcome {
    bool ok;
    struct error err;
    struct decoded decoded;
    struct buffer rows; /* to be released */
};

/* Decodes under a memory limit, and checks that none of it stays counted. */
struct rows_outcome rows_decode(rows_decoder *decoder, const void *bytes, size_t size,
                                size_t limit);

/* Decodes text, which must give these rows. Returns what else the decoder says of it. */
struct decoded rows_check(rows_decoder *decoder, const char *text, const char *rows);

#endif
