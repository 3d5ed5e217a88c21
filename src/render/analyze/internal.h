/* The parts of the report of one device: of the text in the order they are printed, then those of
 * JSON that have a file of their own. */
#ifndef MEMSNAP_RENDER_ANALYZE_INTERNAL_H
#define MEMSNAP_RENDER_ANALYZE_INTERNAL_H

#include "render/analyze/analyze.h"
#include "render/core/rows.h"

#define SECTION_INDENT 2

/* Of struct category_row and struct live_row. */
extern const struct row_type category_type, largest_type;

/* What the rows of a device's report refer to. */
struct field_context report_context(const struct device_report *report);

bool device_has_history(const struct device_report *report);

/* Headline, warnings, key figures. */
bool device_summary(const struct page *page, const struct analysis *analysis,
                    const struct device_report *report);
/* The highest value of each phase, where there are several. */
bool device_phases(const struct page *page, const struct device_report *report);
/* What was there before the first event, by category and why. */
bool device_baseline(const struct page *page, const struct device_report *report);
/* What is live at the moment: by category, by call site, the largest single allocations. */
bool device_live(const struct page *page, const struct analysis *analysis,
                 const struct device_report *report);
/* A stack of a call site: the largest of so many; 0 or 1: says nothing of others. */
struct stack_example {
    stack_id stack;
    const struct site *site;
    uint64_t stacks;
};

/* Prints a stack below a row of a table, in no less detail than STACKS_FOLDED. */
bool site_stack(const struct page *page, struct site_table *sites, enum stack_detail detail,
                const struct stack_example *example);

/* "baseline": what was there before the first event, by category and reason. */
void baseline_json(struct json_writer *json, const struct device_report *report);
/* "phases": the stretches of the trace, in order. */
void phases_json(struct json_writer *json, const struct device_report *report);
/* "allocations": every allocation of the device with its category and why; what was there before
 * the trace first, then by birth. */
void allocations_json(struct json_writer *json, const struct device_report *report);

#endif
