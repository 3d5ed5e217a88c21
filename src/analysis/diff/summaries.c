#include "analysis/diff/summaries.h"

#include <stdlib.h>
#include <string.h>

/* True if the names are equal but for the numbers after colons: "train.py:12 step". */
static bool same_but_lines(const char *a, const char *b)
{
    while (*a && *a == *b) {
        bool colon = *a == ':';
        a++;
        b++;
        if (!colon)
            continue;
        a += strspn(a, "0123456789");
        b += strspn(b, "0123456789");
    }
    return *a == *b;
}

static bool is_rest(const struct summary_site *site)
{
    return !*site->category;
}

static bool is_like(const struct summaries_diff_row *row, const struct summary_site *site)
{
    if (row->is_remainder || is_rest(site))
        return row->is_remainder && is_rest(site);
    return strcmp(row->site, site->site) == 0 && strcmp(row->op, site->op) == 0 &&
           strcmp(row->category, site->category) == 0;
}

static void add(struct diff_sum *sum, int64_t bytes, uint64_t count)
{
    sum->bytes += bytes; /* each is at most 2^62, and there are few */
    sum->count += count;
}

static void add_site(struct summaries_diff *diff, const struct summary_site *site, int side)
{
    struct summaries_diff_row *row = diff->rows;
    while (row < diff->rows + diff->count && !is_like(row, site))
        row++;
    if (row == diff->rows + diff->count)
        diff->rows[diff->count++] = (struct summaries_diff_row){
            .site = is_rest(site) ? "(call sites that the summary leaves out)" : site->site,
            .was = "",
            .op = site->op,
            .category = site->category,
            .by_line = true,
            .is_remainder = is_rest(site)};
    row->present[side] = true;
    add(&row->sums[side], site->bytes, site->count);
}

/* Joins a row of A with one of B that has the same name on other lines. */
static void join_lines(struct summaries_diff *diff)
{
    for (size_t i = 0; i < diff->count; i++) {
        struct summaries_diff_row *a = &diff->rows[i];
        if (a->present[1] || a->is_remainder)
            continue;
        for (size_t j = 0; j < diff->count; j++) {
            struct summaries_diff_row *b = &diff->rows[j];
            if (b->present[0] || b->is_remainder || !same_but_lines(a->site, b->site) ||
                strcmp(a->op, b->op) != 0 || strcmp(a->category, b->category) != 0)
                continue;
            b->was = a->site;
            b->sums[0] = a->sums[0];
            b->present[0] = true;
            b->by_line = false;
            *a = diff->rows[--diff->count];
            i--;
            break;
        }
    }
}

static bool has_changed(const struct summaries_diff_row *row)
{
    return row->sums[0].bytes != row->sums[1].bytes || row->sums[0].count != row->sums[1].count;
}

static int largest_first(const void *left, const void *right)
{
    const struct summaries_diff_row *a = left, *b = right;
    int64_t x = diff_magnitude(diff_delta(a->sums[0].bytes, a->sums[1].bytes));
    int64_t y = diff_magnitude(diff_delta(b->sums[0].bytes, b->sums[1].bytes));
    if (has_changed(a) != has_changed(b))
        return has_changed(a) ? -1 : 1;
    if (x != y)
        return x > y ? -1 : 1;
    int order = strcmp(a->site, b->site);
    return order ? order : strcmp(a->op, b->op);
}

static enum category category_of(const char *name)
{
    for (enum category category = 0; category < CATEGORY_COUNT; category++)
        if (strcmp(category_name(category), name) == 0)
            return category;
    return CATEGORY_UNKNOWN;
}

/* Steps are compared if both sides have some. */
static bool say_steps(struct summaries_diff *diff, enum unit unit, struct error *err)
{
    const struct summary_step_figures *steps = diff->steps;
    const int64_t peaks[] = {steps[0].median_peak_bytes, steps[1].median_peak_bytes};
    const int64_t ends[] = {steps[0].median_end_bytes, steps[1].median_end_bytes};
    for (int side = 0; side < 2; side++)
        if (!*diff->devices[side]->steps_from &&
            !diff_say(&diff->warnings, err,
                      "%c is a summary that an older memsnap made: its steps are not known",
                      side ? 'B' : 'A'))
            return false;
    return steps[0].count == 0 || steps[1].count == 0 ||
           (diff_say_change(&diff->summary, "The median peak of a step", peaks, unit, err) &&
            diff_say_change(&diff->summary, "The median memory after a step", ends, unit, err));
}

static bool say(struct summaries_diff *diff, const bool is_summary[2], enum unit unit,
                struct error *err)
{
    const struct summary_device *a = diff->devices[0], *b = diff->devices[1];
    const int64_t peaks[] = {a->peak_bytes, b->peak_bytes};
    const int64_t reserved[] = {a->reserved_peak_bytes, b->reserved_peak_bytes};
    const char *who = is_summary[0] && is_summary[1] ? "both are summaries"
                      : is_summary[0]                ? "A is a summary"
                                                     : "B is a summary";
    bool has_rest = false;
    for (size_t i = 0; i < diff->count; i++)
        has_rest = has_rest || diff->rows[i].is_remainder;
    return diff_say_change(&diff->summary, "The peak", peaks, unit, err) &&
           diff_say_change(&diff->summary, "The peak of reserved memory", reserved, unit, err) &&
           say_steps(diff, unit, err) &&
           (diff->changed > 0 || diff_say(&diff->summary, err, "No call site changed.")) &&
           diff_say(
               &diff->warnings, err,
               "%s: only the peaks, steps, categories and largest call sites are compared, not "
               "phases, annotations and stacks",
               who) &&
           (!has_rest || diff_say(&diff->warnings, err,
                                  "a call site that is new or gone may have been one of those that "
                                  "a summary leaves out"));
}

bool summaries_diff_make(struct summaries_diff *diff, const struct summary_device *a,
                         const struct summary_device *b, const bool is_summary[2], enum unit unit,
                         struct error *err)
{
    struct summaries_diff made = {
        .devices = {a, b}, .rows = calloc(a->site_count + b->site_count + 1, sizeof(*made.rows))};
    if (!made.rows)
        return error_out_of_memory(err);
    for (int side = 0; side < 2; side++) {
        const struct summary_device *device = made.devices[side];
        for (size_t i = 0; i < device->site_count; i++)
            add_site(&made, &device->sites[i], side);
        for (size_t i = 0; i < device->category_count; i++)
            add(&made.categories[side][category_of(device->categories[i].name)],
                device->categories[i].bytes, device->categories[i].count);
        summary_measure_steps(device, &made.steps[side]);
    }
    join_lines(&made);
    if (made.count > 0)
        qsort(made.rows, made.count, sizeof(*made.rows), largest_first);
    while (made.changed < made.count && has_changed(&made.rows[made.changed]))
        made.changed++;
    if (!say(&made, is_summary, unit, err)) {
        summaries_diff_release(&made);
        return false;
    }
    *diff = made;
    return true;
}

void summaries_diff_release(struct summaries_diff *diff)
{
    free(diff->rows);
    diff_words_release(&diff->summary);
    diff_words_release(&diff->warnings);
    *diff = (struct summaries_diff){0};
}
