#include "render/analyze/internal.h"

static void put_allocation(struct json_writer *json, const struct trace *trace, uint64_t addr,
                           uint64_t size, int64_t born, uint32_t freed, uint8_t category,
                           uint8_t reason)
{
    json_put_open(json, NULL, '{');
    json_put_count(json, "address", addr);
    json_put_count(json, "bytes", size);
    json_put_integer(json, "born_event", born);
    json_put_integer(json, "freed_event",
                     freed == EVENT_NEVER ? -1 : trace_file_event(trace, freed));
    json_put_string(json, "category", category_name((enum category)category));
    json_put_string(json, "confidence", confidence_name(reason_confidence(reason)));
    json_put_string(json, "reason", reason_name(reason));
    json_put_close(json, '}');
}

void allocations_json(struct json_writer *json, const struct device_report *report)
{
    const struct timeline *timeline = report->timeline;
    const struct trace *trace = timeline->trace;
    const struct categories *all = &report->all;
    json_put_open(json, "allocations", '[');
    for (size_t i = 0; i < timeline->preexisting_count; i++) {
        const struct preexisting *preexisting = &timeline->preexisting[i];
        int64_t born = preexisting->origin == ORIGIN_EDGE ? (int64_t)preexisting->edge_event : -1;
        put_allocation(json, trace, preexisting->addr, preexisting->size, born,
                       preexisting->free_completed, all->of_preexisting[i],
                       all->why_preexisting[i]);
    }
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        put_allocation(json, trace, trace_addr(trace, lifetime->alloc),
                       trace_size(trace, lifetime->alloc), trace_file_event(trace, lifetime->alloc),
                       lifetime->free_completed, all->of_lifetime[i], all->why_lifetime[i]);
    }
    json_put_close(json, ']');
}

void baseline_json(struct json_writer *json, const struct device_report *report)
{
    json_put_open(json, "baseline", '[');
    for (size_t i = 0; i < report->baseline_count; i++) {
        const struct baseline_row *row = &report->baseline[i];
        json_put_open(json, NULL, '{');
        json_put_string(json, "category", category_name((enum category)row->category));
        if (row->category != CATEGORY_COUNT) {
            json_put_string(json, "confidence", confidence_name(reason_confidence(row->reason)));
            json_put_string(json, "reason", reason_name(row->reason));
        }
        json_put_integer(json, "bytes", row->bytes);
        json_put_count(json, "count", row->count);
        json_put_close(json, '}');
    }
    json_put_close(json, ']');
}

void phases_json(struct json_writer *json, const struct device_report *report)
{
    const struct trace *trace = report->timeline->trace;
    json_put_open(json, "phases", '[');
    for (size_t i = 0; i < report->phase_rows.count; i++) {
        const struct phase_row *row = &report->phase_rows.items[i];
        json_put_open(json, NULL, '{');
        json_put_string(json, "name", phase_name(row->phase));
        if (row->step >= 0)
            json_put_integer(json, "step", row->step);
        json_put_integer(json, "first_event", trace_file_event(trace, row->first));
        json_put_integer(json, "last_event", trace_file_event(trace, row->last));
        json_put_integer(json, "peak_bytes", row->peak_bytes);
        if (row->inferred)
            json_put_bool(json, "inferred", true);
        json_put_close(json, '}');
    }
    json_put_close(json, ']');
}
