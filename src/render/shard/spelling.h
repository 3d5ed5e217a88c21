/* The Python names of optimizers in the printed code. */
#ifndef MEMSNAP_RENDER_SHARD_SPELLING_H
#define MEMSNAP_RENDER_SHARD_SPELLING_H

#include <stdbool.h>
#include <stdio.h>

#include "analysis/shard/options.h"

/* The class of an optimizer, and its arguments. */
struct spelling {
    const char *name;
    const char *package; /* to import, or NULL */
    const char *class_name, *arguments;
    const char *definition; /* of a class that no package has, or NULL */
    bool has_fused;
};

const struct spelling *spelling_of(const struct shard_options *options);

/* ", fused=True", or nothing. */
const char *spelling_fused(const struct shard_options *options);

#endif
