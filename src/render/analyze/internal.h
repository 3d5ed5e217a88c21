/* The parts of the report of one device: first those of the text, in the order in which they are
 * printed, then those of the JSON that have a file of their own. */
#ifndef MEMSNAP_RENDER_ANALYZE_INTERNAL_H
#define MEMSNAP_RENDER_ANALYZE_INTERNAL_H

#include "render/analyze/analyze.h"
#include "render/core/rows.h"

#define SECTION_INDENT 2

/* Row types of struct category_row and struct live_row. */
extern const struct row_type category_type, largest_type;

/* The field context of the rows of a device's report. */
static inline struct field_context report_context(const struct device_report *report)
{
    return (struct field_context){
        .symbols = report->timeline->snapshot->symbols,
        .trace = report->timeline->trace,
        .whole = report->at.active_bytes,
    };
}

/* True if the device has events from which lifetimes follow, not only the state at the dump. */
bool device_has_history(const struct device_report *report);

/* Prints one line in place of all parts below, for a device that the program did not use. */
void device_unused(const struct page *page, const struct device_report *report);
/* True for pinned host memory that is too little to matter beside the devices; such a section is
 * one line. */
bool device_is_little_host(const struct analysis *analysis, const struct device_report *report);
void device_little_host(const struct page *page, const struct device_report *report);
/* Headline, warnings, key figures. */
bool device_summary(const struct page *page, const struct analysis *analysis,
                    const struct device_report *report);
/* The peak of each phase, if there are several. */
bool device_phases(const struct page *page, const struct device_report *report);
/* Memory allocated before the first event, by category and reason. */
bool device_baseline(const struct page *page, const struct device_report *report);
/* Live memory at the moment: by category, by call site, and the largest single allocations. */
bool device_live(const struct page *page, const struct analysis *analysis,
                 const struct device_report *report);
/* What the trace of --with-trace tells about that memory. */
bool device_joint(const struct page *page, const struct analysis *analysis,
                  const struct device_report *report);
/* "joined": the same in JSON. */
void joint_json(struct json_writer *json, const struct analysis *analysis,
                const struct device_report *report);
/* An example stack of a call site: the largest of `stacks`. If that is 0 or 1, other stacks are not
 * mentioned. */
struct stack_example {
    stack_id stack;
    const struct site *site;
    uint64_t stacks;
};

/* Prints a stack below a row of a table, in no less detail than STACKS_FOLDED. */
bool site_stack(const struct page *page, struct site_table *sites, enum stack_detail detail,
                const struct stack_example *example);

/* "baseline": memory allocated before the first event, by category and reason. */
void baseline_json(struct json_writer *json, const struct device_report *report);
/* "by": live memory grouped as --by asks for. Nothing if that is by call site. */
void groups_json(struct json_writer *json, const struct device_report *report);
/* "allocations": every allocation of the device with its category and reason. Those from before the
 * trace come first; the others are sorted by birth. */
void allocations_json(struct json_writer *json, const struct device_report *report);
/* "phases": the stretches of the trace, in order. */
void phases_json(struct json_writer *json, const struct device_report *report);

#endif
