#include <string.h>

#include "model/device.h"
#include "render/core/escape.h"
#include "render/core/moments.h"
#include "render/core/page.h"
#include "render/plot/report_internal.h"

#define WORDS_FONT    14.7 /* pixels: in a PNG, where they are largest */
#define WORDS_LINE    20   /* pixels from one line to the next */
#define FINDINGS_TOLD 4
#define FINDING_LINES 2
#define VERDICT_LINES 4 /* it ends with what to do */
#define NOTICES_TOLD  2
#define WORDS_MOST    13
#define TITLE_Y       30 /* pixels from the top */
#define FIRST_Y       58

/* The lines at the top of the page. */
struct words {
    FILE *script;
    const struct plot_look *look;
    size_t count, most;
    unsigned y; /* pixels from the top */
};

static void put_line(struct words *words, unsigned x, const char *font, const char *colour,
                     const char *text, size_t size)
{
    struct buffer escaped = BUFFER_INIT;
    if (words->count == words->most)
        return;
    words->count++;
    words->y += WORDS_LINE;
    if (!words->script)
        return;
    escape_plot(&escaped, text, size, SIZE_MAX);
    size_t i = words->count;
    fprintf(words->script, "word_text[%zu] = '%s'\n", i,
            escaped.size && !escaped.failed ? escaped.bytes : "");
    fprintf(words->script,
            "word_x[%zu] = %.6f; word_y[%zu] = %.6f; word_font[%zu] = ',%s'; word_colour[%zu] = "
            "'%s'\n",
            i, x / (double)words->look->width, i,
            1 - (words->y - WORDS_LINE) / (double)words->look->height, i, font, i, colour);
    buffer_release(&escaped);
}

/* Breaks text into lines at spaces. Text beyond `lines`, or beyond the last line available, is cut.
 */
static void put_paragraph(struct words *words, const char *colour, const char *text, size_t lines)
{
    if (lines > words->most - words->count)
        lines = words->most - words->count;
    for (unsigned indent = 0; *text && lines > 0; lines--, indent = 16) {
        double pixels = words->look->width - 2.0 * REPORT_EDGE - indent;
        size_t size = plot_fitting(words->look, text, WORDS_FONT, pixels);
        bool is_cut = lines == 1 && text[size];
        struct buffer line = BUFFER_INIT;
        buffer_add(&line, text, size);
        buffer_puts(&line, is_cut ? " …" : "");
        if (!line.failed)
            put_line(words, REPORT_EDGE + indent, "11", colour, line.bytes, line.size);
        buffer_release(&line);
        text += size + (text[size] == ' ');
    }
}

static void put_numbers(struct words *words, const struct device_report *report)
{
    const struct timeline *timeline = report->timeline;
    const struct memory_state *state = &timeline->state;
    char size[UNITS_TEXT_SIZE], place[MOMENT_TEXT_SIZE], share[UNITS_TEXT_SIZE];
    struct buffer text = BUFFER_INIT;
    bool has_events = timeline->trace->count > 0, has_peak = timeline_knows_peak(timeline);
    buffer_printf(&text, "%s: ", DEVICE_WORDS(timeline->device));
    buffer_printf(&text, has_peak ? "peak %s" : "%s in use when the snapshot was taken",
                  units_bytes(size,
                              has_peak ? timeline->active.peak_bytes : timeline->active.end_bytes,
                              UNIT_AUTO));
    if (has_peak)
        buffer_printf(&text, " (%s)",
                      moment_place(place, timeline->trace, timeline->active.peak_event));
    if (has_events && has_peak)
        buffer_printf(&text, "; %s before the first event",
                      units_bytes(size, timeline->active.baseline_bytes, UNIT_AUTO));
    if (has_events && has_peak)
        buffer_printf(&text, ", %s after the last",
                      units_bytes(size, timeline->active.end_bytes, UNIT_AUTO));
    buffer_printf(&text, "; reserved: most %s",
                  units_bytes(size, timeline->reserved.peak_bytes, UNIT_AUTO));
    buffer_printf(&text, ", in the snapshot %s",
                  units_bytes(size, (int64_t)state->reserved_bytes, UNIT_AUTO));
    buffer_printf(&text, " in %s segment%s", units_count(size, state->segments),
                  state->segments == 1 ? "" : "s");
    buffer_printf(
        &text, ", %s of it free",
        page_share(share, (int64_t)state->inactive_bytes, (int64_t)state->reserved_bytes));
    if (!text.failed)
        put_paragraph(words, "#222222", text.bytes, 2);
    buffer_release(&text);
}

