/* The tables of torch.profiler's operators, alone (schema memsnap.analyze/1) or in the report of a
 * run. False means out of memory: the output is incomplete. */
#ifndef MEMSNAP_RENDER_RUN_OPERATORS_H
#define MEMSNAP_RENDER_RUN_OPERATORS_H

#include "analysis/run/operators.h"
#include "render/core/json.h"
#include "render/core/page.h"

struct operators_analysis {
    const char *path; /* as the user named it; "-" for standard input */
    const struct operator_file *file;
    size_t top; /* operators of a table; 0: all */
};

bool operators_text(const struct page *page, const struct operators_analysis *analysis);
bool operators_json(FILE *out, const struct operators_analysis *analysis);

/* One table below a heading, which names the file if `path` has any text. */
bool operators_print(const struct page *page, const struct operator_tables *tables,
                     const struct operator_table *table, struct text path, size_t top);
/* All tables as an array; `file_path` of each, or NULL. */
bool operators_put(struct json_writer *json, const struct operator_tables *tables,
                   struct text (*path_of)(const void *self, uint32_t file), const void *self);

#endif
