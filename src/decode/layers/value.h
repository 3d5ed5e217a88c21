/* Reads one row of a layer trace from inert values. Internal to decode/layers. */
#ifndef MEMSNAP_DECODE_LAYERS_VALUE_H
#define MEMSNAP_DECODE_LAYERS_VALUE_H

#include "decode/core/value.h"
#include "decode/layers/fields.h"

struct layers_value {
    const struct values *values;
    const struct layer_sink *sink;
    uint64_t offset; /* of the current value, for errors */
    struct error *err;
    uint32_t storages; /* number of storages in all lists so far */
};

/* The text of a string; "" for any other value. */
struct text layers_value_text(const struct layers_value *in, value v);
/* Reports "expected EXPECTED, found ...". Returns false. */
bool layers_bad(const struct layers_value *in, const char *expected, value v);

/* Reads one field from a value. */
bool layers_take_field(struct layers_value *in, struct layer_row *row, enum layer_field field,
                       value v);
/* Reads one fact about the whole step. */
bool layers_take_fact(struct layers_value *in, enum layer_fact fact, value v);
/* Reads a list of [bytes, row]. */
bool layers_take_storages(struct layers_value *in, value v);
/* Reads a list of operators. */
bool layers_take_operators(struct layers_value *in, value v);
/* Reads a LayerMemoryTrace, or a dict of its members. Does not check for missing fields. */
bool layers_take_trace(struct layers_value *in, struct layer_row *row, value v);

#endif
