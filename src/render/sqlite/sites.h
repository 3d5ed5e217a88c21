/* The table of call sites: each pair of a label and an operator once, with a number. */
#ifndef MEMSNAP_RENDER_SQLITE_SITES_H
#define MEMSNAP_RENDER_SQLITE_SITES_H

#include "base/arena.h"
#include "base/idtable.h"
#include "base/text.h"
#include "render/sqlite/database.h"

struct database_site {
    struct text label, op;
};

struct database_sites {
    struct database *database;
    struct database_site *items; /* item i has the number i + 1 */
    size_t count, capacity;
    struct idtable table;
    struct arena texts;
    sqlite3_stmt *insert;
};

bool database_sites_begin(struct database_sites *sites, struct database *database,
                          struct budget *budget, struct error *err);
void database_sites_release(struct database_sites *sites);

/* The number of a site, which is added to the table if it is new. The texts are copied. */
bool database_site_number(struct database_sites *sites, struct text label, struct text op,
                          int64_t *number, struct error *err);

#endif
