/* A picture over time as a self-contained interactive HTML page: a canvas that zooms, with all its
 * data inside the page, and a static picture for browsers without JavaScript.
 *
 * The page loads nothing from anywhere, and its content security policy forbids it: the browser
 * runs only the page's own script and style, which the policy names by their hashes. Text from the
 * input is data in JSON, made visible by escape_text(). The script shows it as text, never as
 * markup.
 *
 * Bounded: at most HTML_COLUMNS moments, HTML_BANDS allocations, LIVES_BYTES for blocks, and as
 * much text and as many frames as stacks.h allows. That is below 15 MB for any input. */
#ifndef MEMSNAP_RENDER_PAGE_HTML_H
#define MEMSNAP_RENDER_PAGE_HTML_H

#include <stdio.h>

#include "analysis/category/category.h"
#include "analysis/curves/bands.h"
#include "analysis/curves/category_curves.h"
#include "analysis/phase/rows.h"
#include "analysis/replay/lives.h"

#define HTML_COLUMNS 65536
#define HTML_BANDS   50000
#define HTML_STILL   600 /* columns of the still picture */

/* Nothing is owned. */
struct html_page {
    const char *title; /* raw bytes */
    bool by_time;      /* the initial axis */
    const char *colour;
    const struct timeline *timeline;
    struct site_table *sites;
    const struct categories *categories;
    const struct phase_rows *phases;
    const struct sampling *sampling;      /* by event, at most HTML_COLUMNS */
    const struct bands *bands;            /* of `sampling` */
    const struct sampling *still;         /* at most HTML_STILL columns */
    const struct category_curves *curves; /* of `still` */
    const struct lives *lives;
};

bool html_write(const struct html_page *page, FILE *out, struct error *err);

#endif
