/* One row of a layer trace out of inert values. Internal to decode/layers. */
#ifndef MEMSNAP_DECODE_LAYERS_VALUE_H
#define MEMSNAP_DECODE_LAYERS_VALUE_H

#include "decode/core/value.h"
#include "decode/layers/fields.h"

struct layers_value {
    const struct values *values;
    const struct layer_sink *sink;
    uint64_t offset; /* of the value at hand, for errors */
    struct error *err;
};

/* The text of a string, "" of anything else. */
struct text layers_value_text(const struct layers_value *in, value v);
bool layers_is_word(struct text text, const char *word);
/* "expected EXPECTED, found ...": always false. */
bool layers_bad(const struct layers_value *in, const char *expected, value v);

/* What such a field holds, from a value of its own. */
bool layers_take_field(struct layers_value *in, struct layer_row *row, enum layer_field field,
                       value v);
/* A LayerMemoryTrace, or a dict of its members. What is missing is not noticed. */
bool layers_take_trace(struct layers_value *in, struct layer_row *row, value v);

#endif
