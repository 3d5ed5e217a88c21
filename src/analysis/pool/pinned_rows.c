#include "analysis/pool/pinned.h"

#include <stdlib.h>
#include <string.h>

/* A pin and what its row is chosen by. */
struct keyed {
    const struct pin *pin;
    struct live_source source;
    uint32_t category_and_source;
    frame_id frame;
    string_id op, node;
    bool has_frame;
};

static bool key_of(const struct live_set *set, const struct pin *pin, struct keyed *keyed,
                   struct error *err)
{
    enum category category = CATEGORY_UNKNOWN;
    *keyed = (struct keyed){.pin = pin};
    if (pin->has_live) {
        category = live_category(set, &pin->live);
        if (!live_source_of(set, &pin->live, &keyed->source, err))
            return false;
    } else {
        keyed->source = (struct live_source){.own = pin->live.stack, .shown = pin->live.stack};
        if (!site_of(set->sites, pin->live.stack, &keyed->source.site, err))
            return false;
    }
    keyed->has_frame =
        site_frame(set->sites, keyed->source.shown, &keyed->source.site, &keyed->frame);
    keyed->op = keyed->source.site.op;
    keyed->node = keyed->source.site.node;
    keyed->category_and_source = (uint32_t)category << 2 | (uint32_t)keyed->source.source;
    return true;
}

static int by_key(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    if (x->category_and_source != y->category_and_source)
        return x->category_and_source < y->category_and_source ? -1 : 1;
    if (x->has_frame != y->has_frame)
        return x->has_frame ? -1 : 1;
    if (x->has_frame && x->frame != y->frame)
        return x->frame < y->frame ? -1 : 1;
    if (x->op != y->op)
        return x->op < y->op ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

static int by_place(const void *a, const void *b)
{
    int order = by_key(a, b);
    const struct pin *x = ((const struct keyed *)a)->pin, *y = ((const struct keyed *)b)->pin;
    return order ? order : (x->addr > y->addr) - (x->addr < y->addr);
}

/* A row, and the pin whose source names it. */
struct draft {
    struct pin_row row;
    size_t first;  /* keyed */
    uint64_t addr; /* of its pin: ties may not depend on ids */
};

static int larger_first(const void *a, const void *b)
{
    const struct draft *x = a, *y = b;
    if (x->row.pinned_bytes != y->row.pinned_bytes)
        return x->row.pinned_bytes > y->row.pinned_bytes ? -1 : 1;
    return (x->addr > y->addr) - (x->addr < y->addr);
}

static void count_pin(struct pin_row *row, const struct pin *pin)
{
    row->segments++;
    row->block_bytes += pin->block_bytes;
    row->pinned_bytes += pin->pinned_bytes;
    if (pin->block_bytes > row->largest_bytes)
        row->largest_bytes = pin->block_bytes;
}

/* `drafts` has room for a row a pin; returns how many there are. */
static size_t sum_up(const struct keyed *keyed, size_t count, struct draft *drafts)
{
    size_t made = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || by_key(&keyed[i - 1], &keyed[i]) != 0) {
            drafts[made].first = i;
            drafts[made].addr = keyed[i].pin->addr;
            drafts[made++].row = (struct pin_row){
                .category = (enum category)(keyed[i].category_and_source >> 2),
                .stack = keyed[i].source.shown,
            };
        }
        count_pin(&drafts[made - 1].row, keyed[i].pin);
    }
    qsort(drafts, made, sizeof(*drafts), larger_first);
    return made;
}

static bool label_row(const struct live_set *set, const struct live_source *source,
                      struct pin_row *row, struct error *err)
{
    struct buffer text = BUFFER_INIT;
    live_source_label(set, source, NULL, false, &text);
    row->label = text.failed ? NULL : strdup(text.size > 0 ? text.bytes : "");
    buffer_release(&text);
    return row->label || error_set(err, STATUS_LIMIT, "out of memory while summing up");
}

static bool fill(const struct pins *pins, const struct live_set *set, size_t most,
                 struct keyed *keyed, struct draft *drafts, struct pin_rows *rows,
                 struct error *err)
{
    for (size_t i = 0; i < pins->count; i++)
        if (!key_of(set, &pins->items[i], &keyed[i], err))
            return false;
    qsort(keyed, pins->count, sizeof(*keyed), by_place);
    rows->sites = sum_up(keyed, pins->count, drafts);
    for (size_t i = 0; i < pins->count; i++) {
        rows->segments++;
        rows->block_bytes += pins->items[i].block_bytes;
        rows->pinned_bytes += pins->items[i].pinned_bytes;
    }
    size_t shown = rows->sites < most ? rows->sites : most;
    rows->items = calloc(shown + 1, sizeof(*rows->items));
    if (!rows->items)
        return error_set(err, STATUS_LIMIT, "out of memory while summing up");
    for (; rows->count < shown; rows->count++) {
        rows->items[rows->count] = drafts[rows->count].row;
        if (!label_row(set, &keyed[drafts[rows->count].first].source, &rows->items[rows->count],
                       err))
            return false;
    }
    return true;
}

bool pin_rows_make(const struct pins *pins, const struct live_set *set, size_t most,
                   struct pin_rows *rows, struct error *err)
{
    struct keyed *keyed = NULL;
    struct draft *drafts = NULL;
    size_t keyed_capacity = 0, drafts_capacity = 0;
    struct pin_rows made = {0};
    bool ok = true;
    if (pins->count > 0)
        ok = vec_grow((void **)&keyed, &keyed_capacity, pins->count, sizeof(*keyed), pins->budget,
                      err) &&
             vec_grow((void **)&drafts, &drafts_capacity, pins->count, sizeof(*drafts),
                      pins->budget, err) &&
             fill(pins, set, most, keyed, drafts, &made, err);
    vec_free(keyed, keyed_capacity, sizeof(*keyed), pins->budget);
    vec_free(drafts, drafts_capacity, sizeof(*drafts), pins->budget);
    if (!ok) {
        pin_rows_release(&made);
        return false;
    }
    *rows = made;
    return true;
}

void pin_rows_release(struct pin_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        free(rows->items[i].label);
    free(rows->items);
    *rows = (struct pin_rows){0};
}
