#include <stddef.h>

#include "render/plot/plot.h"

/* Told apart under the three common kinds of colour-blindness; beyond memsnap's own categories in
 * turn. From the lowest in a stack to the highest. */
static const struct {
    enum category category;
    unsigned colour;
} colours[] = {
    {CATEGORY_UNKNOWN, 0x6E6E6E},         {CATEGORY_PARAMETER, 0x0072B2},
    {CATEGORY_OPTIMIZER_STATE, 0x009E73}, {CATEGORY_WORKSPACE, 0x999933},
    {CATEGORY_GRADIENT, 0xD55E00},        {CATEGORY_INPUT, 0x882255},
    {CATEGORY_ACTIVATION, 0xF0C63C},      {CATEGORY_AUTOGRAD_DETAIL, 0x56B4E9},
    {CATEGORY_TEMPORARY, 0xCC79A7},       {CATEGORY_COMMUNICATION, 0x332288},
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

void plot_category_name(char out[80], size_t category)
{
    snprintf(out, 80, "%s", category_name((enum category)category));
    for (char *c = out; category <= CATEGORY_COUNT && *c; c++)
        *c = *c == '_' ? ' ' : *c;
}

void plot_category_order(uint8_t order[CATEGORY_LIMIT])
{
    size_t count = 0;
    for (size_t i = 0; i < COUNT(colours); i++)
        order[count++] = (uint8_t)colours[i].category;
    for (size_t category = CATEGORY_COUNT + 1; category < CATEGORY_LIMIT; category++)
        order[count++] = (uint8_t)category;
    order[count] = CATEGORY_COUNT;
}

unsigned plot_shade(unsigned colour, size_t number)
{
    static const unsigned keep[] = {256, 236, 216};
    unsigned share = keep[number % COUNT(keep)], result = 0;
    for (unsigned shift = 0; shift < 24; shift += 8) {
        unsigned part = (colour >> shift) & 0xFF;
        result |= (255 - (255 - part) * share / 256) << shift;
    }
    return result;
}

unsigned plot_text_colour(unsigned colour)
{
    unsigned light =
        299 * (colour >> 16 & 0xFF) + 587 * (colour >> 8 & 0xFF) + 114 * (colour & 0xFF);
    return light < 145 * 1000 ? 0xFFFFFF : 0;
}
