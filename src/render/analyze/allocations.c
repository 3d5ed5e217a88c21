#include "model/live.h"
#include "render/analyze/internal.h"

struct allocation {
    uint64_t address, bytes;
    int64_t born_event, freed_event; /* numbers in the file, or -1 */
    enum category category;
    uint8_t reason;
    string_id annotation;
};

static struct value confidence(const void *row, const struct field_context *context)
{
    (void)context;
    return value_word(confidence_name(reason_confidence(((const struct allocation *)row)->reason)));
}

static struct value reason(const void *row, const struct field_context *context)
{
    (void)context;
    return value_word(reason_name(((const struct allocation *)row)->reason));
}

#define ROW struct allocation
static const struct row_type allocation_type =
    ROW_TYPE("allocations", ROW, FIELD(ROW, NUMBER, address), FIELD(ROW, BYTES, bytes),
             FIELD(ROW, NUMBER, born_event), FIELD(ROW, NUMBER, freed_event),
             FIELD(ROW, CATEGORY, category), FIELD_CALL(WORD, "confidence", confidence),
             FIELD_CALL(WORD, "reason", reason), FIELD(ROW, STRING, annotation));
#undef ROW

/* The annotation of an allocation. None if there is no memory for its text. */
static string_id annotation_of(const struct timeline *timeline, bool in_trace, size_t index)
{
    const struct live live = {.in_trace = in_trace, .index = (uint32_t)index};
    struct error err;
    string_id text;
    return live_note_text(timeline, &live, &text, &err) ? text : STRING_EMPTY;
}

static int64_t freed_event(const struct trace *trace, uint32_t item)
{
    return item == EVENT_NEVER ? -1 : trace_file_event(trace, item);
}

void allocations_json(struct json_writer *json, const struct device_report *report)
{
    const struct timeline *timeline = report->timeline;
    const struct trace *trace = timeline->trace;
    const struct categories *all = &report->all;
    const struct field_context context = report_context(report);
    json_put_open(json, allocation_type.name, '[');
    for (size_t i = 0; i < timeline->preexisting_count; i++) {
        const struct preexisting *preexisting = &timeline->preexisting[i];
        const struct allocation row = {
            .address = preexisting->addr,
            .bytes = preexisting->size,
            .born_event =
                preexisting->origin == ORIGIN_EDGE ? (int64_t)preexisting->edge_event : -1,
            .freed_event = freed_event(trace, preexisting->free_completed),
            .category = (enum category)all->of_preexisting[i],
            .reason = all->why_preexisting[i],
            .annotation = annotation_of(timeline, false, i),
        };
        json_put_row(json, NULL, &allocation_type, &row, &context);
    }
    for (size_t i = 0; i < timeline->lifetime_count; i++) {
        const struct lifetime *lifetime = &timeline->lifetimes[i];
        const struct allocation row = {
            .address = trace_addr(trace, lifetime->alloc),
            .bytes = trace_size(trace, lifetime->alloc),
            .born_event = trace_file_event(trace, lifetime->alloc),
            .freed_event = freed_event(trace, lifetime->free_completed),
            .category = (enum category)all->of_lifetime[i],
            .reason = all->why_lifetime[i],
            .annotation = annotation_of(timeline, true, i),
        };
        json_put_row(json, NULL, &allocation_type, &row, &context);
    }
    json_put_close(json, ']');
}
