/* What `memsnap backends` prints. memsnap-backends(1) describes it. */
#ifndef MEMSNAP_RENDER_BACKENDS_H
#define MEMSNAP_RENDER_BACKENDS_H

#include "render/core/page.h"
#include "solve/backend/backend.h"

/* A back end, and where it would run here. */
struct backend_row {
    const char *name;
    struct backend_place place;
};

/* False: out of memory, and not all is written. */
bool backends_text(const struct page *page, const struct backend_row *rows, size_t count);
bool backends_json(FILE *out, const struct backend_row *rows, size_t count);

#endif
