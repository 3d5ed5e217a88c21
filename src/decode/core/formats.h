/* The kinds of files that memsnap reads: one row of a table for each. */
#ifndef MEMSNAP_DECODE_CORE_FORMATS_H
#define MEMSNAP_DECODE_CORE_FORMATS_H

#include "decode/core/sniff.h"

/* A word that identifies a kind of file, anywhere in its beginning: a key or a class, in a pickle
 * or in JSON. The first one in the file decides, because later words may be names from the user's
 * program. */
struct format_mark {
    const char *word; /* NULL: no more */
    const char *with; /* if not NULL, this word must be present, too */
};

struct format {
    const char *name;      /* kind_name() */
    const char *encodings; /* kind_encodings() */
    const char *advice;    /* kind_advice(); NULL: none */
    /* They end with a NULL word. NULL: sniff_kind() looks for more than a word. */
    const struct format_mark *marks;
};

extern const struct format formats[FILE_KINDS];

#endif
