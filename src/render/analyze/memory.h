/* The parts of a report that tell of reserved memory: how it is cut up, and why it ran out. */
#ifndef MEMSNAP_RENDER_ANALYZE_MEMORY_H
#define MEMSNAP_RENDER_ANALYZE_MEMORY_H

#include "render/analyze/analyze.h"
#include "render/core/json.h"

/* Text: nothing where there is nothing to say. Called for every device. */
bool device_ooms(const struct page *page, const struct device_report *report);
bool device_fragmentation(const struct page *page, const struct analysis *analysis,
                          const struct device_report *report);

/* JSON: "fragmentation": {..}, and "ooms": [..]. */
void fragmentation_json(struct json_writer *json, const struct device_report *report);
void ooms_json(struct json_writer *json, const struct device_report *report);

/* "large requests", "small requests, stream 0x7, private pool (0, 3)": a pool's name for people. */
#define POOL_TEXT_SIZE 128
const char *pool_text(char out[POOL_TEXT_SIZE], const struct pool_key *key);

#endif
