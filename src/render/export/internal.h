/* The row types of exported tables, and what their rows share. */
#ifndef MEMSNAP_RENDER_EXPORT_INTERNAL_H
#define MEMSNAP_RENDER_EXPORT_INTERNAL_H

#include "analysis/live/source.h"
#include "render/export/export.h"

extern const struct row_type export_allocation_type, export_event_type, export_segment_type,
    export_block_type, export_frame_type, export_annotation_type;

/* "user", "library", "native" */
const char *export_frame_kind_name(unsigned kind);

bool export_row(struct export_sheet *sheet, const void *row, struct error *err);

/* Cells, of a sheet's own writer: the label of a stack's call site, and its operator. Each is made
 * once for a stack. */
bool export_put_label(struct record_writer *records, stack_id stack, struct error *err);
bool export_put_operator(struct record_writer *records, stack_id stack, struct error *err);
/* The same of the source of a live allocation. */
bool export_put_source_label(struct record_writer *records, const struct live_source *source,
                             struct error *err);
bool export_put_source_operator(struct record_writer *records, const struct live_source *source,
                                struct error *err);

#endif
