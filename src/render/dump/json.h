/* A pickle as JSON, as memsnap-dump(1) describes it. */
#ifndef MEMSNAP_RENDER_DUMP_JSON_H
#define MEMSNAP_RENDER_DUMP_JSON_H

#include <stdio.h>

#include "decode/core/value.h"

/* What was read from where. */
struct dump {
    const char *path;
    bool gzip;
    const struct values *values;
    value root;
};

/* One line. What it takes beyond the values (4 bytes for each node and twice for each string, and
 * 12 for each level of nesting) is taken from `budget` before anything is written. */
bool dump_json(FILE *out, const struct dump *dump, struct budget *budget, struct error *err);

#endif
