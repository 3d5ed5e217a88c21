/* What a profiler trace of the same run adds to a report. */
#include <string.h>

#include "base/units.h"
#include "render/analyze/internal.h"
#include "render/core/escape.h"

static const struct joined_trace *joined_of(const struct analysis *analysis,
                                            const struct device_report *report)
{
    for (size_t i = 0; i < analysis->device_count && analysis->joined; i++)
        if (analysis->devices[i] == report)
            return &analysis->joined[i];
    return NULL;
}

static uint64_t live_count(const struct device_report *report)
{
    uint64_t count = 0;
    for (size_t i = 0; i < report->category_count; i++)
        count += report->categories[i].count;
    return count;
}

/* How well the two agree. */
static void say_match(struct buffer *text, const struct joint *joint)
{
    char matched[UNITS_TEXT_SIZE], inside[UNITS_TEXT_SIZE], all[UNITS_TEXT_SIZE];
    units_count(matched, joint->matched);
    units_count(inside, joint->inside);
    units_count(all, joint->profiled_count);
    buffer_printf(text,
                  "%s of the %s allocations that it made while the snapshot was recorded "
                  "matched",
                  matched, inside);
    if (joint->inside < joint->profiled_count)
        buffer_printf(text, " (%s in all)", all);
    if (joint->by_time)
        buffer_printf(text, "; their times agree to %lld us.", (long long)joint->spread_us);
    else
        buffer_puts(text, ", by their order only: the snapshot has no times, so it may be from "
                          "another run of the same program.");
}

static void say_times(struct buffer *text, const struct joined_trace *joined,
                      const struct device_report *report)
{
    char matched[UNITS_TEXT_SIZE], live[UNITS_TEXT_SIZE];
    units_count(matched, joined->live_matched);
    units_count(live, live_count(report));
    buffer_printf(text, " It has %s of the %s allocations above. ", matched, live);
    if (joined->joint.profiled->has_kernels)
        buffer_puts(text, "\"kernels\" is the time of the kernels that were launched by the "
                          "operators that made them.");
    else
        buffer_puts(text, "It has no kernels: \"CPU time\" is that of the operators that "
                          "made them.");
}

bool device_joint(const struct page *page, const struct analysis *analysis,
                  const struct device_report *report)
{
    const struct joined_trace *joined = joined_of(analysis, report);
    struct buffer text = BUFFER_INIT, path = BUFFER_INIT;
    if (!joined)
        return true;
    escape_text(&path, analysis->trace_path, strlen(analysis->trace_path));
    buffer_printf(&text, "Joined with %s: ", path.failed || !path.size ? "" : path.bytes);
    if (joined->joint.matched == 0) {
        buffer_puts(&text, "no allocations of this device to compare.");
    } else {
        say_match(&text, &joined->joint);
        say_times(&text, joined, report);
    }
    bool ok = !text.failed && !path.failed;
    if (ok) {
        fputc('\n', page->out);
        page_paragraph(page, 0, SECTION_INDENT, text.bytes);
    }
    buffer_release(&text);
    buffer_release(&path);
    return ok;
}

void joint_json(struct json_writer *json, const struct analysis *analysis,
                const struct device_report *report)
{
    const struct joined_trace *joined = joined_of(analysis, report);
    if (!joined)
        return;
    const struct joint *joint = &joined->joint;
    json_put_open(json, "joined", '{');
    json_put_string(json, "trace", analysis->trace_path);
    json_put_count(json, "allocations", joint->profiled_count);
    json_put_count(json, "inside", joint->inside);
    json_put_count(json, "matched", joint->matched);
    json_put_count(json, "live_matched", joined->live_matched);
    json_put_bool(json, "by_time", joint->by_time);
    if (joint->by_time) {
        json_put_integer(json, "offset_us", joint->offset_us);
        json_put_integer(json, "spread_us", joint->spread_us);
    }
    json_put_string(json, "times", joint->profiled->has_kernels ? "kernels" : "host");
    json_put_close(json, '}');
}
