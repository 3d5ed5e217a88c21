/* The requests that ran out of memory, as text. */
#include <string.h>

#include "analysis/oom/next.h"
#include "render/analyze/growth_advice.h"
#include "render/analyze/internal.h"
#include "render/analyze/memory.h"
#include "render/core/device_use.h"
#include "render/core/escape.h"
#include "render/core/moments.h"

#define EARLIER_TOLD 3 /* events before the last one that have a line each */
#define SITES_TOLD   3
#define OOM_INDENT   (SECTION_INDENT + 2)

static bool put(const struct page *page, size_t indent, const struct buffer *text)
{
    if (text->failed)
        return false;
    fprintf(page->out, "%*s", (int)indent, "");
    page_paragraph(page, indent, indent + 2, text->bytes);
    return true;
}

static bool put_words(const struct page *page, const char *lead, const char *words)
{
    struct buffer text = BUFFER_INIT;
    buffer_puts(&text, lead);
    escape_text(&text, words, strlen(words));
    bool ok = put(page, OOM_INDENT, &text);
    buffer_release(&text);
    return ok;
}

/* The number of rows that repeat a call that failed just before. */
static size_t further_tries(const struct ooms *ooms)
{
    size_t tries = 0;
    for (size_t i = 0; i < ooms->count; i++)
        tries += ooms->items[i].tries_again;
    return tries;
}

/* The first try of the call that failed last. */
static size_t first_try(const struct ooms *ooms)
{
    size_t first = ooms->count - 1;
    while (first > 0 && ooms->items[first].tries_again)
        first--;
    return first;
}

/* "out of memory at event 2,981 of 2,982, +47.9 ms: 50.38 MiB requested by
 * train.py:32 train_step" */
static bool headline(const struct page *page, const struct device_report *report,
                     const struct oom_row *row)
{
    char place[MOMENT_TEXT_SIZE], size[UNITS_TEXT_SIZE], count[UNITS_TEXT_SIZE],
        pool[POOL_TEXT_SIZE];
    struct buffer text = BUFFER_INIT;
    uint64_t times = report->ooms.total - further_tries(&report->ooms);
    size_t tries = report->ooms.count - first_try(&report->ooms);
    buffer_puts(&text, "out of memory ");
    if (times > 1)
        buffer_printf(&text, "%s times, the last time ", units_count(count, times));
    buffer_printf(&text, "at %s: %s requested",
                  moment_place(place, report->timeline->trace, row->item),
                  page_size(page, size, row->requested_bytes));
    if (row->asker) {
        buffer_puts(&text, " by ");
        escape_text(&text, row->asker, strlen(row->asker));
    }
    if (tries > 1)
        buffer_printf(&text, ", in the last of %zu tries", tries);
    if (row->key.stream != 0 || pool_key_is_private(&row->key))
        buffer_printf(&text, " (%s)", pool_text(pool, &row->key));
    fputs(page_style(page, STYLE_WARNING), page->out);
    bool ok = put(page, SECTION_INDENT, &text);
    fputs(page_plain(page), page->out);
    buffer_release(&text);
    return ok;
}

/* " (681.40 MiB after rounding)" if that differs: the rounded size plus unused memory equals
 * reserved memory. */
static void add_rounded(const struct page *page, const struct oom_row *row, struct buffer *text)
{
    const struct oom_layout *layout = &row->layout;
    char active[UNITS_TEXT_SIZE], rounded[UNITS_TEXT_SIZE];
    page_bytes(page, active, row->at.active_bytes);
    page_size(page, rounded, layout->block_bytes);
    if (layout->is_known && strcmp(active, rounded) != 0)
        buffer_printf(text, " (%s%s after rounding)", rounded,
                      layout->unsure_bytes ? " or more" : "");
}

/* "34.00 MiB free on the device, 734.00 MiB reserved: 673.81 MiB active (681.40 MiB after
 * rounding), 52.60 MiB unused (largest usable hole 13.55 MiB)" */
