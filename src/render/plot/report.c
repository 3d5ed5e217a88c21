#include <string.h>

#include "analysis/pool/segment_map.h"
#include "render/plot/report_internal.h"
#include "render/plot/script.h"
#include "render/plot/segments.h"
#include "render/plot/sites.h"
#include "render/plot/timeline.h"

enum {
    REPORT_SCRIPT,
    REPORT_CURVES,
    REPORT_PHASES,
    REPORT_BANDS,
    REPORT_LABELS,
    REPORT_REST,
    REPORT_CATEGORIES,
    REPORT_SITES,
    REPORT_BOXES,
    REPORT_ENDS,
    REPORT_BLOCKS,
    REPORT_POOLS,
    REPORT_HOLE,
};

/* The templates of the page, in the order of the kind's list. */
enum { REPORT_HEAD, REPORT_PAGE, REPORT_FRAME, REPORT_TIMELINE, REPORT_BARS, REPORT_SEGMENTS };

/* Nothing is owned. */
struct plot_report {
    const struct plot_look *look;
    const struct plot_snapshot *snapshot;
    const struct plot_timeline *timeline;
    const struct plot_segments *segments; /* NULL without room, or where the layout of the moment
                                             is not known */
};

/* Pixels. A taller picture gives the extra height to the timeline. */
#define TIMELINE_TITLES 62
#define TIMELINE_LEGEND 300
#define TIMELINE_LEAST  180 /* its graph */
#define TIMELINE_AXIS   50
#define BELOW           540 /* the height of what is below the timeline */
#define BELOW_LEAST     230 /* without the segments */
#define CATEGORY_LINES  6
#define CATEGORY_LINE   24
#define CATEGORY_NAMES  150
#define SITE_NAMES      330
#define SITE_BARS       240 /* smallest width of the bars of sites with their figures */
/* Pixels. Pictures below these heights have no room for the bars, or for the segments below them.
 */
#define BARS_FROM     640
#define SEGMENTS_FROM 900
#define TITLE_LETTER  9    /* about */
#define NARROW        1300 /* the legend of the segments takes two lines, and three */
#define NARROWEST     1000

static unsigned below(const struct plot_look *look)
{
    if (look->height < BARS_FROM)
        return 10;
    if (look->height < SEGMENTS_FROM)
        return BELOW_LEAST + (look->height - BARS_FROM) / 2;
    return look->height > 2 * BELOW ? BELOW : look->height / 2;
}

/* Short pictures have only the timeline. Taller ones have categories and call sites below it, and
 * the segments too from this height on. */
static bool has_room_for_segments(const struct plot_look *look)
{
    return look->height >= SEGMENTS_FROM;
}

/* Height in pixels reserved for the text at the top. */
static unsigned words_room(const struct plot_look *look)
{
    return look->height - below(look) - TIMELINE_AXIS - TIMELINE_LEAST - TIMELINE_TITLES;
}

static struct plot_margins panel(unsigned left, unsigned right, unsigned top, unsigned bottom,
                                 unsigned title_left, unsigned words)
{
    return (struct plot_margins){left,     right,      top, bottom, top - 52, top - 33,
                                 top - 17, title_left, 13,  words,  true};
}

static struct plot_margins timeline_margins(const struct plot_look *look,
                                            const struct device_report *report)
{
    unsigned top = plot_report_words_end(look, report, words_room(look)) + TIMELINE_TITLES;
    return panel(80, TIMELINE_LEGEND, top, below(look) + TIMELINE_AXIS, REPORT_EDGE,
                 look->width - 2 * REPORT_EDGE);
}

/* Top of the lower half. */
static unsigned lower_top(const struct plot_look *look)
{
    return look->height - below(look) + 50;
}

static struct plot_margins categories_margins(const struct plot_look *look)
{
    unsigned top = lower_top(look) - 15;
    struct plot_margins margins = panel(
        REPORT_EDGE + CATEGORY_NAMES, look->width - look->width * 47 / 100, top,
        look->height - top - CATEGORY_LINES * CATEGORY_LINE, REPORT_EDGE, look->width * 45 / 100);
    margins.title = top - 20;
    return margins;
}

/* The axis, and a legend that takes up to three lines. */
static unsigned segments_below(const struct plot_look *look)
{
    return look->width < NARROWEST ? 112 : look->width < NARROW ? 96 : 78;
}

