#include <inttypes.h>
#include <string.h>

#include "analysis/fit/summary.h"
#include "render/core/escape.h"
#include "render/core/table.h"
#include "render/fit/fit.h"

#define INDENT 2

static const char *const result_texts[FIT_RESULTS] = {
    [FIT_FITS] = "fits", [FIT_OUT_OF_MEMORY] = "out of memory", [FIT_FAILED] = "failed"};

static const char *size_text(const struct page *page, char out[UNITS_TEXT_SIZE], uint64_t bytes)
{
    return page_bytes(page, out, bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes);
}

static void paragraph(const struct page *page, size_t indent, const struct buffer *text)
{
    fprintf(page->out, "%*s", (int)indent, "");
    page_paragraph(page, indent, indent + INDENT, text->bytes);
}

/* "--fit BATCH=1..1024, 3 optimizer steps of: python train.py --batch {BATCH}" */
static bool headline(const struct page *page, const struct fit *fit)
{
    struct buffer text = BUFFER_INIT;
    buffer_printf(&text, "--fit %s=", fit->variable);
    escape_text(&text, fit->values, strlen(fit->values));
    if (fit->steps > 0)
        buffer_printf(&text, ", %" PRIu64 " optimizer step%s of:", fit->steps,
                      fit->steps == 1 ? "" : "s");
    else
        buffer_puts(&text, ", until the end of:");
    for (size_t i = 0; i < fit->command_count; i++) {
        buffer_putc(&text, ' ');
        escape_text(&text, fit->command[i], strlen(fit->command[i]));
    }
    bool ok = !text.failed;
    if (ok)
        paragraph(page, 0, &text);
    buffer_release(&text);
    return ok;
}

/* "up to 57, all values tried fit; 58 runs out of memory, but 61 fits" */
static void add_gap(struct buffer *text, const struct fit_summary *summary)
{
    const struct fit_run *limit = summary->limit;
    if (summary->largest)
        buffer_printf(text, "up to %" PRIu64 ", all values tried fit; ", summary->largest->value);
    buffer_printf(text, "%" PRIu64 " %s, but %" PRIu64 " fits", limit->value,
                  limit->result == FIT_FAILED ? "fails" : "runs out of memory",
                  summary->fits_again.high->value);
}

/* "the largest BATCH that fits is 212; 213 runs out of memory" */
static void add_verdict(struct buffer *text, const struct fit *fit,
                        const struct fit_summary *summary)
{
    const struct fit_run *limit = summary->limit;
    if (summary->fits_again.low) {
        add_gap(text, summary);
        return;
    }
    if (!summary->largest) {
        buffer_printf(text, "no %s fits: %" PRIu64 " runs out of memory", fit->variable,
                      limit ? limit->value : 0);
        return;
    }
    buffer_printf(text, "the largest %s that fits is %" PRIu64, fit->variable,
                  summary->largest->value);
    if (!limit)
        buffer_puts(text, ", the last value tried: larger ones may fit too");
    else if (limit->result == FIT_FAILED)
        buffer_printf(text, "; with %" PRIu64 " the program fails", limit->value);
    else
        buffer_printf(text, "; %" PRIu64 " runs out of memory", limit->value);
}

/* "a100 (NVIDIA A100-SXM4-80GB, 79.25 GiB, of which others use 512.00 MiB): the largest ..." */
static void add_gpu(const struct page *page, struct buffer *text, const struct fit_gpu *gpu)
{
    char total[UNITS_TEXT_SIZE], other[UNITS_TEXT_SIZE];
    escape_text(text, gpu->name, strlen(gpu->name));
    buffer_puts(text, " (");
    escape_text(text, gpu->product, strlen(gpu->product));
    buffer_printf(text, ", %s", size_text(page, total, gpu->memory_bytes));
    if (gpu->other_bytes > 0)
        buffer_printf(text, ", of which others use %s", size_text(page, other, gpu->other_bytes));
    buffer_puts(text, "): ");
}

