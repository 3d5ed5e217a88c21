/* Output of `memsnap backends`, described in memsnap-backends(1). */
#ifndef MEMSNAP_RENDER_BACKENDS_H
#define MEMSNAP_RENDER_BACKENDS_H

#include "render/core/page.h"
#include "solve/backend/backend.h"

/* A back end, and the device it would run on here. */
struct backend_row {
    const char *name;
    struct backend_place place;
};

/* Returns false if out of memory; the output is then incomplete. */
bool backends_text(const struct page *page, const struct backend_row *rows, size_t count);
bool backends_json(FILE *out, const struct backend_row *rows, size_t count);

#endif
