#include <stdlib.h>
#include <string.h>

#include "render/plot_timeline_parts.h"

static const unsigned palette[] = {0x0072B2, 0xF0C63C, 0xD55E00, 0x009E73, 0xCC79A7, 0x56B4E9,
                                   0x332288, 0x999933, 0x882255, 0x44AA99, 0xAA7744};
#define COLOURED    (sizeof(palette) / sizeof(palette[0]))
#define OTHER_SITES 0x9A9A9A

/* A band, later a call site: those of one label are summed into the first. */
struct row {
    char *label;
    size_t band;
    double area;
};

bool plot_band_site(const struct plot_timeline *plot, const struct band *band, struct buffer *label,
                    struct error *err)
{
    struct site site;
    if (!band->in_trace && band->stack == STACK_NONE) {
        buffer_puts(label, "allocated before recording began");
    } else {
        if (!site_of(plot->sites, band->stack, &site, err))
            return false;
        site_label_long(plot->sites, band->stack, &site, 0, true, label);
    }
    return !label->failed || error_set(err, STATUS_LIMIT, "out of memory");
}

static int by_label(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    int order = strcmp(x->label, y->label);
    return order ? order : (x->band > y->band) - (x->band < y->band);
}

static int by_area(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return x->area != y->area ? (x->area > y->area ? -1 : 1) : strcmp(x->label, y->label);
}

static bool make_rows(const struct plot_timeline *plot, struct row *rows, struct error *err)
{
    for (size_t b = 0; b < plot->bands->count; b++) {
        const struct band *band = &plot->bands->items[b];
        struct buffer label = BUFFER_INIT;
        rows[b].band = b;
        rows[b].area = (double)band->size * (double)(band->end - band->begin);
        bool ok = plot_band_site(plot, band, &label, err);
        rows[b].label = label.bytes;
        if (!ok)
            return false;
    }
    return true;
}

/* `rows` are sorted by label; `sites` gets one of each label, with the area of all. */
static size_t sum_sites(const struct row *rows, size_t count, struct row *sites)
{
    size_t site_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(rows[i].label, rows[i - 1].label) != 0)
            sites[site_count++] = (struct row){.label = rows[i].label};
        sites[site_count - 1].area += rows[i].area;
    }
    qsort(sites, site_count, sizeof(*sites), by_area);
    return site_count;
}

static void colour(unsigned *colours, struct plot_legend *legend, const struct row *rows,
                   size_t count, const struct row *sites, size_t site_count)
{
    size_t coloured = site_count < COLOURED ? site_count : COLOURED;
    for (size_t i = 0; i < count; i++) {
        size_t site = 0;
        while (site < coloured && strcmp(sites[site].label, rows[i].label) != 0)
            site++;
        colours[rows[i].band] = site < coloured ? palette[site] : OTHER_SITES;
    }
    for (size_t site = 0; site < coloured; site++)
        plot_legend_add(legend, palette[site], sites[site].label, "");
    if (site_count > coloured)
        plot_legend_add(legend, OTHER_SITES, "other call sites", "");
}

bool plot_bands_colour_sites(const struct plot_timeline *plot, unsigned *colours,
                             struct plot_legend *legend, struct error *err)
{
    size_t count = plot->bands->count;
    struct row *rows = calloc(count + 1, sizeof(*rows)), *sites = calloc(count + 1, sizeof(*sites));
    bool ok = (rows && sites) || error_set(err, STATUS_LIMIT, "out of memory");
    ok = ok && make_rows(plot, rows, err);
    if (ok && count > 0) {
        qsort(rows, count, sizeof(*rows), by_label);
        colour(colours, legend, rows, count, sites, sum_sites(rows, count, sites));
    }
    for (size_t i = 0; rows && i < count; i++)
        free(rows[i].label);
    free(rows);
    free(sites);
    return ok;
}
