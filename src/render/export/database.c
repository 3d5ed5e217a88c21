#include "render/export/database.h"

#ifdef HAVE_SQLITE
#include <stdlib.h>

#include "render/export/database_rows.h"
#include "render/export/database_sql.h"
#include "render/sqlite/table.h"

/* The least memory that SQLite is given, in bytes, when the capture has taken nearly all. */
#define SQLITE_LEAST ((size_t)32 << 20)

struct export_database {
    struct database database;
    struct database_sites sites;
    struct export_sheet sheet;
    const struct snapshot *snapshot;
};

static bool prepare(struct export_database *made, int fd, struct site_table *sites,
                    struct error *err)
{
    struct budget *budget = made->snapshot->budget;
    size_t left = budget->limit - budget->used;
    export_sheet_init(&made->sheet, sites, budget);
    if (!database_create(&made->database, fd, left > SQLITE_LEAST ? left : SQLITE_LEAST, err))
        return false;
    if (database_run(&made->database, (const char *)export_database_tables, err) &&
        database_sites_begin(&made->sites, &made->database, budget, err))
        return true;
    database_release(&made->database);
    return false;
}

struct export_database *export_database_begin(int fd, const struct snapshot *snapshot,
                                              struct site_table *sites, struct error *err)
{
    struct export_database *made = calloc(1, sizeof(*made));
    if (!made) {
        error_out_of_memory(err);
        return NULL;
    }
    made->snapshot = snapshot;
    if (prepare(made, fd, sites, err))
        return made;
    export_release(&made->sheet);
    free(made);
    return NULL;
}

void export_database_release(struct export_database *database)
{
    if (!database)
        return;
    export_release(&database->sheet);
    database_sites_release(&database->sites);
    database_release(&database->database);
    free(database);
}

/* The functions that fill one table: of_device() fills in the rows of one device, of_all() all
 * rows. */
struct filler {
    const struct row_type *type;
    bool (*of_device)(struct export_sheet *sheet, const struct export_device *device,
                      struct error *err);
    bool (*of_all)(struct export_sheet *sheet, struct error *err);
};

static bool begin_table(struct export_database *database, struct database_table *table,
                        const struct row_type *type, const struct database_constant *constant,
                        struct error *err)
{
    return database_table_begin(table, &database->sites, type->name, constant,
                                &database->sheet.records, type, err);
}

static bool fill(struct export_database *database, const struct filler *filler,
                 const struct export_device *device, struct error *err)
{
    struct database_table table;
    bool ok = begin_table(database, &table, filler->type, NULL, err) &&
              (device ? filler->of_device(&database->sheet, device, err)
                      : filler->of_all(&database->sheet, err));
    database_table_release(&table);
    return ok;
}

static bool put_layout(struct export_database *database, const struct export_device *device,
                       enum export_table what, bool at_dump, const char **doubt, struct error *err)
{
    const struct database_constant moment = {"moment", at_dump ? "end" : "peak"};
    struct database_table table;
    bool ok = begin_table(database, &table, export_tables[what], &moment, err) &&
              export_layout(&database->sheet, device, what, at_dump,
                            device->timeline->active.peak_event, doubt, err);
    database_table_release(&table);
    return ok;
}

/* The segments and blocks at the end, and at the peak. A range may leave out the end, and then the
 * layout within it is not known. Profilers record no segments. */
static bool put_layouts(struct export_database *database, const struct export_device *device,
                        const char **doubt, struct error *err)
{
    const char *ignored = NULL;
    *doubt = NULL;
    if (device->timeline->snapshot->profile.is_profile)
        return true;
    return put_layout(database, device, EXPORT_SEGMENTS, true, &ignored, err) &&
           put_layout(database, device, EXPORT_BLOCKS, true, &ignored, err) &&
           (device->timeline->trace->file_events != device->timeline->trace->count ||
            (put_layout(database, device, EXPORT_SEGMENTS, false, doubt, err) &&
             put_layout(database, device, EXPORT_BLOCKS, false, &ignored, err)));
}

bool export_database_device(struct export_database *database, const struct export_device *device,
                            const char **doubt, struct error *err)
{
    static const struct filler fillers[] = {
        {&export_device_type, export_device_row, NULL},
        {&export_category_type, export_category_rows, NULL},
        {&export_step_type, export_step_rows, NULL},
        {&export_phase_type, export_phase_rows, NULL},
        {&export_event_type, export_event_rows, NULL},
        {&export_allocation_type, export_allocations, NULL},
    };
    for (size_t i = 0; i < sizeof(fillers) / sizeof(fillers[0]); i++)
        if (!fill(database, &fillers[i], device, err))
            return false;
    return put_layouts(database, device, doubt, err);
}

static bool put_annotations(struct export_database *database, struct error *err)
{
    const struct snapshot *snapshot = database->snapshot;
    struct database_table table;
    bool ok = begin_table(database, &table, &export_annotation_type, NULL, err);
    for (size_t i = 0; ok && i < snapshot->annotation_count; i++)
        ok = export_annotation(&database->sheet, &snapshot->annotations[i], err);
    database_table_release(&table);
    return ok;
}

static bool put_settings(struct export_database *database, struct error *err)
{
    const struct snapshot *snapshot = database->snapshot;
    struct database_table table;
    bool ok = begin_table(database, &table, &export_setting_type, NULL, err);
    for (size_t i = 0; ok && i < snapshot->setting_count; i++)
        ok = export_row(&database->sheet, &snapshot->settings[i], err);
    database_table_release(&table);
    return ok;
}

bool export_database_end(struct export_database *database, struct error *err)
{
    static const struct filler fillers[] = {
        {&export_single_frame_type, NULL, export_frame_rows},
        {&export_stack_type, NULL, export_stack_rows},
        {&export_stack_frame_type, NULL, export_stack_frame_rows},
    };
    for (size_t i = 0; i < sizeof(fillers) / sizeof(fillers[0]); i++)
        if (!fill(database, &fillers[i], NULL, err))
            return false;
    return put_annotations(database, err) && put_settings(database, err) &&
           database_run(&database->database, (const char *)export_database_views, err) &&
           database_commit(&database->database, err);
}

#else

struct export_database *export_database_begin(int fd, const struct snapshot *snapshot,
                                              struct site_table *sites, struct error *err)
{
    (void)fd, (void)snapshot, (void)sites;
    error_set(err, STATUS_USAGE, "memsnap was built without SQLite");
    return NULL;
}

bool export_database_device(struct export_database *database, const struct export_device *device,
                            const char **doubt, struct error *err)
{
    (void)database, (void)device, (void)doubt, (void)err;
    return false;
}

bool export_database_end(struct export_database *database, struct error *err)
{
    (void)database, (void)err;
    return false;
}

void export_database_release(struct export_database *database)
{
    (void)database;
}
#endif
