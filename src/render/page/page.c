#include <string.h>

#include "base/units.h"
#include "model/device.h"
#include "render/core/moments.h"
#include "render/page/internal.h"
#include "render/plot/time.h"

static bool put_title(FILE *out, const struct html_page *page, struct error *err)
{
    return html_put_text(out, page->title, strlen(page->title), err);
}

static bool put_subtitle(FILE *out, const struct html_page *page, struct error *err)
{
    char events[UNITS_TEXT_SIZE], size[UNITS_TEXT_SIZE], count[UNITS_TEXT_SIZE];
    const struct timeline *timeline = page->timeline;
    const struct curve *active = &timeline->active;
    (void)err;
    units_count(events, timeline->trace->count);
    bool has_peak = timeline_knows_peak(timeline);
    units_bytes(size, has_peak ? active->peak_bytes : active->end_bytes, UNIT_AUTO);
    fprintf(out, "%s, %s event%s. Active memory (requested sizes) %s %s",
            DEVICE_TITLE(timeline->device), events, timeline->trace->count == 1 ? "" : "s",
            has_peak ? "peaks at" : "holds", size);
    if (!has_peak) {
        fputs(" when the snapshot is taken. ", out);
    } else if (active->peak_event < 0) {
        fputs(", before the first event. ", out);
    } else {
        event_number(count, timeline->trace, active->peak_event);
        fprintf(out, ", at event %s. ", count);
    }
    units_count(count, page->bands->count);
    fprintf(out, "%s allocations have a band each", count);
    if (page->bands->left_out > 0)
        fprintf(out, "; %s smaller or shorter ones are grey",
                units_count(count, page->bands->left_out));
    fputs(".", out);
    if (page->sampling->unknown > 0) {
        const char *words = plot_unrecorded_words(timeline);
        fprintf(out, " %c%s.", *words - 'a' + 'A', words + 1);
    }
    return true;
}

static bool put_policy(FILE *out, const struct html_page *page, struct error *err)
{
    (void)page;
    (void)err;
    fprintf(out,
            "default-src 'none'; script-src 'sha256-%s'; style-src 'sha256-%s'; base-uri 'none'; "
            "form-action 'none'",
            html_script_hash, html_style_hash);
    return true;
}

static bool put_style(FILE *out, const struct html_page *page, struct error *err)
{
    (void)page;
    (void)err;
    fwrite(html_style, 1, html_style_size, out);
    return true;
}

static bool put_script(FILE *out, const struct html_page *page, struct error *err)
{
    (void)page;
    (void)err;
    fwrite(html_script, 1, html_script_size, out);
    return true;
}

/* The contents put in place of @NAME@ in page.html. */
static const struct {
    const char *name;
    bool (*put)(FILE *out, const struct html_page *page, struct error *err);
} places[] = {
    {"POLICY", put_policy},      {"TITLE", put_title},    {"SUBTITLE", put_subtitle},
    {"STYLE", put_style},        {"DATA", html_put_data}, {"SCRIPT", put_script},
    {"PICTURE", html_put_still},
};

static bool put_place(struct text name, const struct html_page *page, FILE *out, struct error *err)
{
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (text_equals(name, places[i].name))
            return places[i].put(out, page, err);
    return error_set(err, STATUS_IO, "page.html has an unknown place: %.*s", (int)name.size,
                     name.bytes);
}

bool html_write(const struct html_page *page, FILE *out, struct error *err)
{
    const char *at = (const char *)html_frame, *end = at + html_frame_size;
    while (at < end) {
        const char *place = memchr(at, '@', (size_t)(end - at));
        const char *after = place ? memchr(place + 1, '@', (size_t)(end - place) - 1) : NULL;
        fwrite(at, 1, (size_t)((after ? place : end) - at), out);
        if (!after)
            return true;
        if (!put_place((struct text){place + 1, (size_t)(after - place) - 1}, page, out, err))
            return false;
        at = after + 1;
    }
    return true;
}
