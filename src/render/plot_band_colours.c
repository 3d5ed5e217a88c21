#include "render/plot_timeline_parts.h"

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

static void colour_sizes(const struct plot_timeline *plot, unsigned *colours,
                         struct plot_legend *legend)
{
    bool used[COUNT(sizes)] = {false};
    for (size_t b = 0; b < plot->bands->count; b++) {
        size_t i = size_class(plot->bands->items[b].size);
        colours[b] = sizes[i].colour;
        used[i] = true;
    }
    for (size_t i = COUNT(sizes); i-- > 0;)
        if (used[i])
            plot_legend_add(legend, sizes[i].colour, sizes[i].name, "");
}

uint8_t plot_band_category(const struct plot_timeline *plot, const struct band *band)
{
    return band->in_trace ? plot->time.categories->of_lifetime[band->index]
                          : plot->time.categories->of_carried[band->index];
}

static void colour_categories(const struct plot_timeline *plot, unsigned *colours,
                              struct plot_legend *legend)
{
    uint8_t order[CATEGORY_LIMIT];
    bool used[CATEGORY_LIMIT] = {false};
    for (size_t b = 0; b < plot->bands->count; b++) {
        uint8_t category = plot_band_category(plot, &plot->bands->items[b]);
        colours[b] = plot_category_colour(category);
        used[category] = true;
    }
    plot_category_order(order);
    for (size_t i = CATEGORY_LIMIT; i-- > 0;) {
        char name[80];
        plot_category_name(name, order[i]);
        if (used[order[i]])
            plot_legend_add(legend, plot_category_colour(order[i]), name, "");
    }
}

bool plot_bands_colour(const struct plot_timeline *plot, unsigned *colours,
                       struct plot_legend *legend, struct error *err)
{
    if (plot->colour == COLOUR_SITE) {
        if (!plot_bands_colour_sites(plot, colours, legend, err))
            return false;
    } else if (plot->colour == COLOUR_SIZE) {
        colour_sizes(plot, colours, legend);
    } else {
        colour_categories(plot, colours, legend);
    }
    for (size_t b = 0; b < plot->bands->count; b++)
        colours[b] = plot_shade(colours[b], b);
    if (plot->bands->left_out > 0)
        plot_legend_add(legend, PLOT_REST, "smaller allocations", "");
    return true;
}
