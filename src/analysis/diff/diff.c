#include "analysis/diff/diff.h"

#include <stdlib.h>

#include "analysis/diff/internal.h"
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

int64_t diff_delta(int64_t a, int64_t b)
{
    int64_t delta;
    if (__builtin_sub_overflow(b, a, &delta))
        return b > a ? INT64_MAX : INT64_MIN;
    return delta;
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
    if (!vec_grow((void **)&diff->settings, &diff->setting_capacity, diff->setting_count + 1,
                  sizeof(*diff->settings), diff->budget, err))
        return false;
    diff->settings[diff->setting_count++] = (struct diff_setting_row){
        .key = a ? a->key : b->key,
        .present = {a, b},
        .values = {a ? a->value : STRING_EMPTY, b ? b->value : STRING_EMPTY},
    };
    return true;
}

/* Both sides' are sorted by key. */
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

static bool make(struct diff *diff, const struct diff_options *options, struct error *err)
{
    make_sums(diff);
    return diff_rows_make(&diff->rows, diff->sides, diff->symbols, diff->budget, err) &&
           compare_settings(diff, err) && diff_lines_make(diff, options->top, err) &&
           diff_words_make(diff, options, err);
}

struct diff *diff_build(const struct diff_side sides[2], struct site_table *sites,
                        const struct diff_options *options, struct budget *budget,
                        struct error *err)
{
    struct diff *diff = calloc(1, sizeof(*diff));
    if (!diff) {
        error_set(err, STATUS_LIMIT, "out of memory while comparing");
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
    diff_lines_release(diff);
    diff_words_release(&diff->summary);
    diff_words_release(&diff->warnings);
    diff_words_release(&diff->next);
    vec_free(diff->settings, diff->setting_capacity, sizeof(*diff->settings), diff->budget);
    diff_rows_release(&diff->rows);
    free(diff);
}
