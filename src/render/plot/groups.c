#include <stdlib.h>
#include <string.h>

#include "analysis/code/labels.h"
#include "analysis/curves/site_ranks.h"
#include "model/live.h"
#include "render/plot/timeline_internal.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
    uint64_t below; /* bytes */
    unsigned colour;
    const char *name;
} sizes[] = {
    {UINT64_C(1) << 20, 0xFDE725, "below 1 MiB (small pool)"},
    {UINT64_C(10) << 20, 0x90D743, "1 to 10 MiB"},
    {UINT64_C(64) << 20, 0x35B779, "10 to 64 MiB"},
    {UINT64_C(256) << 20, 0x21918C, "64 to 256 MiB"},
    {UINT64_C(1) << 30, 0x31688E, "256 MiB to 1 GiB"},
    {UINT64_MAX, 0x440154, "1 GiB and more"},
};

static size_t size_class(uint64_t size)
{
    size_t i = 0;
    while (i + 1 < COUNT(sizes) && size >= sizes[i].below)
        i++;
    return i;
}

static bool allocate(struct plot_groups *groups, const struct timeline *timeline, struct error *err)
{
    groups->owned_lifetime = calloc(timeline->lifetime_count + 1, 1);
    groups->owned_preexisting = calloc(timeline->preexisting_count + 1, 1);
    groups->of_lifetime = groups->owned_lifetime;
    groups->of_preexisting = groups->owned_preexisting;
    return (groups->owned_lifetime && groups->owned_preexisting) || error_out_of_memory(err);
}

void plot_groups_release(struct plot_groups *groups)
{
    free(groups->owned_lifetime);
    free(groups->owned_preexisting);
    for (size_t i = 0; i < CATEGORY_LIMIT; i++)
        free(groups->name[i]);
    *groups = (struct plot_groups){0};
}

uint8_t plot_group_of(const struct plot_groups *groups, const struct band *band)
{
    return band->in_trace ? groups->of_lifetime[band->index] : groups->of_preexisting[band->index];
}

uint8_t plot_band_category(const struct plot_timeline *plot, const struct band *band)
{
    return band->in_trace ? plot->time.categories->of_lifetime[band->index]
                          : plot->time.categories->of_preexisting[band->index];
}

/* Groups are in the order of their numbers. */
static bool make_classes(struct plot_groups *groups, const struct timeline *timeline,
                         struct error *err)
{
    if (!allocate(groups, timeline, err))
        return false;
    for (size_t i = 0; i < timeline->lifetime_count; i++)
        groups->owned_lifetime[i] =
            (uint8_t)size_class(trace_size(timeline->trace, timeline->lifetimes[i].alloc));
    for (size_t i = 0; i < timeline->preexisting_count; i++)
        groups->owned_preexisting[i] = (uint8_t)size_class(timeline->preexisting[i].size);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        groups->colour[i] = sizes[i].colour;
        groups->name[i] = strdup(sizes[i].name);
        if (!groups->name[i])
            return error_out_of_memory(err);
    }
    return true;
}

static bool make_categories(struct plot_groups *groups, const struct categories *categories,
                            struct error *err)
{
    groups->of_lifetime = categories->of_lifetime;
    groups->of_preexisting = categories->of_preexisting;
    plot_category_order(groups->order);
    for (size_t i = 0; i < CATEGORY_LIMIT; i++) {
        char name[80];
        plot_category_name(name, groups->order[i]);
        groups->colour[groups->order[i]] = plot_category_colour(groups->order[i]);
        groups->name[groups->order[i]] = strdup(name);
        if (!groups->name[groups->order[i]])
            return error_out_of_memory(err);
    }
    return true;
}

static const unsigned palette[] = {0x0072B2, 0xF0C63C, 0xD55E00, 0x009E73, 0xCC79A7,
                                   0x56B4E9, 0x332288, 0x999933, 0x882255};
#define COLOURED    COUNT(palette)
#define OTHER_SITES 0x9A9A9A

_Static_assert(COLOURED <= CATEGORY_COUNT, "groups are below CATEGORY_COUNT or above it");

