#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "render/escape.h"
#include "render/plot_parts.h"

/* Told apart under the three common kinds of colour-blindness; beyond memsnap's own categories in
 * turn. From the lowest in a stack to the highest. */
static const struct {
    enum category category;
    unsigned colour;
} colours[] = {
    {CATEGORY_UNKNOWN, 0x6E6E6E},         {CATEGORY_PARAMETER, 0x0072B2},
    {CATEGORY_OPTIMIZER_STATE, 0x009E73}, {CATEGORY_GRADIENT, 0xD55E00},
    {CATEGORY_INPUT, 0x882255},           {CATEGORY_ACTIVATION, 0xF0C63C},
    {CATEGORY_AUTOGRAD_DETAIL, 0x56B4E9}, {CATEGORY_TEMPORARY, 0xCC79A7},
    {CATEGORY_COMMUNICATION, 0x332288},   {CATEGORY_WORKSPACE, 0x999933},
};

static const unsigned own_colours[] = {0x44AA99, 0xAA4499, 0x117733, 0xDDCC77, 0xAA7744};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

unsigned plot_category_colour(size_t category)
{
    for (size_t i = 0; i < COUNT(colours); i++)
        if (colours[i].category == category)
            return colours[i].colour;
    return category == CATEGORY_COUNT ? PLOT_REST : own_colours[category % COUNT(own_colours)];
}

uint8_t plot_band_category(const struct plot *plot, const struct band *band)
{
    return band->in_trace ? plot->categories->of_lifetime[band->index]
                          : plot->categories->of_carried[band->index];
}

void plot_legend_add(struct plot_legend *legend, unsigned colour, const char *name,
                     const char *remark)
{
    struct buffer text = BUFFER_INIT;
    if (legend->count == PLOT_KEYS)
        return;
    struct plot_key *key = &legend->keys[legend->count];
    escape_plot(&text, name, strlen(name), PLOT_KEY_TEXT - strlen(remark) / 2);
    buffer_puts(&text, remark);
    key->colour = colour;
    if (!text.failed && text.size < sizeof(key->text)) {
        memcpy(key->text, text.bytes, text.size + 1);
        legend->count++;
    }
    buffer_release(&text);
}

static bool is_shown(const struct plot *plot, size_t category)
{
    if (!plot->curves) {
        for (size_t b = 0; b < plot->bands->count; b++)
            if (plot_band_category(plot, &plot->bands->items[b]) == category)
                return true;
        return false;
    }
    const double *curve = category_curve(plot->curves, category);
    for (size_t c = 0; c < plot->curves->columns; c++)
        if (curve[c] > 0)
            return true;
    return false;
}

size_t plot_categories_shown(const struct plot *plot, uint8_t shown[CATEGORY_LIMIT])
{
    size_t count = 0;
    for (size_t i = 0; i < COUNT(colours); i++)
        if (is_shown(plot, colours[i].category))
            shown[count++] = (uint8_t)colours[i].category;
    for (size_t category = CATEGORY_COUNT + 1; category < CATEGORY_LIMIT; category++)
        if (is_shown(plot, category))
            shown[count++] = (uint8_t)category;
    if (is_shown(plot, CATEGORY_COUNT))
        shown[count++] = CATEGORY_COUNT;
    return count;
}

static size_t peak_column(const struct sampling *sampling)
{
    size_t peak = 0;
    for (size_t c = 1; c < sampling->count; c++)
        if (sampling->active[c] > sampling->active[peak])
            peak = c;
    return peak;
}

/* From the highest in the stack to the lowest, as they lie in the picture. */
static void add_categories(struct plot_legend *legend, const struct plot *plot)
{
    uint8_t shown[CATEGORY_LIMIT];
    char size[UNITS_TEXT_SIZE], remark[UNITS_TEXT_SIZE + 4] = "";
    size_t peak = peak_column(plot->sampling);
    for (size_t i = plot_categories_shown(plot, shown); i-- > 0;) {
        char name[80];
        snprintf(name, sizeof(name), "%s", category_name((enum category)shown[i]));
        for (char *c = name; *c; c++)
            *c = *c == '_' ? ' ' : *c;
        if (plot->curves) {
            double bytes = category_curve(plot->curves, shown[i])[peak];
            snprintf(remark, sizeof(remark), "  %s",
                     units_bytes(size, bytes < 9e18 ? (int64_t)bytes : INT64_MAX, UNIT_AUTO));
        }
        plot_legend_add(legend, plot_category_colour(shown[i]), name, remark);
    }
}

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

static void colour_sizes(struct plot_legend *legend, const struct plot *plot)
{
    bool used[COUNT(sizes)] = {false};
    for (size_t b = 0; b < plot->bands->count; b++) {
        size_t i = size_class(plot->bands->items[b].size);
        legend->of_band[b] = sizes[i].colour;
        used[i] = true;
    }
    for (size_t i = COUNT(sizes); i-- > 0;)
        if (used[i])
            plot_legend_add(legend, sizes[i].colour, sizes[i].name, "");
}

/* Neighbours of one colour are told apart by its shades. */
static unsigned shade(unsigned colour, size_t band)
{
    static const unsigned keep[] = {256, 236, 216};
    unsigned share = keep[band % COUNT(keep)], result = 0;
    for (unsigned shift = 0; shift < 24; shift += 8) {
        unsigned part = (colour >> shift) & 0xFF;
        result |= (255 - (255 - part) * share / 256) << shift;
    }
    return result;
}

bool plot_legend_make(struct plot_legend *legend, const struct plot *plot, struct error *err)
{
    struct plot_legend made = {0};
    bool ok = true;
    if (plot->bands) {
        made.of_band = calloc(plot->bands->count + 1, sizeof(*made.of_band));
        if (!made.of_band)
            return error_set(err, STATUS_LIMIT, "out of memory");
    }
    if (plot->bands && plot->look.colour == COLOUR_SITE) {
        ok = plot_colour_sites(&made, plot, err);
    } else if (plot->bands && plot->look.colour == COLOUR_SIZE) {
        colour_sizes(&made, plot);
    } else {
        add_categories(&made, plot);
        for (size_t b = 0; plot->bands && b < plot->bands->count; b++)
            made.of_band[b] =
                plot_category_colour(plot_band_category(plot, &plot->bands->items[b]));
    }
    for (size_t b = 0; plot->bands && b < plot->bands->count; b++)
        made.of_band[b] = shade(made.of_band[b], b);
    if (ok && plot->bands && plot->bands->left_out > 0)
        plot_legend_add(&made, PLOT_REST, "smaller allocations", "");
    if (ok)
        *legend = made;
    else
        plot_legend_release(&made);
    return ok;
}

void plot_legend_release(struct plot_legend *legend)
{
    free(legend->of_band);
    *legend = (struct plot_legend){0};
}
