/* Sections of `memsnap analyze` about memory that survives from step to step, and about delayed
 * frees. */
#ifndef MEMSNAP_RENDER_ANALYZE_GROWTH_H
#define MEMSNAP_RENDER_ANALYZE_GROWTH_H

#include "render/analyze/internal.h"

/* Row types of struct growth_row and struct pending_row. */
extern const struct row_type growth_type, pending_type;

/* Both print nothing if there is nothing to say. */
bool device_growth(const struct page *page, const struct analysis *analysis,
                   const struct device_report *report);
bool device_pending(const struct page *page, const struct analysis *analysis,
                    const struct device_report *report);

/* "steps", "growth", "pending_frees": members of the device's object. */
void growth_json(struct json_writer *json, const struct device_report *report);

#endif
