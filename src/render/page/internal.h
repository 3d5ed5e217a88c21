/* Shared by the files of the page. */
#ifndef MEMSNAP_RENDER_PAGE_INTERNAL_H
#define MEMSNAP_RENDER_PAGE_INTERNAL_H

#include "render/page/html.h"
#include "render/page/run_internal.h"

/* The files of src/render/page, and the hashes of two of them as the content security policy names
 * them: base64 of SHA-256. */
extern const unsigned char html_frame[], html_style[], html_script[];
extern const size_t html_frame_size, html_style_size, html_script_size;
extern const char html_style_hash[], html_script_hash[];

/* Raw bytes, as escape_markup() leaves them. */
bool html_put_text(FILE *out, const char *bytes, size_t size, struct error *err);
/* The data that the script reads: one JSON value, without "<". */
bool html_put_data(FILE *out, const struct html_page *page, struct error *err);
/* The still picture: SVG. */
bool html_put_still(FILE *out, const struct html_page *page, struct error *err);

#endif
