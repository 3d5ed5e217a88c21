#include "render/analyze/growth.h"

#include <stdarg.h>
#include <string.h>

#include "render/core/escape.h"

#define NOTABLE_BYTES   65536 /* per step: less is omitted, unless it is 0.1% of the peak */
#define STOPPED_SHARE   100   /* of the peak: stopped growth below 1/100 is omitted */
#define ROWS_OF_STOPPED 3

/* The word for one step. */
static const char *step_word(const struct device_report *report)
{
    return report->steps.source == STEPS_FORWARD ? "forward pass" : "step";
}

static const char *plural_steps(const struct device_report *report)
{
    return report->steps.source == STEPS_FORWARD ? "forward passes" : "steps";
}

/* Goes before a number of steps: an iteration of the loop may have several optimizer steps. */
static const char *kind_of_steps(const struct device_report *report)
{
    return report->steps.one_optimizer_step ? "optimizer " : "";
}

static void title(const struct page *page, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void title(const struct page *page, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    fprintf(page->out, "\n%*s%s", SECTION_INDENT, "", page_style(page, STYLE_TITLE));
    page_paragraph(page, SECTION_INDENT, SECTION_INDENT, text);
    fputs(page_plain(page), page->out);
}

/* Prints `text`, which is already escaped, and empties it. False if out of memory. */
static bool paragraph(const struct page *page, struct buffer *text)
{
    if (!text->failed) {
        fprintf(page->out, "%*s", SECTION_INDENT, "");
        page_paragraph(page, SECTION_INDENT, SECTION_INDENT, text->bytes);
    }
    buffer_clear(text);
    return !text->failed;
}

static void add_label(struct buffer *text, const struct growth_row *row)
{
    escape_text(text, row->label.full, strlen(row->label.full));
}

static bool growth_matters(const struct device_report *report)
{
    int64_t bytes = report->growth.bytes_per_step;
    return bytes >= NOTABLE_BYTES || (bytes > 0 && bytes > report->peak.active_bytes / 1000);
}

static bool growing_table(const struct page *page, const struct analysis *analysis,
                          const struct device_report *report, struct buffer *text)
{
    const struct field_context context = report_context(report);
    const struct growth *growth = &report->growth;
    size_t growing = growth->growing, rows = growing < GROWTH_ROWS ? growing : GROWTH_ROWS;
    int64_t told = 0;
    if (analysis->largest > 0 && rows > analysis->largest)
        rows = analysis->largest;
    for (size_t i = 0; i < rows; i++)
        told += growth->rows[i].fit.bytes_per_step;
    bool ok = rows_print(page, SECTION_INDENT, &growth_type, growth->rows, rows, &context);
    if (growing > rows) {
        char bytes[UNITS_TEXT_SIZE], count[UNITS_TEXT_SIZE];
        buffer_printf(text, "and %s a step at %s more call site%s.",
                      page_bytes(page, bytes, growth->bytes_per_step - told),
                      units_count(count, growing - rows), growing - rows == 1 ? "" : "s");
        ok = ok && paragraph(page, text);
    }
    return ok;
}

/* Advice about memory that grows in private pools. */
static void pool_advice(const struct page *page, const struct device_report *report,
                        struct buffer *text)
{
    const struct private_growth *pools = &report->growth.pools;
    char bytes[UNITS_TEXT_SIZE];
    page_bytes(page, bytes, pools->bytes);
    if (pools->kind == PRIVATE_CAPTURES)
        buffer_printf(text,
                      "%s of it lie in the pools of CUDA graphs: a graph is captured at every %s, "
                      "and keeps its pool for as long as it exists.",
                      bytes, step_word(report));
    else if (pools->kind == PRIVATE_SHAPES)
        buffer_printf(text,
                      "%s of it lie in the pools of CUDA graphs, one for each shape: it stops "
                      "growing once all shapes are captured.%s",
                      bytes,
                      pools->has_many_pools ? " Graphs that never run at once can share a pool "
                                              "(torch.cuda.graph(..., pool=first.pool()))."
                                            : "");
    else
        buffer_printf(text,
                      "%s of it lie in a private pool that the program made (torch.cuda.MemPool or "
                      "graph_pool_handle()): look for what stores tensors that were allocated "
                      "there.",
                      bytes);
}

/* " in 3 of 7 steps" */
static void add_frequency(struct buffer *text, const struct device_report *report,
                          const struct growth_row *row)
{
    char grown[UNITS_TEXT_SIZE], compared[UNITS_TEXT_SIZE];
    if (row->fit.steps_grown == row->fit.steps_compared)
        buffer_printf(text, " at every %s", step_word(report));
    else
        buffer_printf(text, " in %s of %s %s", units_count(grown, row->fit.steps_grown),
                      units_count(compared, row->fit.steps_compared), plural_steps(report));
}

/* Without a backward pass in the trace, the graphs may be meant for one that comes after them. */
static void summed_advice(const struct device_report *report, struct buffer *text)
{
    if (!phases_have(&report->phases, PHASE_BACKWARD))
        buffer_puts(text, " If one backward pass is to follow for all of them, call backward() on "
                          "the loss of each batch as soon as it is computed instead.");
}

/* Advice about graphs that a loss keeps. */
static void loss_advice(const struct page *page, const struct device_report *report,
                        struct buffer *text)
{
    const struct growth *growth = &report->growth;
    const struct growth_row *row = &growth->rows[growth->scalar_row];
    char bytes[UNITS_TEXT_SIZE];
    add_label(text, row);
    buffer_puts(text, " keeps a result of a few bytes");
    add_frequency(text, report, row);
    buffer_printf(text, ", and %s a step stay allocated with it: ",
                  page_bytes(page, bytes, growth->graph_bytes_per_step));
    if (growth->has_variables)
        buffer_puts(text, "a loss with its autograd graph, and the logits, which no graph keeps. "
                          "So something refers to the variables of that code: a stored exception "
                          "(its traceback does), a closure, a generator, or an object in a "
                          "reference cycle. loss.item() changes nothing then.");
    else
        buffer_puts(text, "most likely a stored loss that keeps its autograd graph alive. Store "
                          "loss.item() or loss.detach() instead, and validate under "
                          "torch.no_grad().");
    summed_advice(report, text);
}

/* Advice about the allocations that grow. */
static bool growing_advice(const struct page *page, const struct device_report *report,
                           struct buffer *text)
{
    const struct growth *growth = &report->growth;
    const struct growth_row *largest = &growth->rows[0];
    char bytes[UNITS_TEXT_SIZE];
    if (growth->pools.kind != PRIVATE_NONE) {
        pool_advice(page, report, text);
    } else if (growth->scalar_row != NO_ROW && growth->graph == GRAPH_KEPT) {
        loss_advice(page, report, text);
    } else if (growth->last_row != NO_ROW && growth->graph == GRAPH_KEPT) {
        buffer_printf(text,
                      "%s of it look like autograd graphs, one a %s. The last result of each is "
                      "made at ",
                      page_bytes(page, bytes, growth->graph_bytes_per_step), step_word(report));
        add_label(text, &growth->rows[growth->last_row]);
        buffer_puts(text, ": something stores it together with its graph. Store tensor.detach() "
                          "instead, and run code without a backward pass under torch.no_grad().");
        summed_advice(report, text);
    } else if (growth->scalar_row != NO_ROW) {
        add_label(text, &growth->rows[growth->scalar_row]);
        buffer_puts(text, " keeps a result of a few bytes");
        add_frequency(text, report, &growth->rows[growth->scalar_row]);
        buffer_printf(text,
                      ", and %s a step stay allocated. If it "
                      "is a loss that is stored with its autograd graph, store loss.item() or "
                      "loss.detach() instead; otherwise, look for what stores the tensors above.",
                      page_bytes(page, bytes, growth->graph_bytes_per_step));
    } else if (growth->graph == GRAPH_NONE && growth->graph_bytes_per_step > 0) {
        buffer_printf(text,
                      "No autograd graph keeps them: the tensors themselves are stored, in a list, "
                      "a dictionary or an attribute to which every %s adds. Move them to the host "
                      "(tensor.cpu()), or store only what is needed of them%s.",
                      step_word(report),
                      report->steps.source == STEPS_FORWARD
                          ? "; limit the length of a cache of keys and values"
                          : "");
    } else if (largest->category == CATEGORY_KV_CACHE) {
        buffer_puts(text, "The cache of keys and values grows with each token, and is needed "
                          "until its sequence ends. Limit the length of sequences or their "
                          "number, keep it in fewer bits, or allocate it once for the longest "
                          "sequence: torch.cat in a loop needs the old and the new copy at once.");
    } else if (largest->stack == STACK_NONE) {
        buffer_puts(text, "No stacks were recorded, so the line of code is not known: record with "
                          "stacks=\"python\" to see it. It may be a stored loss that keeps its "
                          "autograd graph alive, or a list, a dictionary or an attribute to which "
                          "tensors are added.");
    } else if (largest->fit.replaced) {
        add_label(text, largest);
        buffer_puts(text, " replaces its memory with a larger block at every step (torch.cat in a "
                          "loop?): allocate the full size once, or limit it.");
    } else {
        buffer_printf(text,
                      "Look there for a list, a dictionary or an attribute to which every %s adds "
                      "a tensor%s.",
                      step_word(report),
                      report->steps.source == STEPS_FORWARD
                          ? ", or a cache of keys and values, whose length should be limited"
                          : "");
    }
    if (growth->save_bytes > 0)
        buffer_printf(text, " At the peak, %s were left over from earlier %s.",
                      page_bytes(page, bytes, growth->save_bytes), plural_steps(report));
    if (report->growth.rows[0].fit.confidence == CONFIDENCE_LOW)
        buffer_printf(text, " It grew in too few %s to be sure: record more.",
                      plural_steps(report));
    return paragraph(page, text);
}

static bool growing(const struct page *page, const struct analysis *analysis,
                    const struct device_report *report, struct buffer *text)
{
    const struct growth *growth = &report->growth;
    char bytes[UNITS_TEXT_SIZE], compared[UNITS_TEXT_SIZE], complete[UNITS_TEXT_SIZE];
    if (!growth_matters(report))
        return true;
    bool is_average = growth->rows[0].fit.steps_grown * 2 <= growth->rows[0].fit.steps_compared;
    title(page, "Growth: %s more live after each %s%s (%s%s%s %s%s compared)",
          page_bytes(page, bytes, growth->bytes_per_step), step_word(report),
          is_average ? " on average" : "", units_count(compared, growth->compared),
          growth->compared < growth->complete ? " of " : "",
          growth->compared < growth->complete ? units_count(complete, growth->complete) : "",
          kind_of_steps(report), plural_steps(report));
    return growing_table(page, analysis, report, text) && growing_advice(page, report, text);
}

/* Lists allocations that stopped growing, so that nobody mistakes them for a leak. */
static bool stopped(const struct page *page, const struct device_report *report,
                    struct buffer *text)
{
    size_t told = 0;
    char first[UNITS_TEXT_SIZE], last[UNITS_TEXT_SIZE];
    for (size_t i = 0; i < report->growth.row_count; i++) {
        const struct growth_row *row = &report->growth.rows[i];
        if (row->fit.kind != GROWTH_STOPPED ||
            row->bytes_at_end - row->bytes_at_first < report->peak.active_bytes / STOPPED_SHARE)
            continue;
        if (told++ == ROWS_OF_STOPPED)
            break;
        if (told == 1)
            title(page, "Grew, then stopped");
        add_label(text, row);
        buffer_printf(text, " grew from %s to %s and then stayed at that size: %s, not a leak.",
                      page_bytes(page, first, row->bytes_at_first),
                      page_bytes(page, last, row->bytes_at_end),
                      row->category == CATEGORY_OPTIMIZER_STATE
                          ? "optimizer state, which the first step of each optimizer makes"
                          : "probably a cache that is now full");
        if (!paragraph(page, text))
            return false;
    }
    return true;
}

static bool kept_gradients(const struct page *page, const struct device_report *report,
                           struct buffer *text)
{
    const struct stale_gradients *stale = &report->growth.gradients;
    char bytes[UNITS_TEXT_SIZE], count[UNITS_TEXT_SIZE], passes[UNITS_TEXT_SIZE],
        saved[UNITS_TEXT_SIZE];
    if (stale->bytes == 0 || stale->bytes < report->peak.active_bytes / 1000)
        return true;
    title(page, "Gradients kept during the next forward pass: %s in %s allocation%s",
          page_bytes(page, bytes, stale->bytes), units_count(count, stale->count),
          stale->count == 1 ? "" : "s");
    buffer_printf(text,
                  "Seen in %s forward pass%s%s. Call optimizer.zero_grad(set_to_none=True) "
                  "right after optimizer.step(): ",
                  units_count(passes, stale->passes), stale->passes == 1 ? "" : "es",
                  stale->stay ? "; they are never set to None" : "");
    if (stale->save_bytes > 0)
        buffer_printf(text, "the peak would be about %s lower.",
                      page_bytes(page, saved, stale->save_bytes));
    else
        buffer_puts(text, "the forward pass would need that much less memory, but the peak is "
                          "elsewhere and would stay the same.");
    return paragraph(page, text);
}

/* Says that there are too few steps to compare, which differs from no growth. */
static bool too_few(const struct page *page, const struct device_report *report,
                    struct buffer *text)
{
    static const char *const counts[] = {"no complete", "one complete", "two complete"};
    size_t complete = report->growth.complete;
    bool is_range = report->timeline->trace->edge.present;
    if (report->steps.count == 0 || complete >= GROWTH_LEAST || is_range)
        return true;
    fputc('\n', page->out);
    buffer_printf(
        text, "Growth: %s %s%s recorded, too few to compare. Record %d or more before the dump.",
        counts[complete], kind_of_steps(report),
        complete == 2 ? plural_steps(report) : step_word(report), GROWTH_LEAST);
    return paragraph(page, text);
}

bool device_growth(const struct page *page, const struct analysis *analysis,
                   const struct device_report *report)
{
    struct buffer text = BUFFER_INIT;
    bool ok = growing(page, analysis, report, &text) && stopped(page, report, &text) &&
              kept_gradients(page, report, &text) && too_few(page, report, &text);
    buffer_release(&text);
    return ok;
}
