/* The fields of call sites, in `memsnap analyze` (text and JSON) and in `memsnap export --table
 * sites`. A new column is a member of struct site_group and a line in site_type.c. */
#ifndef MEMSNAP_RENDER_CORE_SITE_TYPE_H
#define MEMSNAP_RENDER_CORE_SITE_TYPE_H

#include "analysis/report/report.h"
#include "render/core/fields.h"

#define CALL_SITE_LEAST 20 /* columns of text for a call site */

/* struct site_row; context->user is a struct site_context in records, context->whole the bytes of
 * all rows in text. */
extern const struct row_type site_type;

struct site_context {
    struct site_table *sites;
    uint32_t device;
};

#endif
