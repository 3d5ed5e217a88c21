/* The parts of the text report of a layer trace, in the order they are printed. */
#ifndef MEMSNAP_RENDER_LAYERS_INTERNAL_H
#define MEMSNAP_RENDER_LAYERS_INTERNAL_H

#include "analysis/layers/layers.h"
#include "base/buffer.h"
#include "render/core/rows.h"
#include "render/layers/layers.h"

#define LAYERS_INDENT 2

/* A row of the trace, identified by its number. */
struct layers_row {
    int64_t bytes; /* of a peak */
    struct layer_row row;
    uint32_t trace;
};

/* A block that could be sharded, or the sum of several. */
struct layers_block {
    struct text module_name;
    int64_t parameter_bytes, saved_bytes;
    bool worth;
    const char *worth_words;
};

extern const struct row_type layers_producer_type, layers_block_type;

struct layers_row layers_producer(const struct layers_report *report, size_t i);
/* Block `i`; its name is in `name`, which is overwritten. */
struct layers_block layers_block(const struct layers_report *report, size_t i, struct buffer *name);

static inline size_t layers_limited(size_t count, size_t top)
{
    return top && top < count ? top : count;
}

/* A heading after an empty line. */
void layers_title(const struct page *page, size_t indent, const char *text);

bool layers_tree(const struct page *page, const struct layers_report *report);
bool layers_producers(const struct page *page, const struct layers_analysis *analysis);
bool layers_sharding(const struct page *page, const struct layers_analysis *analysis);

#endif
