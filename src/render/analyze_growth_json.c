#include "render/analyze_growth.h"

static void put_steps(struct json_writer *json, const struct device_report *report)
{
    const struct trace *trace = report->timeline->trace;
    const struct steps *steps = &report->steps;
    emit_open(json, "steps", '[');
    for (size_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->items[i];
        emit_open(json, NULL, '{');
        emit_integer(json, "step", step->number);
        emit_integer(json, "first_event", trace_file_event(trace, step->first));
        emit_integer(json, "last_event", trace_file_event(trace, step->last));
        emit_flag(json, "complete", step->complete);
        emit_integer(json, "end_bytes", step->end_bytes);
        emit_integer(json, "peak_bytes", step->peak_bytes);
        emit_integer(json, "peak_event", trace_file_event(trace, step->peak_item));
        emit_word(json, "recognised_by", steps_source_name(steps->source));
        emit_close(json, '}');
    }
    emit_close(json, ']');
}

static void put_growth(struct json_writer *json, const struct device_report *report)
{
    const struct symbols *symbols = report->timeline->snapshot->symbols;
    emit_open(json, "growth", '[');
    for (size_t i = 0; i < report->growth.row_count; i++) {
        const struct growth_row *row = &report->growth.rows[i];
        emit_open(json, NULL, '{');
        emit_word(json, "label", row->label.full);
        emit_word(json, "category", category_name(row->category));
        if (row->site.op != STRING_EMPTY) {
            struct text op = symbols_text(symbols, row->site.op);
            emit_bytes(json, "op", op.bytes, op.size);
        }
        emit_word(json, "kind", growth_kind_name(row->fit.kind));
        emit_integer(json, "bytes_per_step", row->fit.bytes_per_step);
        emit_integer(json, "bytes_at_first", row->bytes_at_first);
        emit_integer(json, "bytes_at_end", row->bytes_at_end);
        emit_count(json, "count_at_end", row->blocks_at_end);
        emit_word(json, "confidence", confidence_name(row->fit.confidence));
        emit_real(json, "r_squared", row->fit.r_squared);
        emit_count(json, "steps_grown", row->fit.steps_grown);
        emit_count(json, "steps_compared", row->fit.steps_compared);
        emit_integer(json, "save_bytes", row->save_bytes);
        emit_close(json, '}');
    }
    emit_close(json, ']');
}

static void put_pending(struct json_writer *json, const struct device_report *report)
{
    const struct pending_frees *pending = &report->pending;
    emit_open(json, "pending_frees", '{');
    emit_integer(json, "at_peak_bytes", pending->at_peak_bytes);
    emit_count(json, "count", pending->count);
    emit_count(json, "unfinished", pending->unfinished);
    emit_integer(json, "bytes", pending->bytes);
    emit_integer(json, "longest_us", pending->longest_us);
    emit_open(json, "sites", '[');
    for (size_t i = 0; i < pending->row_count; i++) {
        const struct pending_row *row = &pending->rows[i];
        emit_open(json, NULL, '{');
        emit_word(json, "label", row->label.full);
        emit_word(json, "category", category_name(row->category));
        if (row->stream_known)
            emit_integer(json, "stream", row->stream);
        emit_count(json, "count", row->count);
        emit_integer(json, "bytes", row->bytes);
        emit_integer(json, "bytes_at_peak", row->bytes_at_peak);
        emit_integer(json, "longest_us", row->longest_us);
        emit_close(json, '}');
    }
    emit_close(json, ']');
    emit_close(json, '}');
}

void growth_json(struct json_writer *json, const struct device_report *report)
{
    put_steps(json, report);
    put_growth(json, report);
    put_pending(json, report);
}
