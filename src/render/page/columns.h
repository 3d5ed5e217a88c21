/* The numbers of a page: columns in little-endian base64, in JSON that is safe inside HTML. */
#ifndef MEMSNAP_RENDER_PAGE_COLUMNS_H
#define MEMSNAP_RENDER_PAGE_COLUMNS_H

#include "render/core/json.h"
#include "render/page/stacks.h"

struct html_numbers {
    const struct html_page *page;
    const struct html_stacks *stacks;
};

/* A string without "<", ">" and "&". `bytes` is text that has been made visible for people. */
void html_emit_shown(struct json_writer *json, const char *key, const char *bytes, size_t size);

/* The same for raw bytes. */
void html_emit_raw(struct json_writer *json, const char *key, const char *bytes, size_t size);

/* Adds a number of `size` bytes, little-endian, to an array. */
void html_add_number(struct buffer *numbers, uint64_t value, size_t size);
void html_add_double(struct buffer *numbers, double value);
/* Writes the array and empties it. */
void html_emit_numbers(struct json_writer *json, const char *key, struct buffer *numbers);

uint64_t html_band_category(const struct html_numbers *numbers, size_t band);
/* Writes the bands. `sizes` is scratch: empty before and after. */
void html_emit_bands(struct json_writer *json, const struct html_numbers *numbers,
                     struct buffer *sizes);
/* layout.c: the blocks at every moment. */
void html_emit_layout(struct json_writer *json, const struct html_page *page);
/* Frames, stacks, and the texts of both. */
void html_emit_stacks(struct json_writer *json, const struct html_numbers *numbers);

#endif
