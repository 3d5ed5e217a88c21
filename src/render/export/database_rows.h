/* The rows that only an exported database has. */
#ifndef MEMSNAP_RENDER_EXPORT_DATABASE_ROWS_H
#define MEMSNAP_RENDER_EXPORT_DATABASE_ROWS_H

#include "analysis/live/source.h"
#include "render/export/internal.h"

extern const struct row_type export_device_type, export_category_type, export_single_frame_type,
    export_stack_type, export_stack_frame_type, export_step_type, export_phase_type,
    export_setting_type;

/* Each writes all rows of a table. The sheet writes into that table. */
bool export_device_row(struct export_sheet *sheet, const struct export_device *device,
                       struct error *err);
bool export_category_rows(struct export_sheet *sheet, const struct export_device *device,
                          struct error *err);
bool export_step_rows(struct export_sheet *sheet, const struct export_device *device,
                      struct error *err);
bool export_phase_rows(struct export_sheet *sheet, const struct export_device *device,
                       struct error *err);
bool export_event_rows(struct export_sheet *sheet, const struct export_device *device,
                       struct error *err);
bool export_frame_rows(struct export_sheet *sheet, struct error *err);
bool export_stack_rows(struct export_sheet *sheet, struct error *err);
bool export_stack_frame_rows(struct export_sheet *sheet, struct error *err);

#endif
