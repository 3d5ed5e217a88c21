/* The annotations of a snapshot sorted by device and name, so that each of many devices finds its
 * own without a scan of all. */
#ifndef MEMSNAP_MODEL_ANNOTATION_INDEX_H
#define MEMSNAP_MODEL_ANNOTATION_INDEX_H

#include "base/symbols.h"
#include "decode/core/rows.h"

/* An annotation's family: its name up to the first '#', and whether a number follows. */
struct annotation_place {
    uint64_t family; /* an internal key */
    uint32_t device;
    uint32_t index; /* in snapshot.annotations */
};

struct annotation_index {
    struct annotation_place *places; /* by device, family and index */
    size_t count, capacity;
    struct annotation_place *lowest; /* by family: the first place of its lowest device */
    size_t lowest_count, lowest_capacity;
};

struct annotation_range {
    const struct annotation_place *items;
    size_t count;
};

/* `rows` are `count` annotations with names in `symbols`. After a failure, too, the caller frees
 * the arrays with vec_free(). */
bool annotation_index_make(struct annotation_index *index, const struct annotation_row *rows,
                           size_t count, struct symbols *symbols, struct budget *budget,
                           struct error *err);

/* All annotations of a device. */
struct annotation_range annotations_of(const struct annotation_index *index, uint32_t device);
/* Finds the annotations whose name is `prefix`, which ends in its only '#', and then a number
 * (`numbered`) or anything: those of the device or, if it has none, those of the lowest device that
 * has any. */
bool annotations_like(const struct annotation_index *index, uint32_t device, const char *prefix,
                      bool numbered, struct symbols *symbols, struct annotation_range *range,
                      struct error *err);

#endif
