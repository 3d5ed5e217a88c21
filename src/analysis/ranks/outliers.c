#include <stdlib.h>
#include <string.h>

#include "analysis/ranks/internal.h"

#define GROUP_LEAST 3 /* ranks that a median is taken of */

/* The median memory of a call site in a group. */
struct usual {
    uint64_t key;
    int64_t bytes;
    const struct summary_site *site;
};

struct usuals {
    struct usual *items; /* ascending by key */
    size_t count;
};

static int by_key_and_bytes(const void *a, const void *b)
{
    const struct site_key *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* Ranks without a site have 0 bytes of it, and come first. */
static int64_t median_of(const struct site_key *items, size_t count, size_t ranks)
{
    size_t middle = (ranks - 1) / 2, absent = ranks - count;
    return middle < absent ? 0 : items[middle - absent].bytes;
}

/* Replaces the sorted items by one for each key. */
static void reduce(struct usuals *usuals, const struct site_key *items, size_t count, size_t ranks)
{
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && items[end].key == items[first].key;)
            end++;
        usuals->items[usuals->count++] = (struct usual){
            items[first].key, median_of(items + first, end - first, ranks), items[first].site};
    }
}

static bool find_usuals(struct usuals *usuals, const struct rank_group *group,
                        const struct site_keys *keys, struct error *err)
{
    size_t all = 0;
    for (size_t i = 0; i < group->count; i++)
        all += keys->starts[group->rows[i] + 1] - keys->starts[group->rows[i]];
    struct site_key *items = calloc(all + 1, sizeof(*items)), *next = items;
    *usuals = (struct usuals){calloc(all + 1, sizeof(*usuals->items)), 0};
    bool ok = items && usuals->items;
    for (size_t i = 0; ok && i < group->count; i++) {
        size_t first = keys->starts[group->rows[i]], end = keys->starts[group->rows[i] + 1];
        for (; first < end; first++)
            *next++ = keys->items[first];
    }
    if (ok && all > 0) {
        qsort(items, all, sizeof(*items), by_key_and_bytes);
        reduce(usuals, items, all, group->count);
    }
    free(items);
    return ok || error_out_of_memory(err);
}

static int64_t distance(int64_t a, int64_t b)
{
    return a > b ? a - b : b - a;
}

static bool differs_more(const struct outlier_site *a, const struct outlier_site *b)
{
    int64_t x = distance(a->bytes, a->usual_bytes), y = distance(b->bytes, b->usual_bytes);
    if (x != y)
        return x > y;
    int order = strcmp(a->site->site, b->site->site);
    if (order == 0)
        order = strcmp(a->site->op, b->site->op);
    return (order != 0 ? order : strcmp(a->site->category, b->site->category)) < 0;
}

/* Inserts a site in its place, if it is among the most different. */
static void offer_site(struct rank_outlier *outlier, struct outlier_site site)
{
    size_t at = outlier->site_count;
    if (site.bytes == site.usual_bytes)
        return;
    while (at > 0 && differs_more(&site, &outlier->sites[at - 1]))
        at--;
    if (at == RANKS_OUTLIER_SITES)
        return;
    if (outlier->site_count < RANKS_OUTLIER_SITES)
        outlier->site_count++;
    memmove(&outlier->sites[at + 1], &outlier->sites[at],
            (outlier->site_count - 1 - at) * sizeof(site));
    outlier->sites[at] = site;
}

static void compare_sites(struct rank_outlier *outlier, const struct site_keys *keys,
                          const struct usuals *usuals)
{
    const struct site_key *own = keys->items + keys->starts[outlier->row];
    const struct site_key *own_end = keys->items + keys->starts[outlier->row + 1];
    const struct usual *usual = usuals->items, *usual_end = usual + usuals->count;
    while (own < own_end || usual < usual_end) {
        if (usual == usual_end || (own < own_end && own->key < usual->key)) {
            offer_site(outlier, (struct outlier_site){own->site, own->bytes, 0});
            own++;
        } else if (own == own_end || usual->key < own->key) {
            offer_site(outlier, (struct outlier_site){usual->site, 0, usual->bytes});
            usual++;
        } else {
            offer_site(outlier, (struct outlier_site){own->site, own->bytes, usual->bytes});
            own++;
            usual++;
        }
    }
}

