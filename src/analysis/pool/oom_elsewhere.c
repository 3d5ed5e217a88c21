#include "analysis/pool/oom_elsewhere.h"

#include <stdlib.h>

static bool is_same_pool(const struct pool_key *a, const struct pool_key *b)
{
    return a->pool[0] == b->pool[0] && a->pool[1] == b->pool[1];
}

/* ELSEWHERE_KINDS for the request's own pool. */
static enum oom_elsewhere_kind kind_of(const struct pool_key *key, const struct pool_key *own)
{
    if (!is_same_pool(key, own))
        return pool_key_is_private(key) ? ELSEWHERE_GRAPHS : ELSEWHERE_DEFAULT;
    if (key->stream != own->stream)
        return ELSEWHERE_STREAMS;
    return key->is_small != own->is_small ? ELSEWHERE_SIZES : ELSEWHERE_KINDS;
}

/* For two pools of the same kind. */
static bool is_same_place(enum oom_elsewhere_kind kind, const struct pool_key *a,
                          const struct pool_key *b)
{
    return is_same_pool(a, b) && (kind == ELSEWHERE_GRAPHS || a->stream == b->stream);
}

/* Puts the rows of one place next to each other. */
static int by_place(const void *a, const void *b)
{
    const struct pool_key *x = &((const struct pool_row *)a)->key;
    const struct pool_key *y = &((const struct pool_row *)b)->key;
    for (int i = 0; i < 2; i++)
        if (x->pool[i] != y->pool[i])
            return x->pool[i] < y->pool[i] ? -1 : 1;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    return x->is_small - y->is_small;
}

static void add_place(struct oom_elsewhere *sum, const struct oom_elsewhere *place)
{
    if (place->bytes == 0)
        return;
    if (sum->places == 0 || place->bytes < sum->least_bytes)
        sum->least_bytes = place->bytes;
    if (place->bytes > sum->most_bytes) {
        sum->most_bytes = place->bytes;
        sum->most = place->most;
    }
    sum->bytes += place->bytes;
    sum->places++;
}

void oom_find_elsewhere(struct pool_rows *pools, const struct pool_key *own,
                        struct oom_elsewhere *elsewhere)
{
    struct oom_elsewhere kinds[ELSEWHERE_KINDS + 1] = {0};
    if (pools->count > 0)
        qsort(pools->items, pools->count, sizeof(*pools->items), by_place);
    for (size_t i = 0; i < pools->count;) {
        const struct pool_key *first = &pools->items[i].key;
        enum oom_elsewhere_kind kind = kind_of(first, own);
        struct oom_elsewhere place = {.most = *first};
        for (; i < pools->count; i++) {
            const struct pool_row *row = &pools->items[i];
            if (kind_of(&row->key, own) != kind || !is_same_place(kind, &row->key, first))
                break;
            place.bytes += row->inactive_split_bytes + row->releasable_bytes;
        }
        add_place(&kinds[kind], &place);
    }
    *elsewhere = (struct oom_elsewhere){0};
    for (int kind = 0; kind < ELSEWHERE_KINDS; kind++) {
        if (kinds[kind].bytes <= elsewhere->bytes)
            continue;
        *elsewhere = kinds[kind];
        elsewhere->kind = (enum oom_elsewhere_kind)kind;
    }
}
