/* `memsnap analyze --explain`: the evidence behind categories, as text. */
#ifndef MEMSNAP_RENDER_ANALYZE_EXPLAIN_H
#define MEMSNAP_RENDER_ANALYZE_EXPLAIN_H

#include "analysis/report/explain.h"
#include "render/core/page.h"

/* Explains one device, with `most` allocations in full; 0: all. False means out of memory. */
bool explain_text(const struct page *page, const struct device_report *report,
                  struct site_table *sites, const struct explain_query *query,
                  const struct explanation *explanation, size_t most);

#endif
