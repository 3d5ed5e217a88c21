#include <inttypes.h>
#include <stdio.h>

#include "model/device.h"
#include "render/core/escape.h"
#include "render/replay/rows.h"

#define INDENT 2

static void paragraph(const struct page *page, const struct buffer *text)
{
    fprintf(page->out, "%*s", INDENT, "");
    page_paragraph(page, INDENT, INDENT, text->bytes);
}

static const char *size_of(const struct page *page, char out[UNITS_TEXT_SIZE], uint64_t bytes)
{
    return page_size(page, out, bytes);
}

/* "6,771 of 6,771 allocations at the recorded address" */
static void add_as_is(struct buffer *text, const struct device_replay *replay)
{
    const struct as_is *as_is = &replay->as_is;
    char a[UNITS_TEXT_SIZE], b[UNITS_TEXT_SIZE], c[UNITS_TEXT_SIZE], d[UNITS_TEXT_SIZE];
    bool is_exact = as_is_exact(as_is);
    buffer_printf(text,
                  "As recorded: %s of %s allocations at the recorded address, %s of %s segment "
                  "events%s",
                  units_count(a, as_is->exact_allocs), units_count(b, as_is->allocs),
                  units_count(c, as_is->exact_segment_events),
                  units_count(d, as_is->segment_events), is_exact ? ": exact." : ".");
    if (!is_exact)
        buffer_printf(text, " The first difference is at event %" PRId64 ": %s.",
                      trace_file_event(replay->timeline->trace, as_is->item),
                      difference_text(as_is->difference));
    buffer_printf(text, " Order of free blocks: that of torch %s.",
                  tie_break_versions(as_is->tie_break));
}

static void add_trust(struct buffer *text, const struct page *page,
                      const struct device_replay *replay)
{
    char cold[UNITS_TEXT_SIZE], recorded[UNITS_TEXT_SIZE];
    size_of(page, cold, replay->cold_peak);
    size_of(page, recorded, replay->recorded_peak);
    switch (replay->trust) {
    case TRUST_WHOLE:
        buffer_puts(text, "The whole program is recorded, so the figures below are exact for a "
                          "program that does not change.");
        return;
    case TRUST_CHECKED:
        buffer_printf(text,
                      "From a cold start the recorded settings reserve %s; the recording reserved "
                      "%s. So the figures below are usually within 2%% of the truth, or within "
                      "one segment of 20 MiB.",
                      cold, recorded);
        return;
    case TRUST_LOW:
        buffer_printf(text,
                      "From a cold start the recorded settings reserve only %s; the recording "
                      "reserved %s because of memory from before the trace. All figures below are "
                      "lower bounds, and there is no verdict.",
                      cold, recorded);
        return;
    case TRUST_INEXACT:
        buffer_puts(text, "The model does not reproduce this recording: the figures below only "
                          "compare settings, and there is no verdict.");
        return;
    default:
        buffer_printf(text,
                      "From a cold start the recorded settings reserve %s; the recording reserved "
                      "only %s. So the figures below only compare settings, and there is no "
                      "verdict.",
                      cold, recorded);
    }
}

/* The setting that needs least memory; NULL: none fits any device. */
static const struct replay_setting *least_of(const struct device_replay *replay)
{
    const struct replay_setting *least = NULL;
    for (size_t i = 0; i < replay->row_count; i++) {
        const struct replay_setting *row = &replay->rows[i];
        if (row->has_least && (!least || row->least_capacity < least->least_capacity))
            least = row;
    }
    return least;
}

static void add_advice(struct buffer *text, const struct page *page,
                       const struct device_replay *replay)
{
    const struct replay_setting *recorded = &replay->rows[0], *best = replay->best;
    char name[CONF_TEXT_SIZE], is[UNITS_TEXT_SIZE], was[UNITS_TEXT_SIZE], share[UNITS_TEXT_SIZE];
    if (!best) {
        buffer_puts(text, "None of these settings reserves less than the recorded ones.");
        return;
    }
    uint64_t now = best->totals.peak_reserved, before = recorded->totals.peak_reserved;
    buffer_printf(text, "%s reserves the least: %s instead of %s", replay_setting_name(name, best),
                  size_of(page, is, now), size_of(page, was, before));
    if (before > now)
        buffer_printf(text, ", %s less",
                      page_share(share, (int64_t)(before - now), (int64_t)before));
    buffer_puts(text, ".");
}

static void add_verdict(struct buffer *text, const struct page *page,
                        const struct device_replay *replay)
{
    const struct replay_setting *least = least_of(replay);
    char capacity[UNITS_TEXT_SIZE], needs[UNITS_TEXT_SIZE], name[CONF_TEXT_SIZE];
    if (replay->capacity == 0 || !replay_is_trusted(replay))
        return;
    size_t fitting = 0;
    for (size_t i = 0; i < replay->row_count; i++)
        fitting += replay->rows[i].fits;
    size_of(page, capacity, replay->capacity);
    buffer_printf(text, " In %s%s, ", capacity,
                  replay->capacity_is_recorded ? ", which PyTorch could have when memory ran out"
                                               : " for PyTorch");
    if (fitting == replay->row_count)
        buffer_puts(text, "every setting fits.");
    else if (fitting > 0)
        buffer_printf(text, "%zu of %zu settings fit.", fitting, replay->row_count);
    else if (least)
        buffer_printf(text, "no setting fits: %s comes closest, with %s.",
                      replay_setting_name(name, least),
                      size_of(page, needs, least->least_capacity));
    else
        buffer_puts(text, "no setting fits.");
}

static bool put_rows(const struct page *page, const struct device_replay *replay)
{
    const struct field_context context = {.page = page};
    struct row_table table;
    row_table_init(&table, &replay_row_type, page, &context);
    for (size_t i = 0; i < replay->row_count; i++) {
        struct replay_row row;
        replay_row_make(&row, replay, i);
        row_table_add(&table, &row);
    }
    return row_table_print(&table, page, INDENT);
}

static bool put_device(const struct page *page, const struct device_replay *replay)
{
    struct buffer text = BUFFER_INIT;
    fprintf(page->out, "\n%s%s%s\n", page_style(page, STYLE_TITLE),
            DEVICE_TITLE(replay->timeline->device), page_plain(page));
    if (*replay->obstacle) {
        buffer_printf(&text, "Cannot be replayed: ");
        escape_text(&text, replay->obstacle, strlen(replay->obstacle));
        buffer_putc(&text, '.');
    } else {
        add_as_is(&text, replay);
        buffer_putc(&text, ' ');
        add_trust(&text, page, replay);
    }
    bool ok = !text.failed;
    if (ok)
        paragraph(page, &text);
    buffer_clear(&text);
    if (ok && !*replay->obstacle) {
        fputc('\n', page->out);
        ok = put_rows(page, replay);
        fputc('\n', page->out);
        add_advice(&text, page, replay);
        add_verdict(&text, page, replay);
        ok = ok && !text.failed;
        if (ok)
            paragraph(page, &text);
    }
    buffer_release(&text);
    return ok;
}

bool replay_text(const struct page *page, const struct replay_report *report)
{
    bool ok = input_line(page, &report->input);
    for (size_t i = 0; ok && i < report->device_count; i++)
        ok = put_device(page, &report->devices[i]);
    return ok;
}
