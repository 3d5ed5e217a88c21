#include "analysis/diff/diff.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/diff/annotations.h"
#include "analysis/diff/summary.h"
#include "analysis/diff/symbols.h"

const char *diff_change_name(enum diff_change change)
{
    static const char *const names[] = {[DIFF_SAME] = "same",
                                        [DIFF_NEW] = "new",
                                        [DIFF_GONE] = "gone",
                                        [DIFF_GROWN] = "grown",
                                        [DIFF_SHRUNK] = "shrunk"};
    return names[change];
}

const char *diff_matched_name(enum diff_matched matched)
{
    static const char *const names[] = {
        [DIFF_BY_NOTHING] = "none", [DIFF_BY_STACK] = "stack", [DIFF_BY_FUNCTION] = "function"};
    return names[matched];
}

static uint64_t change_of(const struct diff_pair *pair)
{
    int64_t delta = diff_delta(pair->sums[0].bytes, pair->sums[1].bytes);
    return delta < 0 ? -(uint64_t)delta : (uint64_t)delta;
}

static int64_t larger(const struct diff_pair *pair)
{
    return pair->sums[0].bytes > pair->sums[1].bytes ? pair->sums[0].bytes : pair->sums[1].bytes;
}

static int compare_pairs(const void *a, const void *b)
{
    const struct diff_pair *x = a, *y = b;
    uint64_t change_x = change_of(x), change_y = change_of(y);
    if (change_x != change_y)
        return change_x > change_y ? -1 : 1;
    if (larger(x) != larger(y))
        return larger(x) > larger(y) ? -1 : 1;
    return (x->what > y->what) - (x->what < y->what);
}

static size_t make_pairs(const struct diff_sum *a, const struct diff_sum *b, size_t count,
                         struct diff_pair *pairs)
{
    size_t made = 0;
    for (unsigned i = 0; i < count; i++)
        if (a[i].bytes != 0 || b[i].bytes != 0 || a[i].count + b[i].count > 0)
            pairs[made++] = (struct diff_pair){i, {a[i], b[i]}};
    return made;
}

static void make_sums(struct diff *diff)
{
    const struct diff_side *a = &diff->sides[0], *b = &diff->sides[1];
    diff->category_count =
        make_pairs(a->categories, b->categories, CATEGORY_LIMIT, diff->categories);
    diff->phase_count = make_pairs(a->phases, b->phases, DIFF_PHASES, diff->phases);
    if (diff->category_count > 0)
        qsort(diff->categories, diff->category_count, sizeof(diff->categories[0]), compare_pairs);
}

static bool add_setting(struct diff *diff, const struct diff_setting *a,
                        const struct diff_setting *b, struct error *err)
{
    if (a && b && a->value == b->value)
        return true;
    return vec_push(diff->settings, diff->setting_count, diff->setting_capacity, diff->budget, err,
                    (struct diff_setting_row){
                        .key = a ? a->key : b->key,
                        .present = {a, b},
                        .values = {a ? a->value : STRING_EMPTY, b ? b->value : STRING_EMPTY},
                    });
}

/* Merges the settings of both sides, which are sorted by key. */
static bool compare_settings(struct diff *diff, struct error *err)
{
    const struct diff_side *a = &diff->sides[0], *b = &diff->sides[1];
    size_t i = 0, j = 0;
    while (i < a->setting_count || j < b->setting_count) {
        int order = i == a->setting_count ? 1
                    : j == b->setting_count
                        ? -1
                        : symbols_compare(diff->symbols, a->settings[i].key, b->settings[j].key);
        if (!add_setting(diff, order <= 0 ? &a->settings[i] : NULL,
                         order >= 0 ? &b->settings[j] : NULL, err))
            return false;
        i += order <= 0;
        j += order >= 0;
    }
    return true;
}

/* State while the lines are made. */
struct builder {
    struct diff *diff;
    struct live_set set; /* for its table of sites only */
    struct label_files files;
    struct buffer text;
};

static enum diff_change row_change(const struct diff_row *row)
{
    if (row->bytes[0] == row->bytes[1])
        return DIFF_SAME;
    if (row->matched == DIFF_BY_NOTHING)
        return row->sites[0] == 0 ? DIFF_NEW : DIFF_GONE;
    return row->bytes[0] < row->bytes[1] ? DIFF_GROWN : DIFF_SHRUNK;
}

static const struct diff_site *site_of_row(const struct diff *diff, const struct diff_row *row,
                                           int side)
{
    return row->top[side] == DIFF_NONE ? NULL : &diff->sides[side].sites[row->top[side]];
}

/* Notes the files of all labels, so that files with equal base names get longer names. */
static bool note_files(struct builder *builder, size_t shown, struct error *err)
{
    const struct diff *diff = builder->diff;
    label_files_init(&builder->files, diff->symbols, diff->budget);
    for (size_t i = 0; i < shown; i++)
        for (int side = 0; side < 2; side++) {
            const struct diff_site *site = site_of_row(diff, &diff->rows.items[i], side);
            if (site && !live_source_note_file(&builder->set, &site->source, &builder->files, err))
                return false;
        }
    label_files_settle(&builder->files);
    return true;
}

static bool make_label(struct builder *builder, const struct diff_site *site, struct label *label,
                       struct error *err)
{
    static const char unexplained[] = "(not explained: the trace contradicts itself)";
    if (site->place.kind == DIFF_UNEXPLAINED) {
        *label = (struct label){unexplained, unexplained};
        return true;
    }
    return live_source_make_label(&builder->set, &site->source, &builder->files, &builder->text,
                                  label, err);
}