static bool figures(const struct page *page, const struct oom_row *row)
{
    char size[UNITS_TEXT_SIZE];
    struct buffer text = BUFFER_INIT;
    buffer_printf(&text, "%s free on the device, ", page_size(page, size, row->device_free_bytes));
    buffer_printf(&text, "%s reserved: ", page_bytes(page, size, row->at.reserved_bytes));
    buffer_printf(&text, "%s active", page_bytes(page, size, row->at.active_bytes));
    add_rounded(page, row, &text);
    if (row->layout.inactive_bytes > 0)
        buffer_printf(&text, ", %s unused", page_size(page, size, row->layout.inactive_bytes));
    if (row->layout.largest_bytes > 0)
        buffer_printf(&text, " (largest usable hole %s)",
                      page_size(page, size, row->layout.largest_bytes));
    bool ok = put(page, OOM_INDENT, &text);
    buffer_release(&text);
    return ok;
}

static bool live(const struct page *page, const struct oom_row *row, const struct symbols *symbols)
{
    char size[UNITS_TEXT_SIZE];
    struct buffer text = BUFFER_INIT;
    for (size_t i = 0; i < row->category_count && i < SITES_TOLD; i++)
        buffer_printf(&text, "%s%s %s", i ? ", " : "live at that moment: ",
                      category_name(row->categories[i].category),
                      page_bytes(page, size, row->categories[i].bytes));
    bool ok = text.size == 0 || put(page, OOM_INDENT, &text);
    for (size_t i = 0; ok && i < row->site_count && i < SITES_TOLD; i++) {
        const struct oom_site *site = &row->sites[i];
        buffer_clear(&text);
        buffer_printf(&text, "%s  ", page_bytes(page, size, site->bytes));
        struct text operator= site_operator_text(symbols, &site->site);
        escape_text(&text, site->label, strlen(site->label));
        buffer_puts(&text, operator.size> 0 ? ", " : "");
        escape_text(&text, operator.bytes, operator.size);
        buffer_printf(&text, ", %s", category_name(site->category));
        ok = put(page, OOM_INDENT + 2, &text);
    }
    buffer_release(&text);
    return ok;
}

/* Notes if the verdict depends on facts that the capture does not contain. */
static void add_unknown_device(const struct page *page, const struct oom_row *row,
                               struct buffer *text)
{
    char size[UNITS_TEXT_SIZE];
    if (row->verdict != OOM_SHORTAGE || row->at.reserved_bytes < 0)
        return;
    uint64_t both = row->device_free_bytes + (uint64_t)row->at.reserved_bytes;
    buffer_printf(text,
                  "reserved and free memory are %s together; PyTorch does not hold the rest of the "
                  "device: --gpu-memory SIZE shows how much that is",
                  page_size(page, size, both));
}

/* Memory that is neither free nor held by PyTorch, mentioned if the verdict does not do so. */
static bool others(const struct page *page, const struct oom_row *row)
{
    char held[UNITS_TEXT_SIZE], whole[UNITS_TEXT_SIZE];
    struct buffer text = BUFFER_INIT;
    page_size(page, held, row->other_bytes);
    page_size(page, whole, row->device_bytes);
    if (row->device_bytes == 0)
        add_unknown_device(page, row, &text);
    else if (row->other_bytes == 0)
        buffer_printf(&text, "nothing outside of PyTorch holds any of the device's %s", whole);
    else if (row->verdict != OOM_OTHER_PROCESS)
        buffer_printf(&text,
                      row->device_is_least ? "at least %s of the device's memory (%s or more) are "
                                             "held outside of PyTorch"
                                           : "%s of the device's %s are held outside of PyTorch",
                      held, whole);
    if (text.size > 0 && row->other_bytes > 0)
        buffer_puts(&text, ": by other processes, CUDA contexts or other allocators");
    bool ok = !text.failed && (text.size == 0 || put(page, OOM_INDENT, &text));
    buffer_release(&text);
    return ok;
}

/* The memory in use adds up to what nvidia-smi showed for the device. */
static bool used(const struct page *page, const struct oom_row *row)
{
    struct buffer text = BUFFER_INIT;
    if (!oom_used_is_known(row))
        return true;
    uint64_t reserved = (uint64_t)row->at.reserved_bytes, blocks = oom_allocated_bytes(row);
    device_use_add(&text, page,
                   &(struct device_use){blocks, reserved - blocks, row->other_bytes,
                                        row->device_bytes, "nvidia-smi"});
    bool ok = put(page, OOM_INDENT, &text);
    buffer_release(&text);
    return ok;
}

