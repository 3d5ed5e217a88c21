/* The key of a counter as in the flat form, "active_bytes.all.peak", put together while nested
 * dicts are read. Files of this folder only. */
#ifndef MEMSNAP_DECODE_STATS_KEY_H
#define MEMSNAP_DECODE_STATS_KEY_H

#include <string.h>

#include "base/text.h"

#define STATS_KEY_DEPTH 3   /* dicts: metric, pool, moment */
#define STATS_KEY_MOST  128 /* bytes; longer keys name nothing that is known */

struct stats_key {
    char bytes[STATS_KEY_MOST];
    size_t size;
};

/* A part that makes the key too long is left out; the key then names nothing. To leave a dict,
 * reset `size` to what it was before. */
static inline void stats_key_add(struct stats_key *key, struct text part)
{
    if (key->size + part.size + 1 > STATS_KEY_MOST)
        return;
    if (key->size > 0)
        key->bytes[key->size++] = '.';
    memcpy(key->bytes + key->size, part.bytes, part.size);
    key->size += part.size;
}

static inline struct text stats_key_text(const struct stats_key *key)
{
    return (struct text){key->bytes, key->size};
}

#endif
