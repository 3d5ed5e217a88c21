#include "unit/render/render.h"

#ifdef HAVE_SQLITE
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "render/core/rows.h"
#include "render/sqlite/table.h"

struct thing {
    const char *text, *site, *op;
    int64_t number;
};

static const struct row_type type = ROW_TYPE(
    "things", struct thing, FIELD(struct thing, LABEL, text), FIELD(struct thing, LABEL, site),
    FIELD_AS(struct thing, LABEL, "operator", op), FIELD(struct thing, NUMBER, number));

static const char schema[] = "CREATE TABLE sites(site INTEGER PRIMARY KEY, label, operator);"
                             "CREATE TABLE things(text, site, number, kind)";

static char path[] = "/tmp/memsnap-database-XXXXXX";

struct fixture {
    struct budget budget;
    struct database database;
    struct database_sites sites;
    int fd;
};

static void begin(struct fixture *fixture)
{
    struct error err;
    *fixture = (struct fixture){.budget = {.limit = SIZE_MAX}};
    strcpy(path + sizeof(path) - 7, "XXXXXX");
    fixture->fd = mkstemp(path);
    ck_assert_int_ge(fixture->fd, 0);
    ck_assert(database_create(&fixture->database, fixture->fd, (size_t)64 << 20, &err));
    ck_assert(database_run(&fixture->database, schema, &err));
    ck_assert(database_sites_begin(&fixture->sites, &fixture->database, &fixture->budget, &err));
}

static void put_rows(struct fixture *fixture, const struct thing *things, size_t count)
{
    const struct database_constant kind = {"kind", "same"};
    struct record_writer records = {0};
    struct database_table table;
    struct error err;
    ck_assert(
        database_table_begin(&table, &fixture->sites, "things", &kind, &records, &type, &err));
    for (size_t i = 0; i < count; i++)
        ck_assert(record_put_row(&records, &things[i], &(struct field_context){0}, &err));
    database_table_release(&table);
    records_release(&records);
}

static void end(struct fixture *fixture)
{
    struct error err;
    database_sites_release(&fixture->sites);
    ck_assert(database_commit(&fixture->database, &err));
    database_release(&fixture->database);
    close(fixture->fd);
}

/* The rows of a query by SQLite's own file system: cells end with "|". */
static const char *rows_of(const char *query)
{
    static char text[400];
    sqlite3 *handle;
    sqlite3_stmt *statement;
    size_t used = 0;
    ck_assert_int_eq(sqlite3_open_v2(path, &handle, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_prepare_v2(handle, query, -1, &statement, NULL), SQLITE_OK);
    for (text[0] = '\0'; sqlite3_step(statement) == SQLITE_ROW;)
        for (int i = 0; i < sqlite3_column_count(statement); i++) {
            const char *cell = (const char *)sqlite3_column_text(statement, i);
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s|", cell ? cell : "NULL");
        }
    sqlite3_finalize(statement);
    sqlite3_close(handle);
    unlink(path);
    return text;
}

START_TEST(rows_share_sites)
{
    const struct thing things[] = {{"a'); DROP TABLE things; --", "f", "mul", 1},
                                   {NULL, NULL, NULL, INT64_MIN},
                                   {"\xff\n", "f", "mul", 2},
                                   {"c", "f", NULL, 3}};
    struct fixture fixture;
    begin(&fixture);
    put_rows(&fixture, things, 4);
    end(&fixture);
    ck_assert_str_eq(rows_of("SELECT text, number, kind, label, operator FROM things LEFT JOIN "
                             "sites USING(site) ORDER BY things.rowid"),
                     "a'); DROP TABLE things; --|1|same|f|mul|"
                     "NULL|-9223372036854775808|same|NULL|NULL|"
                     "\\xff\\n|2|same|f|mul|c|3|same|f|NULL|");
}
END_TEST

START_TEST(sites_are_stored_once)
{
    const struct thing things[] = {
        {"a", "f", "mul", 1}, {"b", "f", "mul", 2}, {"c", "fm", "ul", 3}};
    struct fixture fixture;
    begin(&fixture);
    put_rows(&fixture, things, 3);
    end(&fixture);
    ck_assert_str_eq(rows_of("SELECT site, label, operator FROM sites"), "1|f|mul|2|fm|ul|");
}
END_TEST

START_TEST(memory_is_limited)
{
    struct fixture fixture = {.budget = {.limit = SIZE_MAX}};
    struct error err;
    strcpy(path + sizeof(path) - 7, "XXXXXX");
    fixture.fd = mkstemp(path);
    unlink(path);
    ck_assert(!database_create(&fixture.database, fixture.fd, 1000, &err));
    ck_assert_int_eq(err.status, STATUS_LIMIT);
    sqlite3_hard_heap_limit64(0);
    close(fixture.fd);
}
END_TEST

START_TEST(a_file_that_cannot_be_written_is_told)
{
    struct fixture fixture = {.fd = open("/dev/null", O_RDONLY | O_CLOEXEC)};
    struct error err;
    bool ok = database_create(&fixture.database, fixture.fd, (size_t)64 << 20, &err) &&
              database_run(&fixture.database, schema, &err) &&
              database_commit(&fixture.database, &err);
    ck_assert(!ok);
    ck_assert_int_eq(err.status, STATUS_IO);
    ck_assert_str_eq(err.text, "cannot write: Bad file descriptor");
    database_release(&fixture.database);
    close(fixture.fd);
}
END_TEST
#endif

TCase *database_tests(void)
{
    TCase *tests = tcase_create("database");
#ifdef HAVE_SQLITE
    tcase_add_test(tests, rows_share_sites);
    tcase_add_test(tests, sites_are_stored_once);
    tcase_add_test(tests, memory_is_limited);
    tcase_add_test(tests, a_file_that_cannot_be_written_is_told);
#endif
    return tests;
}