static struct plot_margins segments_margins(const struct plot_look *look)
{
    unsigned top = lower_top(look) + CATEGORY_LINES * CATEGORY_LINE + 55;
    return panel(REPORT_EDGE, look->width - look->width * 47 / 100, top, segments_below(look),
                 REPORT_EDGE, look->width * 45 / 100);
}

static unsigned site_names(const struct plot_look *look)
{
    unsigned room = look->width / 2 - REPORT_EDGE - SITE_BARS;
    return room < SITE_NAMES ? room : SITE_NAMES;
}

static struct plot_margins sites_margins(const struct plot_look *look)
{
    unsigned top = lower_top(look) - 15;
    struct plot_margins margins = panel(look->width / 2 + site_names(look), REPORT_EDGE, top, 20,
                                        look->width / 2, look->width / 2 - REPORT_EDGE);
    margins.title = top - 20;
    return margins;
}

/* Number of call sites that fit. */
static size_t sites_shown(const struct plot_look *look)
{
    return look->height < BARS_FROM ? 1 : plot_bars_room(look, sites_margins(look));
}

static void begin_panel(FILE *script, const char *title)
{
    fputs("\nreset\n", script);
    plot_put_text(script, "plot_title", title, PLOT_TEXT);
}

static bool put_timeline(const struct plot_report *report, FILE *const files[], struct error *err)
{
    FILE *script = files[REPORT_SCRIPT];
    FILE *const parts[] = {
        [TIMELINE_SCRIPT] = script,
        [TIMELINE_CURVES] = files[REPORT_CURVES],
        [TIMELINE_PHASES] = files[REPORT_PHASES],
        [TIMELINE_BANDS] = files[REPORT_BANDS],
        [TIMELINE_LABELS] = files[REPORT_LABELS],
        [TIMELINE_REST] = files[REPORT_REST],
    };
    plot_put_text(script, "plot_title", "Memory over time", PLOT_TEXT);
    if (!plot_timeline_write(report->timeline, parts, err))
        return false;
    plot_put_template(script, REPORT_PAGE);
    plot_put_template(script, REPORT_FRAME);
    plot_put_template(script, REPORT_TIMELINE);
    return true;
}

/* Has no legend, because the timeline's applies. */
static bool put_bars(const struct plot_report *report, FILE *const files[], size_t file,
                     const char *name, struct plot_bars *bars, struct plot_margins margins,
                     struct error *err)
{
    FILE *script = files[REPORT_SCRIPT];
    plot_put_words(script, report->look, margins, "", "");
    fputs("keys = 0\narray key_colour[1]\narray key_text[1]\n", script);
    bool ok = plot_bars_write(script, files[file], name, bars, report->look, margins,
                              report->timeline->notes, err);
    plot_put_template(script, REPORT_PAGE);
    plot_put_template(script, REPORT_BARS);
    plot_bars_release(bars);
    return ok;
}

static bool put_categories(const struct plot_report *report, FILE *const files[], struct error *err)
{
    struct plot_margins margins = categories_margins(report->look);
    struct plot_bars bars;
    char title[PLOT_MOMENT_SIZE + 40], moment[PLOT_MOMENT_SIZE];
    if (!plot_category_bars(report->snapshot, CATEGORY_LINES,
                            plot_bars_letters(report->look, margins), &bars, err))
        return false;
    snprintf(title, sizeof(title), "Live memory by category, %s",
             plot_moment(moment, report->snapshot));
    if (strlen(title) * TITLE_LETTER > margins.words)
        snprintf(title, sizeof(title), "Live memory by category");
    begin_panel(files[REPORT_SCRIPT], title);
    return put_bars(report, files, REPORT_CATEGORIES, "category-bars.tsv", &bars, margins, err);
}

static bool put_sites(const struct plot_report *report, FILE *const files[], struct error *err)
{
    struct plot_margins margins = sites_margins(report->look);
    struct plot_bars bars;
    if (!plot_sites_bars(report->snapshot, plot_bars_room(report->look, margins),
                         (site_names(report->look) - 14) / 7, &bars, err))
        return false;
    begin_panel(files[REPORT_SCRIPT], "Live memory by call site");
    return put_bars(report, files, REPORT_SITES, "bars.tsv", &bars, margins, err);
}

