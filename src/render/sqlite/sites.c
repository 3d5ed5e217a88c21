#include "render/sqlite/sites.h"

#include <string.h>

#include "base/hash.h"

bool database_sites_begin(struct database_sites *sites, struct database *database,
                          struct budget *budget, struct error *err)
{
    *sites = (struct database_sites){.database = database};
    arena_init(&sites->texts, budget);
    return database_prepare(database, "INSERT INTO sites(site, label, operator) VALUES(?, ?, ?)",
                            &sites->insert, err);
}

void database_sites_release(struct database_sites *sites)
{
    struct budget *budget = sites->texts.budget;
    sqlite3_finalize(sites->insert);
    idtable_release(&sites->table, budget);
    vec_free(sites->items, sites->capacity, sizeof(*sites->items), budget);
    arena_release(&sites->texts);
}

static bool same_site(const void *items, uint32_t id, const void *wanted)
{
    const struct database_site *a = (const struct database_site *)items + id, *b = wanted;
    return text_same(a->label, b->label) && text_same(a->op, b->op);
}

static bool copy_text(struct database_sites *sites, struct text *text, struct error *err)
{
    char *copy = arena_alloc(&sites->texts, text->size, err);
    if (!copy)
        return false;
    if (text->size > 0)
        memcpy(copy, text->bytes, text->size);
    text->bytes = copy;
    return true;
}

static void bind_text(sqlite3_stmt *statement, int parameter, struct text text)
{
    if (text.size > 0)
        sqlite3_bind_text(statement, parameter, text.bytes, (int)text.size, SQLITE_STATIC);
    else
        sqlite3_bind_null(statement, parameter);
}

static bool add_site(struct database_sites *sites, struct database_site site, uint32_t tag,
                     struct error *err)
{
    uint32_t id = (uint32_t)sites->count;
    if (id >= IDTABLE_MAX_ID)
        return error_set(err, STATUS_LIMIT, "too many call sites");
    if (!copy_text(sites, &site.label, err) || !copy_text(sites, &site.op, err) ||
        !vec_push(sites->items, sites->count, sites->capacity, sites->texts.budget, err, site) ||
        !idtable_add(&sites->table, tag, id, sites->texts.budget, err))
        return false;
    sqlite3_bind_int64(sites->insert, 1, (int64_t)id + 1);
    bind_text(sites->insert, 2, site.label);
    bind_text(sites->insert, 3, site.op);
    return database_step(sites->database, sites->insert, err);
}

bool database_site_number(struct database_sites *sites, struct text label, struct text op,
                          int64_t *number, struct error *err)
{
    const struct database_site site = {label, op};
    uint64_t hash = hash_bytes(label.bytes, label.size, hash_seed());
    uint32_t tag = (uint32_t)hash_bytes(op.bytes, op.size, hash), id;
    if (!idtable_find(&sites->table, tag, same_site, sites->items, &site, &id)) {
        id = (uint32_t)sites->count;
        if (!add_site(sites, site, tag, err))
            return false;
    }
    *number = (int64_t)id + 1;
    return true;
}
