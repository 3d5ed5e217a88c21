/* The fields of a layer trace's row. Internal to decode/layers. */
#ifndef MEMSNAP_DECODE_LAYERS_FIELDS_H
#define MEMSNAP_DECODE_LAYERS_FIELDS_H

#include "decode/core/fields.h"
#include "decode/layers/rows.h"

extern const struct field layer_fields[LAYER_FIELDS]; /* of struct layer_row */

/* Finds a field by its key in the file; LAYER_FIELDS if there is none. */
static inline enum layer_field layer_field_find(struct text key)
{
    return (enum layer_field)field_find(layer_fields, LAYER_FIELDS, key);
}

static inline void layer_set_present(struct layer_row *row, enum layer_field field)
{
    row->present |= UINT32_C(1) << field;
}

/* Fails if a field that the row must have is missing; `offset` is the row's. */
bool layer_row_check(const struct layer_row *row, uint64_t offset, struct error *err);

#endif