/* "memory ran out while the optimizer made states of weights that had none: of about 1.64 GiB,
 * 729.06 MiB were there, and the others need at least 453.14 MiB more than PyTorch can have" */
static void add_states(const struct page *page, const struct oom_row *row, struct buffer *text)
{
    char made[UNITS_TEXT_SIZE], whole[UNITS_TEXT_SIZE], missing[UNITS_TEXT_SIZE];
    buffer_printf(
        text,
        "memory ran out while the optimizer made states of weights that had none: of about "
        "%s, %s were there, and the others need at least %s more than PyTorch can have",
        page_bytes(page, whole, row->state_made_bytes + row->state_rest_bytes),
        page_bytes(page, made, row->state_made_bytes),
        page_bytes(page, missing, oom_missing_bytes(row)));
}

/* Says whether the rest of the step would have fit, judged by what an earlier step needed. */
static bool rest_of_step(const struct page *page, const struct device_report *report,
                         const struct oom_row *row)
{
    char needed[UNITS_TEXT_SIZE], missing[UNITS_TEXT_SIZE];
    struct buffer text = BUFFER_INIT;
    const char *step = growth_step(report);
    if (row->rest_is_unknown && (row->verdict == OOM_FRAGMENTATION || row->verdict == OOM_SHORTAGE))
        buffer_puts(&text, "the step needs more after this request; how much is not known, because "
                           "no earlier step made the same request");
    else if (oom_missing_bytes(row) <= 0)
        return true;
    else if (row->state_rest_bytes > 0)
        add_states(page, row, &text);
    else {
        buffer_printf(&text, "the rest of the %s does not fit either: judged by %s %lld", step,
                      step, (long long)row->like_step);
        if (row->like_times != 1)
            buffer_printf(&text, ", whose activations were %.1f times %s at this request",
                          row->like_times > 1 ? row->like_times : 1 / row->like_times,
                          row->like_times > 1 ? "smaller" : "larger");
        buffer_printf(&text,
                      ", the whole %s needs about %s, %s more than PyTorch can have; save %s that "
                      "much, for example with a smaller batch",
                      step, page_bytes(page, needed, row->step_bytes),
                      page_bytes(page, missing, oom_missing_bytes(row)),
                      row->like_times != 1 ? "about" : "at least");
    }
    bool ok = put(page, OOM_INDENT, &text);
    buffer_release(&text);
    return ok;
}

static bool earlier(const struct page *page, const struct device_report *report)
{
    const struct ooms *ooms = &report->ooms;
    char place[MOMENT_TEXT_SIZE], size[UNITS_TEXT_SIZE];
    size_t last = first_try(ooms);
    size_t from = last > EARLIER_TOLD ? last - EARLIER_TOLD : 0;
    bool ok = true;
    for (size_t i = from; ok && i < last; i++) {
        const struct oom_row *row = &ooms->items[i];
        struct buffer text = BUFFER_INIT;
        buffer_printf(&text, "earlier, at %s: %s requested; %s",
                      moment_place(place, report->timeline->trace, row->item),
                      page_size(page, size, row->requested_bytes), oom_verdict_text(row->verdict));
        ok = put(page, OOM_INDENT, &text);
        buffer_release(&text);
    }
    return ok;
}

/* Live memory is not repeated here: in most cases the rest of the report describes the same moment.
 */
bool device_ooms(const struct page *page, const struct device_report *report)
{
    const struct ooms *ooms = &report->ooms;
    if (ooms->count == 0)
        return true;
    const struct oom_row *row = &ooms->items[ooms->count - 1];
    bool is_told = row->at.active_bytes == report->at.active_bytes;
    return headline(page, report, row) && figures(page, row) &&
           put_words(page, "", row->sentence) && others(page, row) && used(page, row) &&
           put_words(page, "next: ", row->next) && rest_of_step(page, report, row) &&
           (is_told || live(page, row, report->timeline->snapshot->symbols)) &&
           earlier(page, report);
}