static void add_size(struct table *table, const struct page *page, bool is_known, uint64_t bytes)
{
    char size[UNITS_TEXT_SIZE];
    table_add(table, is_known ? size_text(page, size, bytes) : "");
}

static void add_number(struct table *table, uint64_t number)
{
    char text[UNITS_TEXT_SIZE];
    snprintf(text, sizeof(text), "%" PRIu64, number);
    table_add(table, text);
}

static void add_run(struct table *table, const struct page *page, const struct fit_gpu *gpu,
                    const struct fit_run *run)
{
    char text[UNITS_TEXT_SIZE];
    add_number(table, run->value);
    table_add(table, result_texts[run->result]);
    add_size(table, page, run->has_peaks, run->active_bytes);
    add_size(table, page, run->has_peaks, run->reserved_bytes);
    table_add(table, run->has_peaks ? page_share(text, (int64_t)run->reserved_bytes,
                                                 (int64_t)fit_available(gpu))
                                    : "");
    snprintf(text, sizeof(text), "%.1f s", (double)run->duration_us / 1e6);
    table_add(table, text);
}

static bool put_runs(const struct page *page, const struct fit *fit, const struct fit_gpu *gpu)
{
    const struct table_column columns[] = {
        {fit->variable, COLUMN_NUMBER, 0, 0, 0},  {"result", COLUMN_LABEL, 0, 0, 0},
        {"peak active", COLUMN_NUMBER, 0, 0, 0},  {"peak reserved", COLUMN_NUMBER, 0, 0, 0},
        {"of available", COLUMN_NUMBER, 0, 0, 1}, {"time", COLUMN_NUMBER, 0, 0, 2},
    };
    struct table table;
    table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < gpu->run_count; i++)
        add_run(&table, page, gpu, &gpu->runs[i]);
    bool ok = !table_failed(&table);
    if (ok)
        table_print(&table, page, INDENT);
    table_release(&table);
    return ok;
}

static void add_fall(const struct page *page, struct buffer *text, const char *what,
                     const struct fit_pair *pair, uint64_t low, uint64_t high)
{
    char from[UNITS_TEXT_SIZE], to[UNITS_TEXT_SIZE];
    if (pair->low)
        buffer_printf(text, " Peak %s falls from %s at %" PRIu64 " to %s at %" PRIu64 ".", what,
                      size_text(page, from, low), pair->low->value, size_text(page, to, high),
                      pair->high->value);
}

/* Only reserved memory is not monotone, as is usual near the limit. */
static void add_reserved_fall(const struct page *page, struct buffer *text, const struct fit *fit,
                              const struct fit_gpu *gpu, const struct fit_pair *fall)
{
    char from[UNITS_TEXT_SIZE], to[UNITS_TEXT_SIZE];
    buffer_printf(text,
                  "Peak reserved memory is not monotone in %s: %s at %" PRIu64
                  ", but %s at %" PRIu64 ".",
                  fit->variable, size_text(page, from, fall->low->reserved_bytes), fall->low->value,
                  size_text(page, to, fall->high->reserved_bytes), fall->high->value);
    if (fall->low->reserved_bytes >= fit_available(gpu) / 10 * 9)
        buffer_puts(text, " Near the limit the allocator releases cached memory.");
}

static void add_warning(const struct page *page, struct buffer *text, const struct fit *fit,
                        const struct fit_summary *summary)
{
    const struct fit_pair *active = &summary->active_falls, *reserved = &summary->reserved_falls;
    buffer_printf(text, "Memory is not monotone in %s.", fit->variable);
    if (active->low)
        add_fall(page, text, "active", active, active->low->active_bytes,
                 active->high->active_bytes);
    if (reserved->low)
        add_fall(page, text, "reserved", reserved, reserved->low->reserved_bytes,
                 reserved->high->reserved_bytes);
    if (strstr(fit->values, ".."))
        buffer_puts(text, " Larger values may fit too; --fit with a list tries each of them.");
}

