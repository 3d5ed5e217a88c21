/* The parts of the text report of one device, in the order they are printed. */
#ifndef MEMSNAP_RENDER_ANALYZE_PARTS_H
#define MEMSNAP_RENDER_ANALYZE_PARTS_H

#include "render/analyze.h"

#define SECTION_INDENT 2

bool device_has_history(const struct device_report *report);

/* Headline, warnings, key figures. */
bool device_summary(const struct page *page, const struct analysis *analysis,
                    const struct device_report *report);
/* What is live at the moment: by category, by call site, the largest single allocations. */
bool device_live(const struct page *page, const struct analysis *analysis,
                 const struct device_report *report);
/* The stack that holds the most of a call site, as analysis->stacks asks for. */
bool site_stack(const struct page *page, const struct analysis *analysis,
                const struct site_row *row);

#endif
