#include <stdlib.h>
#include <string.h>

#include "analysis/ranks/internal.h"
#include "base/hash.h"

static uint64_t key_of(const struct summary_site *site)
{
    uint64_t key = hash_bytes(site->site, strlen(site->site), hash_seed());
    key = hash_bytes(site->op, strlen(site->op), key);
    return hash_bytes(site->category, strlen(site->category), key);
}

static int by_key(const void *a, const void *b)
{
    const struct site_key *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

/* Sorts the keys of a row and adds up equal ones. Returns their number. */
static size_t settle(struct site_key *keys, size_t count)
{
    size_t kept = 0;
    if (count > 0)
        qsort(keys, count, sizeof(*keys), by_key);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && keys[kept - 1].key == keys[i].key)
            keys[kept - 1].bytes += keys[i].bytes;
        else
            keys[kept++] = keys[i];
    }
    return kept;
}

bool site_keys_make(struct site_keys *keys, const struct ranks *ranks, struct error *err)
{
    size_t all = 0, next = 0;
    for (size_t i = 0; i < ranks->row_count; i++)
        all += ranks->rows[i].device->site_count;
    *keys = (struct site_keys){calloc(all + 1, sizeof(*keys->items)),
                               calloc(ranks->row_count + 1, sizeof(*keys->starts))};
    if (!keys->items || !keys->starts) {
        site_keys_release(keys);
        return error_out_of_memory(err);
    }
    for (size_t i = 0; i < ranks->row_count; i++) {
        const struct summary_device *device = ranks->rows[i].device;
        struct site_key *items = keys->items + next;
        for (size_t s = 0; s < device->site_count; s++)
            items[s] = (struct site_key){key_of(&device->sites[s]), device->sites[s].bytes,
                                         &device->sites[s]};
        next += settle(items, device->site_count);
        keys->starts[i + 1] = next;
    }
    return true;
}

void site_keys_release(struct site_keys *keys)
{
    free(keys->items);
    free(keys->starts);
    *keys = (struct site_keys){0};
}

double site_keys_common(const struct site_keys *keys, const struct ranks *ranks, size_t a, size_t b)
{
    const struct site_key *x = keys->items + keys->starts[a],
                          *x_end = keys->items + keys->starts[a + 1];
    const struct site_key *y = keys->items + keys->starts[b],
                          *y_end = keys->items + keys->starts[b + 1];
    double peak_a = (double)rank_peak(&ranks->rows[a]), peak_b = (double)rank_peak(&ranks->rows[b]);
    double higher = peak_a > peak_b ? peak_a : peak_b, common = 0;
    while (x < x_end && y < y_end) {
        if (x->key == y->key) {
            common += (double)(x->bytes < y->bytes ? x->bytes : y->bytes);
            x++;
            y++;
        } else if (x->key < y->key) {
            x++;
        } else {
            y++;
        }
    }
    return higher > 0 ? common / higher : 1;
}
