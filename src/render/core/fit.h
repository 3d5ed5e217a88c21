/* Escaped text made to fit a number of columns; ".." marks what was cut. */
#ifndef MEMSNAP_RENDER_CORE_FIT_H
#define MEMSNAP_RENDER_CORE_FIT_H

#include "base/buffer.h"

enum cut {
    CUT_END,      /* names */
    CUT_START,    /* the end matters most: the file of a path */
    CUT_MIDDLE,   /* the end matters more than the beginning */
    CUT_SITE,     /* "model.py:39 forward (backward)": the remark goes first, then the end of the
                     function, then the beginning of the file; never the line's number */
    CUT_OPERATOR, /* "model.py:39 forward [mm]": what is in brackets is not cut while it takes at
                     most half; the rest as a site */
};

/* Adds text cut to at most `columns`, which must be at least 4. Returns the columns used. */
size_t text_fit(struct buffer *out, const char *bytes, size_t size, size_t columns, enum cut cut);

#endif