static void put_verdict(struct words *words, const struct device_report *report)
{
    if (report->ooms.count == 0)
        return;
    const struct oom_row *row = &report->ooms.items[report->ooms.count - 1];
    struct buffer text = BUFFER_INIT;
    char place[MOMENT_TEXT_SIZE], size[UNITS_TEXT_SIZE];
    buffer_printf(&text, "out of memory at %s, %s requested",
                  moment_place(place, report->timeline->trace, row->item),
                  units_bytes(size, (int64_t)(row->requested_bytes & INT64_MAX), UNIT_AUTO));
    if (row->asker)
        buffer_printf(&text, " by %s", row->asker);
    buffer_printf(&text, ": %s; %s", row->sentence, row->next);
    if (!text.failed)
        put_paragraph(words, "#B00000", text.bytes, VERDICT_LINES);
    buffer_release(&text);
}

static void put_findings(struct words *words, const struct device_report *report)
{
    const struct findings *findings = &report->findings;
    for (size_t i = 0; i < findings->count && i < FINDINGS_TOLD; i++) {
        const struct finding *finding = &findings->items[i];
        struct buffer text = BUFFER_INIT;
        char size[UNITS_TEXT_SIZE];
        if (finding->save_bytes == 0)
            buffer_puts(&text, "to save time: ");
        else
            buffer_printf(&text, "to save %s%s%s: ", finding_bound(finding),
                          units_bytes(size, finding->save_bytes, UNIT_AUTO),
                          finding->of_reserved ? " of reserved memory" : "");
        buffer_printf(&text, "%s %s", finding->what, finding->next);
        if (!text.failed)
            put_paragraph(words, "#1F4E79", text.bytes, FINDING_LINES);
        buffer_release(&text);
    }
}

static struct words put_all(FILE *script, const struct plot_look *look,
                            const struct device_report *report, unsigned room)
{
    size_t lines = 1 + (room - FIRST_Y) / WORDS_LINE;
    struct words words = {.script = script,
                          .look = look,
                          .most = lines < WORDS_MOST ? lines : WORDS_MOST,
                          .y = TITLE_Y};
    put_line(&words, REPORT_EDGE, "16", "#000000", look->title, strlen(look->title));
    words.y = FIRST_Y;
    put_numbers(&words, report);
    put_verdict(&words, report);
    for (size_t i = 0; i < report->notice_count && i < NOTICES_TOLD; i++) {
        struct buffer text = BUFFER_INIT;
        buffer_printf(&text, "warning: %s", report->notices[i].text);
        if (!text.failed)
            put_paragraph(&words, "#8A5A00", text.bytes, 2);
        buffer_release(&text);
    }
    put_findings(&words, report);
    return words;
}

void plot_report_words(FILE *script, const struct plot_look *look,
                       const struct device_report *report, unsigned room)
{
    fprintf(script,
            "array word_text[%d]\narray word_x[%d]\narray word_y[%d]\narray word_font[%d]\n"
            "array word_colour[%d]\n",
            WORDS_MOST, WORDS_MOST, WORDS_MOST, WORDS_MOST, WORDS_MOST);
    fprintf(script, "words = %zu\n", put_all(script, look, report, room).count);
}

unsigned plot_report_words_end(const struct plot_look *look, const struct device_report *report,
                               unsigned room)
{
    return put_all(NULL, look, report, room).y;
}