static bool add_row(struct builder *builder, const struct diff_row *row, struct error *err)
{
    struct diff *diff = builder->diff;
    const struct diff_site *a = site_of_row(diff, row, 0), *b = site_of_row(diff, row, 1);
    const struct diff_site *shown = b ? b : a;
    struct diff_line *line = &diff->lines[diff->line_count++];
    *line = (struct diff_line){
        .row = *row,
        .change = row_change(row),
        .category = (enum category)shown->place.category,
        .was_category = (enum category)(a ? a : b)->place.category,
        .site = shown->source.site,
    };
    struct site of_stack;
    if (!site_of(diff->sites, row->stack, &of_stack, err))
        return false;
    line->site.user_frame = of_stack.user_frame;
    line->site.any_python_frame = of_stack.any_python_frame;
    line->site.by_node = of_stack.by_node;
    if (!make_label(builder, shown, &line->label, err))
        return false;
    if (!a || !b)
        return true;
    if (!make_label(builder, a, &line->was, err))
        return false;
    if (strcmp(line->was.full, line->label.full) == 0)
        line->was = (struct label){0};
    return true;
}

/* Adds one line for the rows [first, end). */
static bool add_remainder(struct builder *builder, size_t first, size_t end, const char *what,
                          struct error *err)
{
    struct diff *diff = builder->diff;
    char count[UNITS_TEXT_SIZE];
    if (first == end)
        return true;
    struct diff_line *line = &diff->lines[diff->line_count++];
    *line = (struct diff_line){
        .row = {.top = {DIFF_NONE, DIFF_NONE}},
        .category = CATEGORY_UNKNOWN,
        .was_category = CATEGORY_UNKNOWN,
        .site = {.user_frame = NO_FRAME, .any_python_frame = NO_FRAME},
        .is_remainder = true,
    };
    for (size_t i = first; i < end; i++)
        for (int side = 0; side < 2; side++) {
            line->row.bytes[side] += diff->rows.items[i].bytes[side];
            line->row.count[side] += diff->rows.items[i].count[side];
            line->row.sites[side] += diff->rows.items[i].sites[side];
        }
    if (line->row.bytes[0] != line->row.bytes[1])
        line->change = line->row.bytes[0] < line->row.bytes[1] ? DIFF_GROWN : DIFF_SHRUNK;
    buffer_printf(&builder->text, "(%s %ssite%s%s)", units_count(count, end - first),
                  *what ? "" : "more ", end - first == 1 ? "" : "s", what);
    bool ok = label_keep(diff->symbols, &builder->text, &line->label.full, err);
    line->label.brief = line->label.full;
    return ok;
}

static bool make_lines(struct diff *diff, size_t top, struct error *err)
{
    struct builder builder = {.diff = diff, .set = {.sites = diff->sites}};
    const struct diff_rows *rows = &diff->rows;
    while (diff->changed < rows->count &&
           rows->items[diff->changed].bytes[0] != rows->items[diff->changed].bytes[1])
        diff->changed++;
    size_t shown = top > 0 && top < diff->changed ? top : diff->changed;
    bool ok = vec_reserve(diff->lines, diff->line_capacity, shown + 2, diff->budget, err) &&
              note_files(&builder, shown, err);
    for (size_t i = 0; ok && i < shown; i++)
        ok = add_row(&builder, &rows->items[i], err);
    ok = ok && add_remainder(&builder, shown, diff->changed, "", err) &&
         add_remainder(&builder, diff->changed, rows->count, " without a change", err);
    label_files_release(&builder.files);
    buffer_release(&builder.text);
    return ok;
}

static bool make(struct diff *diff, const struct diff_options *options, struct error *err)
{
    make_sums(diff);
    return diff_rows_make(&diff->rows, diff->sides, diff->symbols, diff->budget, err) &&
           compare_settings(diff, err) && make_lines(diff, options->top, err) &&
           diff_annotations_make(diff, options->top, err) &&
           diff_summary_make(diff, options, err) && diff_warnings_make(diff, options, err);
}

struct diff *diff_build(const struct diff_side sides[2], struct site_table *sites,
                        const struct diff_options *options, struct budget *budget,
                        struct error *err)
{
    struct diff *diff = calloc(1, sizeof(*diff));
    if (!diff) {
        error_out_of_memory(err);
        return NULL;
    }
    diff->sides = sides;
    diff->sites = sites;
    diff->symbols = site_table_symbols(sites);
    diff->budget = budget;
    diff->rows.budget = budget;
    if (!make(diff, options, err)) {
        diff_destroy(diff);
        return NULL;
    }
    return diff;
}

void diff_destroy(struct diff *diff)
{
    if (!diff)
        return;
    vec_free(diff->lines, diff->line_capacity, sizeof(*diff->lines), diff->budget);
    diff_words_release(&diff->summary);
    diff_words_release(&diff->warnings);
    diff_words_release(&diff->next);
    vec_free(diff->annotations, diff->annotation_capacity, sizeof(*diff->annotations),
             diff->budget);
    vec_free(diff->settings, diff->setting_capacity, sizeof(*diff->settings), diff->budget);
    diff_rows_release(&diff->rows);
    free(diff);
}
