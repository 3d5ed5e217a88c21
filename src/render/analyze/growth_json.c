#include "render/analyze/growth.h"

static void put_steps(struct json_writer *json, const struct device_report *report)
{
    const struct trace *trace = report->timeline->trace;
    const struct steps *steps = &report->steps;
    json_put_open(json, "steps", '[');
    for (size_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->items[i];
        json_put_open(json, NULL, '{');
        json_put_integer(json, "step", step->number);
        json_put_integer(json, "first_event", trace_file_event(trace, step->first));
        json_put_integer(json, "last_event", trace_file_event(trace, step->last));
        json_put_bool(json, "complete", step->complete);
        json_put_integer(json, "end_bytes", step->end_bytes);
        json_put_integer(json, "peak_bytes", step->peak_bytes);
        json_put_integer(json, "peak_event", trace_file_event(trace, step->peak_item));
        json_put_string(json, "recognised_by", steps_source_name(steps->source));
        json_put_close(json, '}');
    }
    json_put_close(json, ']');
}

static void put_growth(struct json_writer *json, const struct device_report *report)
{
    const struct symbols *symbols = report->timeline->snapshot->symbols;
    json_put_open(json, "growth", '[');
    for (size_t i = 0; i < report->growth.row_count; i++) {
        const struct growth_row *row = &report->growth.rows[i];
        json_put_open(json, NULL, '{');
        json_put_string(json, "label", row->label.full);
        json_put_string(json, "category", category_name(row->category));
        if (row->site.op != STRING_EMPTY) {
            struct text op = symbols_text(symbols, row->site.op);
            json_put_bytes(json, "op", op.bytes, op.size);
        }
        json_put_string(json, "kind", growth_kind_name(row->fit.kind));
        json_put_integer(json, "bytes_per_step", row->fit.bytes_per_step);
        json_put_integer(json, "bytes_at_first", row->bytes_at_first);
        json_put_integer(json, "bytes_at_end", row->bytes_at_end);
        json_put_count(json, "count_at_end", row->blocks_at_end);
        json_put_string(json, "confidence", confidence_name(row->fit.confidence));
        json_put_real(json, "r_squared", row->fit.r_squared);
        json_put_count(json, "steps_grown", row->fit.steps_grown);
        json_put_count(json, "steps_compared", row->fit.steps_compared);
        json_put_integer(json, "save_bytes", row->save_bytes);
        json_put_close(json, '}');
    }
    json_put_close(json, ']');
}

static void put_pending(struct json_writer *json, const struct device_report *report)
{
    const struct pending_frees *pending = &report->pending;
    json_put_open(json, "pending_frees", '{');
    json_put_integer(json, "at_peak_bytes", pending->at_peak_bytes);
    json_put_count(json, "count", pending->count);
    json_put_count(json, "unfinished", pending->unfinished);
    json_put_integer(json, "bytes", pending->bytes);
    json_put_integer(json, "longest_us", pending->longest_us);
    json_put_open(json, "sites", '[');
    for (size_t i = 0; i < pending->row_count; i++) {
        const struct pending_row *row = &pending->rows[i];
        json_put_open(json, NULL, '{');
        json_put_string(json, "label", row->label.full);
        json_put_string(json, "category", category_name(row->category));
        if (row->stream_known)
            json_put_integer(json, "stream", row->stream);
        json_put_count(json, "count", row->count);
        json_put_integer(json, "bytes", row->bytes);
        json_put_integer(json, "bytes_at_peak", row->bytes_at_peak);
        json_put_integer(json, "longest_us", row->longest_us);
        json_put_close(json, '}');
    }
    json_put_close(json, ']');
    json_put_close(json, '}');
}

void growth_json(struct json_writer *json, const struct device_report *report)
{
    put_steps(json, report);
    put_growth(json, report);
    put_pending(json, report);
}