/* The group of which a row may be an outlier; group_count if there is none. */
static size_t group_for(const struct ranks *ranks, const struct site_keys *keys, size_t row)
{
    size_t own = ranks->rows[row].group, best = ranks->group_count;
    double most = 0;
    if (ranks->groups[own].count >= GROUP_LEAST && !ranks->groups[own].is_mixed)
        return own;
    if (ranks->groups[own].count > 1)
        return best;
    for (size_t group = 0; group < ranks->group_count; group++) {
        if (ranks->groups[group].count < GROUP_LEAST || ranks->groups[group].is_mixed)
            continue;
        double common = site_keys_common(keys, ranks, ranks->groups[group].rows[0], row);
        if (best == ranks->group_count || common > most) {
            best = group;
            most = common;
        }
    }
    return best;
}

static bool is_outlier(const struct ranks *ranks, size_t row, size_t group)
{
    int64_t usual = ranks->groups[group].peak.median_bytes;
    int64_t apart = distance(rank_peak(&ranks->rows[row]), usual);
    return ranks->rows[row].group != group ||
           (apart >= RANKS_OUTLIER_BYTES && (double)apart >= RANKS_OUTLIER_LEAST * (double)usual);
}

static void collect(struct ranks *ranks, const struct site_keys *keys)
{
    for (size_t row = 0; row < ranks->row_count; row++) {
        size_t group = group_for(ranks, keys, row);
        if (group < ranks->group_count && is_outlier(ranks, row, group))
            ranks->outliers[ranks->outlier_count++] = (struct rank_outlier){
                .row = row,
                .group = group,
                .usual_bytes = ranks->groups[group].peak.median_bytes,
            };
    }
}

/* By group, so that the medians of one are needed at a time. */
static bool explain(struct ranks *ranks, const struct site_keys *keys, struct error *err)
{
    for (size_t group = 0; group < ranks->group_count; group++) {
        struct usuals usuals = {0};
        bool ok = true;
        for (size_t i = 0; ok && i < ranks->outlier_count; i++) {
            if (ranks->outliers[i].group != group)
                continue;
            if (!usuals.items)
                ok = find_usuals(&usuals, &ranks->groups[group], keys, err);
            if (ok)
                compare_sites(&ranks->outliers[i], keys, &usuals);
        }
        free(usuals.items);
        if (!ok)
            return false;
    }
    return true;
}

struct ordered {
    int64_t apart;
    struct rank_outlier outlier;
};

static int most_first(const void *a, const void *b)
{
    const struct ordered *x = a, *y = b;
    if (x->apart != y->apart)
        return x->apart > y->apart ? -1 : 1;
    return (x->outlier.row > y->outlier.row) - (x->outlier.row < y->outlier.row);
}

static bool sort(struct ranks *ranks, struct error *err)
{
    struct ordered *ordered = calloc(ranks->outlier_count + 1, sizeof(*ordered));
    if (!ordered)
        return error_out_of_memory(err);
    for (size_t i = 0; i < ranks->outlier_count; i++) {
        const struct rank_outlier *outlier = &ranks->outliers[i];
        int64_t peak = rank_peak(&ranks->rows[outlier->row]);
        ordered[i] = (struct ordered){distance(peak, outlier->usual_bytes), *outlier};
    }
    if (ranks->outlier_count > 0)
        qsort(ordered, ranks->outlier_count, sizeof(*ordered), most_first);
    for (size_t i = 0; i < ranks->outlier_count; i++)
        ranks->outliers[i] = ordered[i].outlier;
    free(ordered);
    return true;
}

bool ranks_find_outliers(struct ranks *ranks, const struct site_keys *keys, struct error *err)
{
    ranks->outliers = calloc(ranks->row_count + 1, sizeof(*ranks->outliers));
    if (!ranks->outliers)
        return error_out_of_memory(err);
    collect(ranks, keys);
    return explain(ranks, keys, err) && sort(ranks, err);
}
