#include <inttypes.h>

#include "render/core/escape.h"
#include "render/core/input_line.h"
#include "render/core/table.h"
#include "render/layers/internal.h"
#include "render/layers/layers.h"

static const char *type_text(uint64_t percent)
{
    return percent == 50
               ? "half as large as what was allocated, as for float64: FairScale counts 4 bytes "
                 "for each value; the true size is twice that"
           : percent == 200
               ? "twice what was allocated, as for bfloat16: FairScale counts 4 bytes for each "
                 "value; the true size is half of that"
               : "four times what was allocated, as for 8-bit types: FairScale counts 4 bytes for "
                 "each value; the true size is a quarter of that";
}

bool layers_notice_text(const struct layers_report *report, enum layers_notice notice,
                        char out[LAYERS_NOTICE_SIZE])
{
    uint64_t number = report->notices[notice];
    if (number == 0)
        return false;
    switch (notice) {
    case LAYERS_EMPTY:
        snprintf(out, LAYERS_NOTICE_SIZE,
                 "no traces in it: did the model run between monitor() and "
                 "save_traces()?");
        return true;
    case LAYERS_NO_FORWARD:
        snprintf(out, LAYERS_NOTICE_SIZE, "no forward traces: activations are unknown");
        return true;
    case LAYERS_NO_BACKWARD:
        snprintf(out, LAYERS_NOTICE_SIZE,
                 "no backward traces: the peak of a training step may be higher");
        return true;
    case LAYERS_REPEATED:
        snprintf(out, LAYERS_NOTICE_SIZE,
                 "%" PRIu64 " module%s ran forward more than once: several steps, or "
                 "checkpointing; record one step without it to have each counted once",
                 number, number == 1 ? "" : "s");
        return true;
    default:
        snprintf(out, LAYERS_NOTICE_SIZE, "most activations are %s", type_text(number));
        return true;
    }
}

static bool unknown_keys(const struct page *page, const struct layer_trace *trace)
{
    static const char lead[] = "Unknown keys:";
    struct buffer text = BUFFER_INIT;
    for (size_t i = 0; i < trace->unknown_key_count; i++) {
        struct text key = symbols_text(trace->symbols, trace->unknown_keys[i]);
        buffer_puts(&text, i ? ", " : "");
        escape_text(&text, key.bytes, key.size);
    }
    buffer_puts(&text, trace->unknown_key_count == 0 ? "none"
                       : trace->more_unknown_keys    ? ", ..."
                                                     : "");
    bool ok = !text.failed;
    if (ok) {
        fputs(lead, page->out);
        page_paragraph(page, sizeof(lead) - 1, 2, text.bytes);
    }
    buffer_release(&text);
    return ok;
}

static void headline(const struct page *page, const struct layers_report *report)
{
    const struct layer_trace *trace = report->trace;
    char text[256], modules[UNITS_TEXT_SIZE], forward[UNITS_TEXT_SIZE], backward[UNITS_TEXT_SIZE];
    snprintf(text, sizeof(text), "Layer trace: %s module%s, %s forward and %s backward traces",
             units_count(modules, report->module_count), report->module_count == 1 ? "" : "s",
             units_count(forward, trace->forward_count),
             units_count(backward, trace->count - trace->forward_count));
    fprintf(page->out, "\n%s", page_style(page, STYLE_TITLE));
    page_paragraph(page, 0, LAYERS_INDENT, text);
    fputs(page_plain(page), page->out);
}

static void warnings(const struct page *page, const struct layers_report *report)
{
    static const char lead[] = "warning:";
    char text[LAYERS_NOTICE_SIZE];
    for (enum layers_notice i = 0; i < LAYERS_NOTICES; i++) {
        if (!layers_notice_text(report, i, text))
            continue;
        fprintf(page->out, "%*s%s%s%s", LAYERS_INDENT, "", page_style(page, STYLE_WARNING), lead,
                page_plain(page));
        page_paragraph(page, LAYERS_INDENT + sizeof(lead) - 1, LAYERS_INDENT, text);
    }
}

