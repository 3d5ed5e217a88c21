/* Writes the comparison of the ranks of a run. */
#ifndef MEMSNAP_RENDER_RANKS_RANKS_H
#define MEMSNAP_RENDER_RANKS_RANKS_H

#include "analysis/ranks/ranks.h"
#include "render/core/page.h"

#define RANKS_SCHEMA "memsnap.ranks/1"

struct ranks_failure {
    const char *path, *error; /* raw bytes */
};

/* The order of the table of ranks; all but RANKS_BY_RANK have the highest first. */
enum ranks_order {
    RANKS_BY_DEFAULT, /* by rank, or by peak if only some ranks are listed */
    RANKS_BY_RANK,
    RANKS_BY_PEAK,
    RANKS_BY_RESERVED,
    RANKS_BY_UNUSED,
    RANKS_BY_GROWTH,
};

struct ranks_report {
    const struct ranks *ranks;
    const struct ranks_failure *failures;
    size_t failure_count;
    size_t captures; /* that were read */
    size_t top;      /* text: the rows of the table of ranks and the outliers to explain; 0: all */
    bool top_given;
    enum ranks_order order;
};

/* False if memory ran out. There must be rows for text. */
bool ranks_text(const struct page *page, const struct ranks_report *report);
bool ranks_json(FILE *out, const struct ranks_report *report);
/* A row per rank, by rank unless the report has another order. */
bool ranks_csv(FILE *out, const struct ranks_report *report, struct error *err);

#endif
