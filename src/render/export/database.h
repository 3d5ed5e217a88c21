/* A capture as an SQLite database: `memsnap export -o capture.sqlite`. memsnap-export(1) describes
 * its tables and views. */
#ifndef MEMSNAP_RENDER_EXPORT_DATABASE_H
#define MEMSNAP_RENDER_EXPORT_DATABASE_H

#include "render/export/export.h"

struct export_database;

/* Begins a database in the empty file `fd`, which must be open to read and write and stays the
 * caller's. STATUS_USAGE if memsnap was built without SQLite. */
struct export_database *export_database_begin(int fd, const struct snapshot *snapshot,
                                              struct site_table *sites, struct error *err);
/* Adds what belongs to one device. `*doubt`: why the segments at the peak are unreliable, or NULL.
 */
bool export_database_device(struct export_database *database, const struct export_device *device,
                            const char **doubt, struct error *err);
/* Adds what belongs to no device, and completes the file. */
bool export_database_end(struct export_database *database, struct error *err);
void export_database_release(struct export_database *database); /* NULL is allowed */

#endif
