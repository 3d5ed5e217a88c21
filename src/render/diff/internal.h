/* The parts of a comparison that snapshots and layer traces share, and its tables. */
#ifndef MEMSNAP_RENDER_DIFF_INTERNAL_H
#define MEMSNAP_RENDER_DIFF_INTERNAL_H

#include "render/core/rows.h"
#include "render/diff/diff.h"

#define DIFF_SCHEMA "memsnap.diff/1"

void diff_title(const struct page *page, const char *text);
/* A paragraph after a word such as "warning:", which may be empty. Escapes the sentence. */
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
/* `first` is printed before them; NULL: nothing */
void diff_json_words(struct json_writer *json, const char *key, const struct diff_words *words,
                     const char *first);
void diff_json_limit(struct json_writer *json, const struct diff_limit *limit);

#endif