static bool put_segments(const struct plot_report *report, FILE *const files[], struct error *err)
{
    FILE *script = files[REPORT_SCRIPT];
    FILE *const parts[] = {
        [SEGMENTS_SCRIPT] = script,
        [SEGMENTS_BOXES] = files[REPORT_BOXES],
        [SEGMENTS_ENDS] = files[REPORT_ENDS],
        [SEGMENTS_LABELS] = files[REPORT_BLOCKS],
        [SEGMENTS_POOLS] = files[REPORT_POOLS],
        [SEGMENTS_HOLE] = files[REPORT_HOLE],
    };
    begin_panel(script, "Segments and blocks");
    if (!plot_segments_write(report->segments, parts, err))
        return false;
    plot_put_template(script, REPORT_PAGE);
    plot_put_template(script, REPORT_SEGMENTS);
    return true;
}

static bool write_all(const struct plot_report *report, FILE *const files[], struct error *err)
{
    FILE *script = files[REPORT_SCRIPT];
    plot_report_words(script, report->look, report->snapshot->report, words_room(report->look));
    plot_put_template(script, REPORT_HEAD);
    bool ok = put_timeline(report, files, err);
    if (report->look->height >= BARS_FROM)
        ok = ok && put_categories(report, files, err) &&
             (!report->segments || put_segments(report, files, err)) &&
             put_sites(report, files, err);
    fputs("\nunset multiplot\n", script);
    return ok;
}

/* The parts of the page, owned. */
struct parts {
    struct sampling sampling;
    struct bands bands;
    struct band_shapes shapes;
    struct segment_map map;
};

static bool write_report(const struct plot_job *job, struct plot_snapshot *snapshot,
                         struct parts *parts, struct plot_timeline *timeline, struct error *err)
{
    const struct report_options *at = &job->request->report;
    bool is_dump = at->at.kind == WHEN_PEAK || at->at.kind == WHEN_END;
    const struct plot_look *look = &job->request->look;
    bool has_segments = has_room_for_segments(look);
    if (has_segments && !segment_map_make(&parts->map, snapshot->timeline,
                                          is_dump ? MAP_DUMP : snapshot->report->at_item, err))
        return false;
    struct plot_segments segments = {.look = look,
                                     .snapshot = snapshot,
                                     .sites = snapshot->sites,
                                     .map = &parts->map,
                                     .notes = job->notes,
                                     .is_dump = is_dump};
    if (has_segments)
        segments.margins = segments_margins(look);
    struct plot_report report = {.look = look,
                                 .snapshot = snapshot,
                                 .timeline = timeline,
                                 .segments = parts->map.segment_count > 0 ? &segments : NULL};
    return write_all(&report, job->files, err);
}

static bool draw(const struct plot_job *job, struct plot_snapshot *snapshot, struct error *err)
{
    struct parts parts = {0};
    struct plot_timeline timeline = {.colour = job->request->colour,
                                     .sites = snapshot->sites,
                                     .bands = &parts.bands,
                                     .shapes = &parts.shapes,
                                     .notes = job->notes};
    const struct plot_look *look = &job->request->look;
    bool ok =
        plot_snapshot_report(snapshot, &job->request->report, sites_shown(look), err) &&
        plot_snapshot_time(snapshot, job->request, timeline_margins(look, snapshot->report),
                           &parts.sampling, &timeline.time, err) &&
        plot_bands_make(&parts.bands, &parts.shapes, &timeline.time, job->request->bands, err) &&
        write_report(job, snapshot, &parts, &timeline, err);
    segment_map_release(&parts.map);
    band_shapes_release(&parts.shapes);
    bands_release(&parts.bands);
    sampling_release(&parts.sampling);
    return ok;
}

const struct plot_kind plot_kind_report = {
    .name = "report",
    .needs_segments = true,
    .summary = "one page: what to do, memory over time, call sites, segments",
    .files = {PLOT_TIMELINE_FILES, "category-bars.tsv", "bars.tsv", PLOT_SEGMENTS_DATA},
    .templates = {"report.gp", "page.gp", "frame.gp", "timeline.gp", "bars.gp", "segments.gp"},
    .height = 1200,
    .places_templates = true,
    .of_snapshot = draw,
};
