/* The rows of a comparison, as text, JSON and CSV have them. */
#ifndef MEMSNAP_RENDER_DIFF_ROWS_H
#define MEMSNAP_RENDER_DIFF_ROWS_H

#include "render/core/rows.h"
#include "render/core/site_type.h"
#include "render/diff/diff.h"

/* Amounts of A and of B: the first member of every row, which DIFF_AMOUNTS relies on. */
struct diff_amounts {
    int64_t bytes[2];
    uint64_t count[2];
};

struct value diff_delta_of(const void *row, const struct field_context *context);
/* True if side A, or side B, has bytes or allocations. For text, where an absent side is "-". */
bool diff_has_a(const void *row, const struct field_context *context);
bool diff_has_b(const void *row, const struct field_context *context);
/* "12", "12 > 48" */
struct value diff_counts_text(const void *row, const struct field_context *context);

#define DIFF_BYTES(row_)                                                                           \
    FIELD_AS(row_, BYTES, "a_bytes", amounts.bytes[0], .cell = 3),                                 \
        FIELD_AS(row_, BYTES, "b_bytes", amounts.bytes[1], .cell = 3),                             \
        FIELD_CALL(CHANGE, "delta_bytes", diff_delta_of, .title = "change", .cell = 3)
/* The columns of text are titled "change", "A", "B" and `counts_title_`. */
#define DIFF_AMOUNTS(row_, counts_title_, a_optional_, b_optional_, counts_optional_)              \
    DIFF_BYTES(row_), FIELD_AS(row_, COUNT, "a_count", amounts.count[0], .cell = 3),               \
        FIELD_AS(row_, COUNT, "b_count", amounts.count[1], .cell = 3),                             \
        FIELD_AS(row_, BYTES, NULL, amounts.bytes[0], .present = diff_has_a, .title = "A",         \
                 .absent = "-", .optional = a_optional_),                                          \
        FIELD_AS(row_, BYTES, NULL, amounts.bytes[1], .present = diff_has_b, .title = "B",         \
                 .absent = "-", .optional = b_optional_),                                          \
        FIELD_CALL(NUMBER, NULL, diff_counts_text, .title = counts_title_,                         \
                   .optional = counts_optional_)

/* A call site. */
struct diff_site_row {
    struct diff_amounts amounts;
    struct diff_line line;
    size_t index; /* of the line */
};

/* A category, a phase or an annotation. */
struct diff_sum_row {
    struct diff_amounts amounts;
    enum category category;
    const char *phase, *annotation;
    bool is_remainder;
};

/* One figure of A and B. */
struct diff_figure {
    struct diff_amounts amounts;
    const char *name;
};

extern const struct row_type diff_site_type, diff_figure_type, diff_setting_type;

void diff_site_row(const struct diff *diff, size_t line, struct diff_site_row *row);
/* The rows of sums, by anything but the call site: their type, number and values. */
const struct row_type *diff_sum_type(enum diff_by by);
size_t diff_sum_count(const struct diff *diff, enum diff_by by);
void diff_sum_row(const struct diff *diff, enum diff_by by, size_t i, struct diff_sum_row *row);

static inline struct diff_figure diff_figure(const char *name, int64_t a, int64_t b)
{
    return (struct diff_figure){.amounts.bytes = {a, b}, .name = name};
}
bool diff_figures_text(const struct page *page, const struct diff_figure *figures, size_t count);

/* context->user in text. If there is no room for a column of operators, lines that differ only in
 * their operator have it after the call site. */
struct diff_sites_text {
    const struct diff *diff;
    const bool *alike; /* of each line; NULL: operators have a column */
};

/* Shared by comparisons of snapshots and of layer traces. */
#define DIFF_SCHEMA "memsnap.diff/1"

void diff_title(const struct page *page, const char *text);
bool diff_paragraphs(const struct page *page, enum style style, const char *lead,
                     const struct diff_words *words);
bool diff_limit_text(const struct page *page, const struct diff_limit *limit);

/* Members of an object. */
void diff_json_bytes(struct json_writer *json, const int64_t bytes[2]);
/* The same in an object of its own. */
void diff_json_figure(struct json_writer *json, const char *key, int64_t a, int64_t b);
/* `first` is printed before them; NULL: nothing */
void diff_json_words(struct json_writer *json, const char *key, const struct diff_words *words,
                     const char *first);
void diff_json_limit(struct json_writer *json, const struct diff_limit *limit);

#endif
