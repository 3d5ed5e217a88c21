#include "render/plot/legend.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "render/core/escape.h"

void plot_legend_add(struct plot_legend *legend, unsigned colour, const char *name,
                     const char *remark)
{
    struct buffer text = BUFFER_INIT;
    size_t taken = strlen(remark) / 2;
    escape_plot(&text, name, strlen(name), PLOT_KEY_TEXT - (taken < 20 ? taken : 20));
    buffer_puts(&text, remark);
    bool fits =
        legend->count < PLOT_KEYS_MOST && !text.failed && text.size < sizeof(legend->keys[0].text);
    if (fits) {
        struct plot_key *key = &legend->keys[legend->count++];
        key->colour = colour;
        memcpy(key->text, text.bytes, text.size + 1);
    } else {
        legend->left_out++;
    }
    buffer_release(&text);
}

void plot_legend_put(FILE *script, struct plot_legend *legend, unsigned pixels)
{
    size_t most = pixels / PLOT_KEY_LINE;
    if (most < 2)
        most = 2;
    if (most > PLOT_KEYS_MOST)
        most = PLOT_KEYS_MOST;
    size_t all = legend->count + legend->left_out;
    if (all > most || legend->left_out > 0) {
        struct plot_key *last = &legend->keys[most - 1];
        last->colour = 0xFFFFFF;
        snprintf(last->text, sizeof(last->text), "and %zu more", all - (most - 1));
        legend->count = most;
    }
    fprintf(script, "keys = %zu\narray key_colour[%zu]\narray key_text[%zu]\n", legend->count,
            legend->count + 1, legend->count + 1);
    for (size_t i = 0; i < legend->count; i++)
        fprintf(script, "key_colour[%zu] = 0x%06X; key_text[%zu] = '%s'\n", i + 1,
                legend->keys[i].colour, i + 1, legend->keys[i].text);
}

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
