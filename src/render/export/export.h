/* The tables of `memsnap export`: which columns each has, and its rows. memsnap-export(1) says what
 * every column holds. */
#ifndef MEMSNAP_RENDER_EXPORT_EXPORT_H
#define MEMSNAP_RENDER_EXPORT_EXPORT_H

#include "analysis/category/category.h"
#include "analysis/phase/steps.h"
#include "model/timeline.h"
#include "render/core/rows.h"

enum export_table {
    EXPORT_ALLOCATIONS,
    EXPORT_EVENTS,
    EXPORT_SEGMENTS,
    EXPORT_BLOCKS,
    EXPORT_SITES,
    EXPORT_STACKS,
    EXPORT_ANNOTATIONS,
    EXPORT_TABLES,
};

extern const struct row_type *const export_tables[EXPORT_TABLES];

/* The output of the rows, with caches of their text. Must not be moved. */
struct export_sheet {
    struct record_writer records; /* must be first: functions of fields get the sheet from it */
    struct site_table *sites;     /* not owned; of those symbols that the rows refer to */
    struct record_cells strings, labels, operators; /* by string, by stack, by stack */
    const struct live_set *set;                     /* not owned; of tables of a loaded capture */
    struct field_context context;
};

/* A sheet whose rows go to no table yet. */
void export_sheet_init(struct export_sheet *sheet, struct site_table *sites, struct budget *budget);
bool export_begin(struct export_sheet *sheet, FILE *out, enum record_format format,
                  enum export_table table, struct site_table *sites, struct budget *budget,
                  struct error *err);
/* Writes the buffered rows. The sheet must still be released afterwards. */
bool export_end(struct export_sheet *sheet, struct error *err);
void export_release(struct export_sheet *sheet);

/* Rows while the file is being read. `position` is the event's index in the device's trace, and
 * `event` its index in the file. */
bool export_event(struct export_sheet *sheet, uint32_t device, uint64_t position, uint64_t event,
                  const struct event_row *row, struct error *err);
bool export_annotation(struct export_sheet *sheet, const struct annotation_row *row,
                       struct error *err);
/* Writes all stacks of the symbols, once the symbols are complete. */
bool export_stacks(struct export_sheet *sheet, struct error *err);

/* The loaded data of one device of a capture. */
struct export_device {
    const struct timeline *timeline;
    const struct phases *phases;
    const struct steps *steps;
    const struct categories *categories;
};

bool export_allocations(struct export_sheet *sheet, const struct export_device *device,
                        struct error *err);
/* Writes the allocations live after trace item `item`, by call site. */
bool export_sites(struct export_sheet *sheet, const struct export_device *device, int64_t item,
                  struct error *err);
/* Writes the segments or blocks after `item` of a whole trace; with `at_dump`, as the file lists
 * them. `*doubt`: why they are unreliable, or NULL. */
bool export_layout(struct export_sheet *sheet, const struct export_device *device,
                   enum export_table table, bool at_dump, int64_t item, const char **doubt,
                   struct error *err);

#endif