static bool put_warnings(const struct page *page, const struct fit *fit, const struct fit_gpu *gpu,
                         const struct fit_summary *summary)
{
    struct buffer text = BUFFER_INIT;
    if (summary->fits_again.low || summary->active_falls.low)
        add_warning(page, &text, fit, summary);
    else if (summary->reserved_falls.low)
        add_reserved_fall(page, &text, fit, gpu, &summary->reserved_falls);
    bool ok = !text.failed;
    if (ok && text.size > 0)
        paragraph(page, INDENT, &text);
    buffer_release(&text);
    return ok;
}

/* Lines below the table, for runs that need words. */
static bool put_remarks(const struct page *page, const struct fit *fit, const struct fit_gpu *gpu)
{
    bool ok = true;
    for (const struct fit_run *run = gpu->runs; ok && run < gpu->runs + gpu->run_count; run++) {
        struct buffer text = BUFFER_INIT;
        char count[UNITS_TEXT_SIZE];
        if (run->failure) {
            buffer_printf(&text, "%s=%" PRIu64 ": ", fit->variable, run->value);
            escape_text(&text, run->failure, strlen(run->failure));
        } else if (run->result == FIT_FITS && run->ooms > 0) {
            buffer_printf(&text, "%s=%" PRIu64 ": memory ran out %s, and the program went on",
                          fit->variable, run->value, units_times(count, run->ooms));
        }
        ok = !text.failed;
        if (ok && text.size > 0)
            paragraph(page, INDENT, &text);
        buffer_release(&text);
    }
    return ok;
}

static bool put_gpu(const struct page *page, const struct fit *fit, const struct fit_gpu *gpu)
{
    struct buffer text = BUFFER_INIT;
    struct fit_summary summary;
    fit_summarize(gpu, &summary);
    fputc('\n', page->out);
    add_gpu(page, &text, gpu);
    add_verdict(&text, fit, &summary);
    bool ok = !text.failed;
    if (ok)
        paragraph(page, 0, &text);
    buffer_release(&text);
    return ok && put_runs(page, fit, gpu) && put_remarks(page, fit, gpu) &&
           put_warnings(page, fit, gpu, &summary);
}

static void add_comparison(struct table *table, const struct page *page, const struct fit_gpu *gpu)
{
    struct fit_summary summary;
    char text[UNITS_TEXT_SIZE];
    fit_summarize(gpu, &summary);
    const struct fit_run *largest = summary.largest;
    table_add_text(table, gpu->name);
    table_add(table, size_text(page, text, gpu->memory_bytes));
    if (largest)
        add_number(table, largest->value);
    else
        table_add(table, "none");
    add_size(table, page, largest && largest->has_peaks, largest ? largest->active_bytes : 0);
    add_size(table, page, largest && largest->has_peaks, largest ? largest->reserved_bytes : 0);
    table_add(table, !summary.limit                        ? "end of the values"
                     : summary.limit->result == FIT_FAILED ? "the program fails"
                                                           : "memory");
}

/* The GPUs, a line each. */
static bool compare(const struct page *page, const struct fit *fit)
{
    char largest[96];
    snprintf(largest, sizeof(largest), "largest %s", fit->variable);
    const struct table_column columns[] = {
        {"GPU", COLUMN_TEXT, 0, 0, 0},
        {"memory", COLUMN_NUMBER, 0, 0, 0},
        {largest, COLUMN_NUMBER, 0, 0, 0},
        {"peak active", COLUMN_NUMBER, 0, 0, 1},
        {"peak reserved", COLUMN_NUMBER, 0, 0, 0},
        {"limit", COLUMN_LABEL, 0, 0, 2},
    };
    struct table table;
    table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < fit->gpu_count; i++)
        add_comparison(&table, page, &fit->gpus[i]);
    bool ok = !table_failed(&table);
    fputc('\n', page->out);
    if (ok)
        table_print(&table, page, 0);
    table_release(&table);
    return ok;
}

bool fit_text(const struct page *page, const struct fit *fit)
{
    bool ok = headline(page, fit) && (fit->gpu_count < 2 || compare(page, fit));
    for (size_t i = 0; ok && i < fit->gpu_count; i++)
        ok = put_gpu(page, fit, &fit->gpus[i]);
    return ok;
}