static bool add_label(const struct plot_timeline *plot, stack_id stack, struct buffer *label,
                      struct error *err)
{
    struct site site;
    if (!site_of(plot->sites, stack, &site, err))
        return false;
    site_label_long(plot->sites, stack, &site, 0, true, label);
    return !label->failed || error_out_of_memory(err);
}

bool plot_band_site(const struct plot_timeline *plot, const struct band *band, struct buffer *label,
                    struct error *err)
{
    const struct timeline *timeline = plot->time.timeline;
    if (band->in_trace || band->stack != STACK_NONE ||
        !preexisting_is_older(&timeline->preexisting[band->index]))
        return add_label(plot, band->stack, label, err);
    buffer_puts(label, "allocated before recording began");
    return !label->failed || error_out_of_memory(err);
}

bool plot_band_annotation(const struct plot_timeline *plot, const struct band *band,
                          const char *before, struct buffer *label, struct error *err)
{
    const struct timeline *timeline = plot->time.timeline;
    const struct live live = band_live(band);
    string_id text;
    if (!live_note_text(timeline, &live, &text, err))
        return false;
    if (text == STRING_EMPTY)
        return true;
    buffer_puts(label, before);
    label_add_name(label, symbols_text(timeline->snapshot->symbols, text));
    return !label->failed || error_out_of_memory(err);
}

/* Stacks without a rank come above all others. CATEGORY_COUNT itself is the group of unexplained
 * memory. */
static uint8_t group_of(const struct site_ranks *ranks, stack_id stack)
{
    uint8_t rank = ranks->of_stack[stack];
    return rank < ranks->count ? rank : CATEGORY_COUNT + 1;
}

static bool name_sites(struct plot_groups *groups, const struct plot_timeline *plot,
                       const struct site_ranks *ranks, struct error *err)
{
    for (size_t i = 0; i < ranks->count; i++) {
        struct buffer label = BUFFER_INIT;
        groups->colour[i] = palette[i];
        if (ranks->example[i] == STACK_NONE)
            buffer_puts(&label, "no stack recorded");
        else if (!add_label(plot, ranks->example[i], &label, err)) {
            buffer_release(&label);
            return false;
        }
        groups->name[i] = label.bytes;
        if (label.failed || !label.bytes)
            return error_out_of_memory(err);
    }
    groups->colour[CATEGORY_COUNT + 1] = OTHER_SITES;
    groups->name[CATEGORY_COUNT + 1] = strdup("other call sites");
    return groups->name[CATEGORY_COUNT + 1] || error_out_of_memory(err);
}

static bool make_sites(struct plot_groups *groups, const struct plot_timeline *plot,
                       struct error *err)
{
    const struct timeline *timeline = plot->time.timeline;
    struct site_ranks ranks;
    if (!allocate(groups, timeline, err) ||
        !site_ranks_make(&ranks, timeline, plot->time.sampling, plot->sites, COLOURED, err))
        return false;
    for (size_t i = 0; i < timeline->lifetime_count; i++)
        groups->owned_lifetime[i] =
            group_of(&ranks, timeline->trace->stack[timeline->lifetimes[i].alloc]);
    for (size_t i = 0; i < timeline->preexisting_count; i++)
        groups->owned_preexisting[i] = group_of(&ranks, timeline->preexisting[i].stack);
    bool ok = name_sites(groups, plot, &ranks, err);
    site_ranks_release(&ranks);
    return ok;
}

bool plot_groups_make(struct plot_groups *groups, const struct plot_timeline *plot,
                      struct error *err)
{
    *groups = (struct plot_groups){0};
    for (size_t i = 0; i < CATEGORY_LIMIT; i++)
        groups->order[i] = (uint8_t)i;
    bool ok = plot->colour == COLOUR_SITE   ? make_sites(groups, plot, err)
              : plot->colour == COLOUR_SIZE ? make_classes(groups, plot->time.timeline, err)
                                            : make_categories(groups, plot->time.categories, err);
    if (ok && !groups->name[CATEGORY_COUNT]) {
        groups->colour[CATEGORY_COUNT] = PLOT_REST;
        groups->name[CATEGORY_COUNT] = strdup("unexplained");
    }
    if (!ok)
        plot_groups_release(groups);
    return ok;
}
