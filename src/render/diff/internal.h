/* The parts of a comparison: what those of snapshots and of layer traces share, and tables. */
#ifndef MEMSNAP_RENDER_DIFF_INTERNAL_H
#define MEMSNAP_RENDER_DIFF_INTERNAL_H

#include "render/core/json.h"
#include "render/core/table.h"
#include "render/diff/diff.h"

#define DIFF_SCHEMA "memsnap.diff/1"

/* "+3.20 GiB", "-512 B", "0 B" */
const char *diff_signed(const struct page *page, char out[UNITS_TEXT_SIZE], int64_t bytes);
/* The cells change, A, B and counts ("12 > 48"); "-" for a side that has none of it. */
void diff_add_amounts(struct table *table, const struct page *page, const int64_t bytes[2],
                      const uint64_t count[2]);

void diff_title(const struct page *page, const char *text);
/* A paragraph behind a word such as "warning:", which may be empty. The sentence is escaped here.
 */
bool diff_paragraph(const struct page *page, enum style style, const char *lead,
                    const char *sentence);
bool diff_paragraphs(const struct page *page, enum style style, const char *lead,
                     const struct diff_words *words);
bool diff_limit_text(const struct page *page, const struct diff_limit *limit);

/* By category, or by phase. */
bool diff_sums_text(const struct page *page, const struct diff *diff, bool phases);
bool diff_sites_text(const struct page *page, const struct diff_report *report,
                     const struct diff *diff);

/* Members of an object. */
void diff_json_bytes(struct json_writer *json, const int64_t bytes[2]);
void diff_json_counts(struct json_writer *json, const uint64_t count[2]);
void diff_json_input(struct json_writer *json, const char *key, const struct input_line *input);
/* `first` stands before them; NULL: nothing */
void diff_json_words(struct json_writer *json, const char *key, const struct diff_words *words,
                     const char *first);
void diff_json_limit(struct json_writer *json, const struct diff_limit *limit);

#endif
