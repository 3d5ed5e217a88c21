/* Lines that a log in JSON, or Python's repr(), keeps within one string: '\n' and '\"'. */
#ifndef MEMSNAP_DECODE_LOG_ESCAPED_H
#define MEMSNAP_DECODE_LOG_ESCAPED_H

#include "base/text.h"

#define ESCAPED_LINE ((size_t)1024) /* of a longer one, the rest is left out */

struct escaped_lines {
    struct text rest;   /* not handed out yet */
    size_t backslashes; /* before the n of a line feed: 2 in a string within a string */
    char line[ESCAPED_LINE];
};

/* False if the text holds no escaped frame of a traceback. Fast. */
bool escaped_lines_open(struct escaped_lines *lines, struct text text);
/* The next line, unescaped, valid until the next call; false at the end. */
bool escaped_lines_next(struct escaped_lines *lines, struct text *line);

#endif