/* "after forward of layer4.2.bn3, trace 150 of 252". */
static void add_place(struct table *table, const struct layers_report *report,
                      const struct layers_peak *peak)
{
    const struct layer_row *row = &report->trace->rows[peak->row];
    struct text name = layer_name(report->trace, row);
    struct buffer text = BUFFER_INIT;
    buffer_printf(&text, "after %s of ", row->is_forward ? "forward" : "backward");
    buffer_add(&text, name.size ? name.bytes : "the model", name.size ? name.size : 9);
    buffer_printf(&text, ", trace %u of %zu", peak->row, report->trace->count);
    table_add_input(table, text.failed ? "" : text.bytes, text.failed ? 0 : text.size);
    buffer_release(&text);
}

static void add_share(struct table *table, int64_t part, int64_t peak, const char *what)
{
    char share[UNITS_TEXT_SIZE], text[UNITS_TEXT_SIZE + 128];
    snprintf(text, sizeof(text), "%s: %s of the peak", what, page_share(share, part, peak));
    table_add(table, text);
}

static void add_figure(struct table *table, const struct page *page, const char *name,
                       int64_t bytes)
{
    char text[UNITS_TEXT_SIZE];
    table_add(table, name);
    table_add(table, page_bytes(page, text, bytes));
}

static bool figures(const struct page *page, const struct layers_report *report)
{
    static const struct table_column columns[] = {
        {.kind = COLUMN_LABEL}, {.kind = COLUMN_NUMBER}, {.kind = COLUMN_PROSE}};
    int64_t peak = report->allocated.bytes;
    struct table table;
    table_init(&table, columns, 3);
    add_figure(&table, page, "peak allocated", peak);
    add_place(&table, report, &report->allocated);
    add_figure(&table, page, "peak reserved", report->reserved.bytes);
    add_place(&table, report, &report->reserved);
    add_figure(&table, page, "activations", report->total_activations);
    add_share(&table, report->total_activations, peak, "outputs, forward");
    add_figure(&table, page, "forward", report->total_forward);
    add_share(&table, report->total_forward, peak, "allocated and kept, forward");
    add_figure(&table, page, "parameters", report->nodes[0].params);
    add_share(&table, report->nodes[0].params, peak, "of all modules");
    if (layers_gathered(report)) {
        add_figure(&table, page, "all-gathered", report->gathered_forward);
        table_add(&table, "by the forward pass");
        add_figure(&table, page, "", report->gathered_backward);
        table_add(&table, "by the backward pass");
        add_figure(&table, page, "peak gathered", report->gathered.bytes);
        add_place(&table, report, &report->gathered);
    }
    table_print(&table, page, LAYERS_INDENT);
    bool ok = !table_failed(&table);
    table_release(&table);
    return ok;
}

static void hints(const struct page *page, const struct layers_report *report)
{
    if (report->trace->count == 0)
        return;
    fprintf(page->out, "\n%s", page_style(page, STYLE_FAINT));
    page_paragraph(page, 0, 0,
                   "Sizes are taken after each module; between two, more may have been allocated.");
    page_paragraph(page, 0, 0,
                   report->shard_count && !layers_gathered(report)
                       ? "More: --top 0 for every module, --ranks N for other shards."
                       : "More: --top 0 for every module.");
    fputs(page_plain(page), page->out);
}

bool layers_text(const struct page *page, const struct layers_analysis *analysis)
{
    const struct layers_report *report = analysis->report;
    const struct input_line input = {.path = analysis->path,
                                     .bytes = report->trace->input_bytes,
                                     .encoding = report->trace->encoding,
                                     .protocol = report->trace->protocol,
                                     .compression = report->trace->compression};
    if (!input_line(page, &input) || (analysis->verbose && !unknown_keys(page, report->trace)))
        return false;
    headline(page, report);
    warnings(page, report);
    if (report->trace->count > 0 &&
        (!figures(page, report) || !layers_tree(page, report) ||
         !layers_producers(page, analysis) || !layers_sharding(page, analysis)))
        return false;
    hints(page, report);
    return true;
}
