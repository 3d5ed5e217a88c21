#include "render/plot/spread.h"

#include <stdlib.h>

static int by_height(const void *a, const void *b)
{
    const struct plot_label *x = a, *y = b;
    return x->y != y->y ? (x->y < y->y ? -1 : 1) : (x->of > y->of) - (x->of < y->of);
}

void plot_spread(struct plot_label *labels, size_t count, double line, double width)
{
    qsort(labels, count, sizeof(*labels), by_height);
    for (size_t i = 0; i < count; i++) {
        labels[i].at = labels[i].y + line;
        for (size_t k = 0; k < i; k++)
            if (labels[k].x > labels[i].x - width && labels[k].x < labels[i].x + width &&
                labels[k].at + line > labels[i].at)
                labels[i].at = labels[k].at + line;
    }
}
