#include "render/analyze_parts.h"

static void put_allocation(struct json_writer *json, const struct trace *trace, uint64_t addr,
                           uint64_t size, int64_t born, uint32_t freed, uint8_t category,
                           uint8_t reason)
{
    emit_open(json, NULL, '{');
    emit_count(json, "address", addr);
    emit_count(json, "bytes", size);
    emit_integer(json, "born_event", born);
    emit_integer(json, "freed_event", freed == EVENT_NEVER ? -1 : trace_file_event(trace, freed));
    emit_word(json, "category", category_name((enum category)category));
    emit_word(json, "confidence", confidence_name(reason_confidence(reason)));
    emit_word(json, "reason", reason_name(reason));
    emit_close(json, '}');
}

void allocations_json(struct json_writer *json, const struct device_report *report)
{
    const struct timeline *timeline = report->timeline;
    const struct trace *trace = timeline->trace;
    const struct categories *all = &report->all;
    emit_open(json, "allocations", '[');
    for (size_t i = 0; i < timeline->carried_count; i++) {
        const struct carried *carried = &timeline->carried[i];
        int64_t born = carried->origin == ORIGIN_EDGE ? (int64_t)carried->edge_event : -1;
        put_allocation(json, trace, carried->addr, carried->size, born, carried->free_completed,
                       all->of_carried[i], all->why_carried[i]);
    }
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        put_allocation(json, trace, trace_addr(trace, lifetime->alloc),
                       trace_size(trace, lifetime->alloc), trace_file_event(trace, lifetime->alloc),
                       lifetime->free_completed, all->of_lifetime[i], all->why_lifetime[i]);
    }
    emit_close(json, ']');
}

void baseline_json(struct json_writer *json, const struct device_report *report)
{
    emit_open(json, "baseline", '[');
    for (size_t i = 0; i < report->baseline_count; i++) {
        const struct baseline_row *row = &report->baseline[i];
        emit_open(json, NULL, '{');
        emit_word(json, "category", category_name((enum category)row->category));
        if (row->category != CATEGORY_COUNT) {
            emit_word(json, "confidence", confidence_name(reason_confidence(row->reason)));
            emit_word(json, "reason", reason_name(row->reason));
        }
        emit_integer(json, "bytes", row->bytes);
        emit_count(json, "count", row->count);
        emit_close(json, '}');
    }
    emit_close(json, ']');
}

void phases_json(struct json_writer *json, const struct device_report *report)
{
    const struct trace *trace = report->timeline->trace;
    emit_open(json, "phases", '[');
    for (size_t i = 0; i < report->phase_rows.count; i++) {
        const struct phase_row *row = &report->phase_rows.items[i];
        emit_open(json, NULL, '{');
        emit_word(json, "name", phase_name(row->phase));
        if (row->step >= 0)
            emit_integer(json, "step", row->step);
        emit_integer(json, "first_event", trace_file_event(trace, row->first));
        emit_integer(json, "last_event", trace_file_event(trace, row->last));
        emit_integer(json, "peak_bytes", row->peak_bytes);
        if (row->inferred)
            emit_flag(json, "inferred", true);
        emit_close(json, '}');
    }
    emit_close(json, ']');
}
