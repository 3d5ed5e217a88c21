#include <stdlib.h>
#include <string.h>

#include "analysis/curves/site_ranks.h"
#include "render/plot/timeline_internal.h"

static const unsigned palette[] = {0x0072B2, 0xF0C63C, 0xD55E00, 0x009E73, 0xCC79A7,
                                   0x56B4E9, 0x332288, 0x999933, 0x882255};
#define COLOURED    (sizeof(palette) / sizeof(palette[0]))
#define OTHER_SITES 0x9A9A9A

_Static_assert(COLOURED <= CATEGORY_COUNT, "groups are below CATEGORY_COUNT or above it");

static bool add_label(const struct plot_timeline *plot, stack_id stack, struct buffer *label,
                      struct error *err)
{
    struct site site;
    if (!site_of(plot->sites, stack, &site, err))
        return false;
    site_label_long(plot->sites, stack, &site, 0, true, label);
    return !label->failed || error_set(err, STATUS_LIMIT, "out of memory");
}

bool plot_band_site(const struct plot_timeline *plot, const struct band *band, struct buffer *label,
                    struct error *err)
{
    const struct timeline *timeline = plot->time.timeline;
    if (band->in_trace || band->stack != STACK_NONE ||
        !preexisting_is_older(&timeline->preexisting[band->index]))
        return add_label(plot, band->stack, label, err);
    buffer_puts(label, "allocated before recording began");
    return !label->failed || error_set(err, STATUS_LIMIT, "out of memory");
}

/* Those of no rank are above all, beyond the number that is for what is not explained. */
static uint8_t group_of(const struct site_ranks *ranks, stack_id stack)
{
    uint8_t rank = ranks->of_stack[stack];
    return rank < ranks->count ? rank : CATEGORY_COUNT + 1;
}

static bool name(struct plot_groups *groups, const struct plot_timeline *plot,
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
            return error_set(err, STATUS_LIMIT, "out of memory");
    }
    groups->colour[CATEGORY_COUNT + 1] = OTHER_SITES;
    groups->name[CATEGORY_COUNT + 1] = strdup("other call sites");
    return groups->name[CATEGORY_COUNT + 1] || error_set(err, STATUS_LIMIT, "out of memory");
}

bool plot_groups_of_sites(struct plot_groups *groups, const struct plot_timeline *plot,
                          struct error *err)
{
    const struct timeline *timeline = plot->time.timeline;
    struct site_ranks ranks;
    if (!plot_groups_allocate(groups, timeline, err) ||
        !site_ranks_make(&ranks, timeline, plot->time.sampling, plot->sites, COLOURED, err))
        return false;
    for (size_t i = 0; i < timeline->lifetime_count; i++)
        groups->owned_lifetime[i] =
            group_of(&ranks, timeline->trace->stack[timeline->lifetimes[i].alloc]);
    for (size_t i = 0; i < timeline->preexisting_count; i++)
        groups->owned_preexisting[i] = group_of(&ranks, timeline->preexisting[i].stack);
    bool ok = name(groups, plot, &ranks, err);
    site_ranks_release(&ranks);
    return ok;
}
