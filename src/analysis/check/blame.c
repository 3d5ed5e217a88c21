#include "analysis/check/internal.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/code/site_pattern.h"
#include "analysis/diff/rows.h"

bool check_blame_stack(struct judge *judge, stack_id stack, const struct site *site,
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
    return check_blame_stack(judge, site->group.source.shown, &site->group.source.site,
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

/* A row of matched call sites that the newer capture has. */
struct change {
    frame_id line; /* its line of code; UINT32_MAX: none */
    size_t row;    /* its largest call site, in report->sites */
    int64_t bytes; /* by how much it grew; negative: it shrank */
};

struct changes {
    struct change *items;
    size_t count, capacity;
    struct budget *budget;
};

static int compare_changes(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row); /* the largest comes first in the report */
}

/* The index in the report of each call site of its side. */
static bool list_rows(const struct device_report *report, size_t *indexes)
{
    size_t count = 0;
    for (size_t i = 0; i < report->site_count; i++)
        if (!report->sites[i].is_remainder)
            indexes[count++] = i;
    return count > 0;
}

static bool add_changes(const struct judge *judge, const struct diff_rows *rows,
                        struct changes *changes)
{
    const struct device_report *report = judge->peak;
    size_t *indexes = NULL, capacity = 0;
    bool ok =
        vec_reserve(indexes, capacity, report->site_count + 1, changes->budget, judge->err) &&
        vec_reserve(changes->items, changes->capacity, rows->count, changes->budget, judge->err);
    if (ok && list_rows(report, indexes))
        for (size_t i = 0; i < rows->count; i++) {
            const struct diff_row *row = &rows->items[i];
            struct change change = {.line = UINT32_MAX, .bytes = row->bytes[1] - row->bytes[0]};
            if (row->top[1] == DIFF_NONE)
                continue;
            change.row = indexes[row->top[1]];
            const struct live_source *source = &report->sites[change.row].group.source;
            site_frame(judge->question->sites, source->shown, &source->site, &change.line);
            changes->items[changes->count++] = change;
        }
    vec_free(indexes, capacity, sizeof(*indexes), changes->budget);
    if (ok && changes->count > 0)
        qsort(changes->items, changes->count, sizeof(*changes->items), compare_changes);
    return ok;
}

/* The call sites of the baseline to compare with: where the peaks are in different phases, those at
 * the peak of the phase that the newer peak is in, as in `memsnap diff`. */
static const struct diff_side *like(const struct baseline_device *device, enum phase phase)
{
    const struct diff_side *in_phase = device->side.in_phase[phase];
    return in_phase ? in_phase : &device->side;
}

/* Matches the call sites of the baseline with those of the report. */
static bool find_changes(const struct judge *judge, const struct baseline_device *device,
                         struct changes *changes)
{
    struct budget *budget = changes->budget;
    struct symbols *symbols = symbols_create(budget, judge->err);
    struct diff_side sides[2] = {{.budget = budget}, {.budget = budget}};
    struct diff_rows rows = {.budget = budget};
    bool ok = symbols &&
              diff_side_of_report(&sides[1], judge->peak, judge->question->sites, symbols, budget,
                                  judge->err) &&
              diff_side_copy(&sides[0], like(device, sides[1].phase),
                             judge->question->baseline->symbols, symbols, budget, judge->err) &&
              diff_rows_make(&rows, sides, symbols, budget, judge->err) &&
              add_changes(judge, &rows, changes);
    diff_rows_release(&rows);
    diff_side_release(&sides[0]);
    diff_side_release(&sides[1]);
    symbols_destroy(symbols);
    return ok;
}

/* The line of code that grew the most, else the largest change without one; bytes 0: none. */
static struct change largest_change(const struct judge *judge, const struct changes *changes)
{
    struct change most = {0}, other = {0};
    for (size_t i = 0, end; i < changes->count; i = end) {
        struct change line = changes->items[i];
        for (end = i + 1; line.line != UINT32_MAX && end < changes->count &&
                          changes->items[end].line == line.line;
             end++)
            line.bytes += changes->items[end].bytes;
        struct change *best = line.line != UINT32_MAX ? &most : &other;
        if (line.bytes > best->bytes ||
            (line.bytes == best->bytes && best == &most && line.bytes > 0 &&
             site_frame_order(judge->question->sites, line.line, best->line) < 0))
            *best = line;
    }
    return most.bytes > 0 ? most : other;
}

bool check_blame_most_grown(struct judge *judge, const struct baseline_device *device,
                            struct check_row *row)
{
    const struct device_report *report = judge->peak;
    struct changes changes = {.budget = report->timeline->snapshot->budget};
    bool ok = find_changes(judge, device, &changes);
    struct change most = ok ? largest_change(judge, &changes) : (struct change){0};
    if (most.bytes > 0)
        ok = blame_row(judge, &report->sites[most.row], most.bytes, row);
    vec_free(changes.items, changes.capacity, sizeof(*changes.items), changes.budget);
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
