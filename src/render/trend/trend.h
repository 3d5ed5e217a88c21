/* Output of `memsnap trend`, described in memsnap-trend(1). */
#ifndef MEMSNAP_RENDER_TREND_TREND_H
#define MEMSNAP_RENDER_TREND_TREND_H

#include "model/trend.h"
#include "render/core/page.h"

/* All return false if out of memory; the output is then incomplete. trend_csv() also sets the
 * error. */
bool trend_text_report(const struct page *page, const struct trend *trend);
bool trend_json(FILE *out, const struct trend *trend); /* memsnap.trend/1, one line */
bool trend_csv(FILE *out, const struct trend *trend, struct error *err);

#endif
