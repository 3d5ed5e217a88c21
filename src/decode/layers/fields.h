/* The fields of a layer trace's row. Internal to decode/layers. */
#ifndef MEMSNAP_DECODE_LAYERS_FIELDS_H
#define MEMSNAP_DECODE_LAYERS_FIELDS_H

#include "decode/core/fields.h"
#include "decode/layers/rows.h"

extern const struct field layer_fields[LAYER_FIELDS]; /* of struct layer_row */

extern const struct field layer_operator_fields[OPERATOR_FIELDS]; /* of struct layer_operator */

extern const struct field layer_fact_fields[LAYER_FACTS]; /* of struct layer_facts */

#define LAYERS_SCHEMA    "memsnap.layer-trace/1"
#define LAYERS_MADE      "storages"  /* the key of the table of storages */
#define LAYERS_OPERATORS "operators" /* the key of the table of operators */
#define STORAGE_MADE     "a storage ([bytes, row])"
#define STORAGE_LEAST    2 /* items of a storage; the last ones may be absent */
#define STORAGE_MOST     3
#define STORAGE_NUMBER   "the number of a storage"

/* Finds a field by its key in the file; LAYER_FIELDS if there is none. */
static inline enum layer_field layer_field_find(struct text key)
{
    return (enum layer_field)field_find(layer_fields, LAYER_FIELDS, key);
}

static inline void layer_set_present(struct layer_row *row, enum layer_field field)
{
    row->present |= UINT64_C(1) << field;
}

static inline enum operator_field layer_operator_find(struct text key)
{
    return (enum operator_field)field_find(layer_operator_fields, OPERATOR_FIELDS, key);
}

static inline enum layer_fact layer_fact_find(struct text key)
{
    return (enum layer_fact)field_find(layer_fact_fields, LAYER_FACTS, key);
}

/* The list of a row that the field LAYER_READS or LAYER_SAVES holds. */
struct storage_list *layer_list(struct layer_row *row, enum layer_field field);
/* Checks and converts the number of a storage in such a list. */
bool layer_storage_number(bool negative, uint64_t magnitude, uint64_t offset, uint32_t *number,
                          struct error *err);
/* Sets the bytes (item 0), the row (item 1), or the row until which it is held (item 2). */
bool layer_storage_set(struct layer_storage *storage, size_t item, bool negative,
                       uint64_t magnitude, uint64_t offset, struct error *err);
/* Fails if the file's schema is not the one that is known. */
bool layer_schema_check(struct text schema, uint64_t offset, struct error *err);

/* Fails if a field that the row must have is missing; `offset` is the row's. */
bool layer_row_check(const struct layer_row *row, uint64_t offset, struct error *err);
/* The same for an operator. */
bool layer_operator_check(const struct layer_operator *operation, uint64_t offset,
                          struct error *err);

#endif
