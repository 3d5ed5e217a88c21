#include "analysis/check/internal.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/code/site_pattern.h"

bool check_blame_site(struct judge *judge, stack_id stack, const struct site *site,
                      const char *label, int64_t bytes, struct check_row *row)
{
    const struct site_table *sites = judge->question->sites;
    frame_id id;
    row->blame.bytes = bytes;
    if (!check_copy_words(&row->blame.label, label, judge->err))
        return false;
    if (!site_frame(sites, stack, site, &id))
        return true;
    const struct symbols *symbols = site_table_symbols(sites);
    struct frame frame = symbols_frame_at(symbols, id);
    struct text file = symbols_text(symbols, frame.file);
    row->blame.line = frame.line;
    return check_copy(&row->blame.file, file.bytes, file.size, judge->err);
}

static bool blame_row(struct judge *judge, const struct site_row *site, int64_t bytes,
                      struct check_row *row)
{
    return check_blame_site(judge, site->group.source.shown, &site->group.source.site,
                            site->label.full, bytes, row);
}

bool check_blame_rows(struct judge *judge, const struct device_report *report,
                      site_row_test *counts, struct check_row *row)
{
    const struct site_table *sites = judge->question->sites;
    struct code_lines lines;
    const struct code_line *most = NULL;
    bool ok = true;
    if (!code_lines_make(&lines, report, sites, counts, judge, judge->err))
        return false;
    for (size_t i = 0; i < lines.count; i++) {
        const struct code_line *line = &lines.items[i];
        if (!most || line->bytes > most->bytes ||
            (line->bytes == most->bytes && site_frame_order(sites, line->frame, most->frame) < 0))
            most = line;
    }
    if (most)
        ok = blame_row(judge, &report->sites[most->row], most->bytes, row);
    code_lines_release(&lines);
    for (size_t i = 0; !most && i < report->site_count; i++)
        if (code_lines_counts(&report->sites[i], counts, judge))
            return blame_row(judge, &report->sites[i], report->sites[i].group.bytes, row);
    return ok;
}

/* The line that has grown the most so far. */
struct increase {
    const struct code_line *line;
    int64_t bytes;
};

static void offer(struct increase *most, const struct code_line *line, int64_t bytes)
{
    if (bytes > most->bytes)
        *most = (struct increase){line, bytes};
}

/* Compares the lines [first, end) of a function with those of the baseline. Line numbers change
 * when code is edited, so lines are paired by their order. If there are more or fewer than in the
 * baseline, the function is compared as a whole. */
static void compare_function(const struct code_line *first, const struct code_line *end,
                             const struct baseline_line *old, size_t old_count,
                             struct increase *most)
{
    const struct code_line *largest = first;
    int64_t bytes = 0;
    bool pairs = (size_t)(end - first) == old_count;
    for (const struct code_line *line = first; line < end; line++) {
        if (pairs)
            offer(most, line, line->bytes - old[line - first].bytes);
        if (line->bytes > largest->bytes)
            largest = line;
        bytes += line->bytes;
    }
    for (size_t i = 0; i < old_count; i++)
        bytes -= old[i].bytes;
    if (!pairs)
        offer(most, largest, bytes);
}

bool check_blame_increase(struct judge *judge, const struct baseline_device *device,
                          struct check_row *row)
{
    const struct device_report *report = judge->peak;
    struct code_lines lines;
    struct increase most = {0};
    bool ok = true;
    if (!code_lines_make(&lines, report, judge->question->sites, NULL, NULL, judge->err))
        return false;
    for (size_t i = 0, end; i < lines.count; i = end) {
        const struct code_line *line = &lines.items[i];
        size_t old_count;
        end = code_lines_function(&lines, i);
        const struct baseline_line *old = check_baseline_function(
            judge->question->baseline, device, line->file, line->name, &old_count);
        compare_function(line, &lines.items[end], old, old_count, &most);
    }
    if (most.line)
        ok = blame_row(judge, &report->sites[most.line->row], most.bytes, row);
    code_lines_release(&lines);
    return ok;
}

bool check_advise(struct judge *judge, const struct device_report *report, enum finding_kind kind,
                  struct check_row *row)
{
    const struct findings *findings = &report->findings;
    for (size_t i = 0; !row->passed && i < findings->count; i++) {
        const struct finding *finding = &findings->items[i];
        if (kind == FINDING_KINDS ? !finding->of_reserved : finding->kind == kind)
            return check_copy_words(&row->why, finding->what, judge->err) &&
                   check_copy_words(&row->next, finding->next, judge->err);
    }
    return true;
}

static bool occurs_in(const uint8_t *categories, size_t count, enum category category)
{
    return count > 0 && memchr(categories, (int)category, count) != NULL;
}

bool check_category_occurs(const struct device_report *report, enum category category)
{
    const struct timeline *timeline = report->timeline;
    return occurs_in(report->all.of_lifetime, timeline->lifetime_count, category) ||
           occurs_in(report->all.of_preexisting, timeline->preexisting_count, category);
}

struct search {
    const struct device_report *report;
    struct live_set set;
    const char *pattern;
    struct buffer scratch, label;
    uint8_t *seen; /* by stack: user code that does not match, so that it is tested only once */
};

static bool matches(struct search *search, const struct live *live, bool *occurs, struct error *err)
{
    struct live_source source;
    if (!live_source_of(&search->set, live, &source, err))
        return false;
    bool plain = source.source == SOURCE_OWN && source.site.user_frame != NO_FRAME;
    if (plain && search->seen[source.shown])
        return true;
    if (plain)
        search->seen[source.shown] = 1;
    buffer_clear(&search->label);
    live_source_label(&search->set, &source, NULL, false, &search->label);
    struct text label = {search->label.bytes, search->label.size};
    *occurs = !search->label.failed &&
              pattern_matches_site(search->pattern, search->set.sites, source.shown, &source.site,
                                   label, &search->scratch);
    return (!search->scratch.failed && !search->label.failed) || error_out_of_memory(err);
}

static bool search_all(struct search *search, bool *occurs, struct error *err)
{
    const struct timeline *timeline = search->report->timeline;
    bool ok = true;
    for (size_t i = 0; ok && !*occurs && i < timeline->lifetime_count; i++) {
        struct live live = live_of_lifetime(timeline, i);
        ok = matches(search, &live, occurs, err);
    }
    for (size_t i = 0; ok && !*occurs && i < timeline->preexisting_count; i++) {
        struct live live = live_of_preexisting(timeline, i);
        ok = matches(search, &live, occurs, err);
    }
    return ok;
}

bool check_site_occurs(const struct device_report *report, struct site_table *sites,
                       const char *pattern, bool *occurs, struct error *err)
{
    struct search search = {
        .report = report,
        .set = {.timeline = report->timeline, .sites = sites, .categories = &report->all},
        .pattern = pattern,
        .seen = calloc(symbols_stack_count(site_table_symbols(sites)) + 1, 1),
    };
    *occurs = false;
    bool ok = search.seen ? search_all(&search, occurs, err) : error_out_of_memory(err);
    free(search.seen);
    buffer_release(&search.scratch);
    buffer_release(&search.label);
    return ok;
}
