/* Texts in the page of a run. */
#include <string.h>

#include "base/units.h"
#include "render/core/escape.h"
#include "render/page/run_internal.h"
#include "render/ranks/rows.h"

void run_add_text(struct buffer *out, const char *text)
{
    escape_markup(out, text, strlen(text));
}

void run_add_bytes(struct buffer *out, int64_t bytes)
{
    char text[UNITS_TEXT_SIZE];
    buffer_puts(out, units_bytes(text, bytes, UNIT_AUTO));
}

void run_add_link(struct buffer *out, const struct ranks *ranks, size_t row,
                  const struct run_details *details)
{
    struct buffer name = BUFFER_INIT;
    bool has = details->texts[row].size > 0;
    add_row_name(&name, &ranks->rows[row]);
    buffer_putc(&name, '\0');
    if (has)
        buffer_printf(out, "<a href=\"#r%zu\">", row);
    run_add_text(out, name.failed ? "" : name.bytes);
    buffer_puts(out, has ? "</a>" : "");
    out->failed |= name.failed;
    buffer_release(&name);
}

void run_add_site(struct buffer *out, const struct summary_site *site)
{
    run_add_text(out, site->site);
    if (!*site->op)
        return;
    buffer_puts(out, " [");
    run_add_text(out, site->op);
    buffer_puts(out, "]");
}
