/* A pickle as JSON, as memsnap-dump(1) describes it. */
#ifndef MEMSNAP_RENDER_DUMP_JSON_H
#define MEMSNAP_RENDER_DUMP_JSON_H

#include <stdio.h>

#include "decode/core/value.h"

/* The decoded pickle and its input file. */
struct dump {
    const char *path;
    bool gzip;
    const struct values *values;
    value root;
};

/* Writes one line. The memory needed besides the values (4 bytes for each node, 8 for each string
 * and 12 for each level of nesting) is charged to `budget` before anything is written. */
bool dump_json(FILE *out, const struct dump *dump, struct budget *budget, struct error *err);

#endif
