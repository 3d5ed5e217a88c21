#include <string.h>

#include "analysis/diff/internal.h"
#include "base/units.h"

/* What making the lines needs besides. */
struct builder {
    struct diff *diff;
    struct live_set set; /* for its table of sites only */
    struct label_files files;
    struct buffer text;
};

static enum diff_change change_of(const struct diff_row *row)
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

/* The files of all labels, so that equal base names can be told apart. */
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
        .change = change_of(row),
        .category = (enum category)shown->place.category,
        .was_category = (enum category)(a ? a : b)->place.category,
        .site = shown->source.site,
    };
    struct site of_stack;
    if (!site_of(diff->sites, row->stack, &of_stack, err))
        return false;
    line->site.user_frame = of_stack.user_frame;
    line->site.any_python_frame = of_stack.any_python_frame;
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

/* One line for the rows from `first` up to `end`. */
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

bool diff_lines_make(struct diff *diff, size_t top, struct error *err)
{
    struct builder builder = {.diff = diff, .set = {.sites = diff->sites}};
    const struct diff_rows *rows = &diff->rows;
    while (diff->changed < rows->count &&
           rows->items[diff->changed].bytes[0] != rows->items[diff->changed].bytes[1])
        diff->changed++;
    size_t shown = top > 0 && top < diff->changed ? top : diff->changed;
    bool ok = vec_grow((void **)&diff->lines, &diff->line_capacity, shown + 2, sizeof(*diff->lines),
                       diff->budget, err) &&
              note_files(&builder, shown, err);
    for (size_t i = 0; ok && i < shown; i++)
        ok = add_row(&builder, &rows->items[i], err);
    ok = ok && add_remainder(&builder, shown, diff->changed, "", err) &&
         add_remainder(&builder, diff->changed, rows->count, " without a change", err);
    label_files_release(&builder.files);
    buffer_release(&builder.text);
    return ok;
}

void diff_lines_release(struct diff *diff)
{
    vec_free(diff->lines, diff->line_capacity, sizeof(*diff->lines), diff->budget);
}
