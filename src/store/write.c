#include <string.h>

#include "base/buffer.h"
#include "store/internal.h"

static void bind_text(sqlite3_stmt *statement, int parameter, const char *text)
{
    if (text && *text)
        sqlite3_bind_text(statement, parameter, text, -1, SQLITE_STATIC);
    else
        sqlite3_bind_null(statement, parameter);
}

/* Members that cannot be negative have SUMMARY_UNKNOWN where nothing is known. */
static void bind_known(sqlite3_stmt *statement, int parameter, int64_t number, bool may_be_negative)
{
    if (number == SUMMARY_UNKNOWN && !may_be_negative)
        sqlite3_bind_null(statement, parameter);
    else
        sqlite3_bind_int64(statement, parameter, number);
}

/* How the curve was made says nothing without the curve, which is not stored. The tables are those
 * of version 1 of summaries. */
static bool is_stored(const struct summary_member *member)
{
    return !member->is_new && strcmp(member->key, "by_time") != 0;
}

static bool may_be_negative(const struct summary_member *member)
{
    static const char *const signed_members[] = {"device", "peak_event", "growth_bytes"};
    for (size_t i = 0; i < sizeof(signed_members) / sizeof(signed_members[0]); i++)
        if (strcmp(member->key, signed_members[i]) == 0)
            return true;
    return false;
}

/* The columns are the members of a summary's device. */
static bool prepare_rank(struct store *store, struct error *err)
{
    struct buffer sql = BUFFER_INIT;
    int parameters = 3;
    buffer_puts(&sql, "INSERT INTO ranks(run, rank, path");
    for (const struct summary_member *member = summary_device_members; member->key; member++) {
        if (!is_stored(member))
            continue;
        buffer_printf(&sql, ", %s", member->key);
        parameters++;
    }
    buffer_puts(&sql, ") VALUES(?");
    while (--parameters > 0)
        buffer_puts(&sql, ", ?");
    buffer_puts(&sql, ")");
    bool ok = !sql.failed || error_out_of_memory(err);
    ok = ok && store_prepare(store, sql.bytes, &store->insert_rank, err);
    buffer_release(&sql);
    return ok;
}

static bool insert_run(struct store *store, const struct store_run *run, struct error *err)
{
    sqlite3_stmt *insert;
    if (!store_prepare(store, "INSERT INTO runs(name, commit_id, time, failed) VALUES(?, ?, ?, ?)",
                       &insert, err))
        return false;
    sqlite3_bind_text(insert, 1, run->name, -1, SQLITE_STATIC);
    bind_text(insert, 2, run->commit);
    sqlite3_bind_int64(insert, 3, run->time_s);
    sqlite3_bind_int64(insert, 4, (int64_t)run->failed);
    bool ok = store_step(store, insert, err);
    sqlite3_finalize(insert);
    store->run = sqlite3_last_insert_rowid(store->handle);
    return ok;
}

bool store_begin_run(struct store *store, const struct store_run *run, struct error *err)
{
    return store_run_sql(store, "BEGIN IMMEDIATE", err) && insert_run(store, run, err) &&
           prepare_rank(store, err) &&
           store_prepare(store, "INSERT OR IGNORE INTO categories VALUES(?, ?, ?, ?)",
                         &store->insert_category, err) &&
           store_prepare(store, "INSERT INTO sites VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
                         &store->insert_site, err);
}

static void bind_member(sqlite3_stmt *insert, int parameter, const struct summary_member *member,
                        const void *at)
{
    switch (member->kind) {
    case SUMMARY_INTEGER:
        bind_known(insert, parameter, *(const int64_t *)at, may_be_negative(member));
        break;
    case SUMMARY_COUNT:
        sqlite3_bind_int64(insert, parameter, (int64_t) * (const uint64_t *)at);
        break;
    case SUMMARY_FLAG:
        sqlite3_bind_int(insert, parameter, *(const bool *)at);
        break;
    default:
        bind_text(insert, parameter, *(const char *const *)at);
    }
}

static bool add_rank(struct store *store, const struct summary *summary,
                     const struct summary_device *device, int64_t *id, struct error *err)
{
    sqlite3_stmt *insert = store->insert_rank;
    int parameter = 1;
    sqlite3_bind_int64(insert, parameter++, store->run);
    bind_known(insert, parameter++, summary->rank, false);
    bind_text(insert, parameter++, summary->path);
    for (const struct summary_member *member = summary_device_members; member->key; member++)
        if (is_stored(member))
            bind_member(insert, parameter++, member, (const char *)device + member->offset);
    bool ok = store_step(store, insert, err);
    *id = sqlite3_last_insert_rowid(store->handle);
    return ok;
}

static bool add_category(struct store *store, int64_t id, const struct summary_category *category,
                         struct error *err)
{
    sqlite3_bind_int64(store->insert_category, 1, id);
    sqlite3_bind_text(store->insert_category, 2, category->name, -1, SQLITE_STATIC);
    sqlite3_bind_int64(store->insert_category, 3, category->bytes);
    sqlite3_bind_int64(store->insert_category, 4, (int64_t)category->count);
    return store_step(store, store->insert_category, err);
}

static bool add_site(struct store *store, int64_t id, size_t place, const struct summary_site *site,
                     struct error *err)
{
    sqlite3_stmt *insert = store->insert_site;
    sqlite3_bind_int64(insert, 1, id);
    sqlite3_bind_int64(insert, 2, (int64_t)place);
    bind_text(insert, 3, site->site);
    bind_text(insert, 4, site->op);
    bind_text(insert, 5, site->category);
    sqlite3_bind_int64(insert, 6, site->bytes);
    sqlite3_bind_int64(insert, 7, (int64_t)site->count);
    bind_text(insert, 8, site->stack);
    return store_step(store, insert, err);
}

static bool add_device(struct store *store, const struct summary *summary,
                       const struct summary_device *device, struct error *err)
{
    int64_t id;
    bool ok = add_rank(store, summary, device, &id, err);
    for (size_t i = 0; ok && i < device->category_count; i++)
        ok = add_category(store, id, &device->categories[i], err);
    for (size_t i = 0; ok && i < device->site_count; i++)
        ok = add_site(store, id, i, &device->sites[i], err);
    return ok;
}

bool store_add(struct store *store, const struct summary *summary, struct error *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < summary->device_count; i++)
        ok = add_device(store, summary, &summary->devices[i], err);
    return ok;
}

bool store_commit_run(struct store *store, struct error *err)
{
    return store_run_sql(store, "COMMIT", err);
}
