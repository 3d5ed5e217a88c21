/* The first line of a text report: the file and its format. */
#ifndef MEMSNAP_RENDER_CORE_INPUT_LINE_H
#define MEMSNAP_RENDER_CORE_INPUT_LINE_H

#include "model/layer_trace.h"
#include "render/core/json.h"
#include "render/core/page.h"

struct input_line {
    const char *path; /* as the user named it; "-" for standard input */
    uint64_t bytes;   /* 0: unknown */
    enum encoding encoding;
    int protocol; /* of a pickle */
    enum compression compression;
    const char *lead; /* printed before it; NULL: nothing */
};

/* "file (1.2 MiB, pickle protocol 4, gzip)". False: out of memory. */
bool input_line(const struct page *page, const struct input_line *input);

/* The same as a JSON object. `format` is NULL if the report gives it elsewhere. */
void json_put_input(struct json_writer *json, const char *key, const char *format,
                    const struct input_line *input);

#endif
