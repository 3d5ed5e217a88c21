/* The parts of a report about reserved memory: its fragmentation, and why it ran out. */
#ifndef MEMSNAP_RENDER_ANALYZE_MEMORY_H
#define MEMSNAP_RENDER_ANALYZE_MEMORY_H

#include "render/analyze/analyze.h"
#include "render/core/rows.h"

/* Row types of struct pool_row and struct pin_row. */
extern const struct row_type pool_type, pin_type;

/* The fields that name a pool, of a struct with a member struct pool_key key. */
#define POOL_KEY_FIELDS(row_, present_)                                                            \
    FIELD_AS(row_, NAME, "segment_type", key.is_small, .name = pool_size_name,                     \
             .present = present_),                                                                 \
        FIELD_AS(row_, PAIR, "pool_id", key.pool, .present = present_),                            \
        FIELD_AS(row_, NUMBER, "stream", key.stream, .present = present_)
/* "small" or "large": the name of a value of pool_key.is_small. */
const char *pool_size_name(unsigned is_small);

/* Text. Both print nothing if there is nothing to say. They are called for every device. */
bool device_ooms(const struct page *page, const struct device_report *report);
bool device_fragmentation(const struct page *page, const struct analysis *analysis,
                          const struct device_report *report);

/* JSON: "fragmentation": {..}, and "ooms": [..]. */
void fragmentation_json(struct json_writer *json, const struct device_report *report);
void ooms_json(struct json_writer *json, const struct device_report *report);

#endif
