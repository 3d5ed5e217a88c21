/* Results of `memsnap dryrun --fit` as text and JSON (schema memsnap.fit/1). */
#ifndef MEMSNAP_RENDER_FIT_FIT_H
#define MEMSNAP_RENDER_FIT_FIT_H

#include "model/fit.h"
#include "render/core/page.h"

/* Both return false if out of memory; the output is then incomplete. */
bool fit_text(const struct page *page, const struct fit *fit);
bool fit_json(FILE *out, const struct fit *fit);

#endif
