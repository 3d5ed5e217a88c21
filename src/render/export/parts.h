/* Cells that several tables of a loaded capture have. */
#ifndef MEMSNAP_RENDER_EXPORT_PARTS_H
#define MEMSNAP_RENDER_EXPORT_PARTS_H

#include "analysis/live/source.h"
#include "render/export/export.h"

/* Category and confidence, and with `reason` why. */
void export_category(struct export_sheet *sheet, const struct live_set *set,
                     const struct live *live, bool reason);
/* Label of the call site, operator and stack, and with `forward` the forward stack. */
bool export_source(struct export_sheet *sheet, const struct live_set *set, const struct live *live,
                   bool forward, struct error *err);
/* Label and operator of a source; none where it has no stack. */
bool export_source_label(struct export_sheet *sheet, const struct live_set *set,
                         const struct live_source *source, struct error *err);
/* The name of a category: a user's own may be any text. */
void export_category_name(struct export_sheet *sheet, enum category category);

#endif
