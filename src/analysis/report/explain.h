/* The evidence for the category of an allocation, for `memsnap analyze --explain`. */
#ifndef MEMSNAP_ANALYSIS_REPORT_EXPLAIN_H
#define MEMSNAP_ANALYSIS_REPORT_EXPLAIN_H

#include "analysis/report/report.h"

/* Selects the allocations that ever lived at an address, or whose call site's label contains a
 * text. */
struct explain_query {
    const char *site; /* NULL: by address */
    uint64_t addr;
};

/* "0x7f00" is an address, anything else part of a label. The query keeps a pointer to `text`. */
void explain_query_parse(const char *text, struct explain_query *query);

struct explained {
    bool in_trace;            /* index: in timeline->lifetimes; else in ->preexisting */
    uint8_t category, reason; /* enum category, reason byte */
    uint32_t index;
    uint64_t addr, size;
    stack_id stack;
    uint32_t born, freed; /* items or EVENT_NEVER; freed: when the program released it */
};

struct explanation {
    struct explained *items; /* by address: in the order of time; by site: largest first */
    size_t count, capacity;
    struct budget *budget; /* not owned */
};

bool explain_find(struct explanation *explanation, const struct device_report *report,
                  struct site_table *sites, const struct explain_query *query, struct error *err);
void explanation_release(struct explanation *explanation);

/* Counts over all allocations of one size. */
struct size_evidence {
    uint64_t size;
    uint64_t by_category[CATEGORY_LIMIT];
    uint64_t never_freed, all;
};

/* The evidence for each distinct size among items[0..count), ascending by size; `*sizes` is their
 * number. The array is malloc'ed; NULL if out of memory. Takes one pass over all allocations. */
struct size_evidence *explain_sizes(const struct device_report *report,
                                    const struct explained *items, size_t count, size_t *sizes);
/* NULL if there is no such size. */
struct size_evidence *explain_size(struct size_evidence *evidence, size_t sizes, uint64_t size);

#endif
