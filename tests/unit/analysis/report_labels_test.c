#include "analysis/labels.h"

#include <string.h>

#include "unit/analysis/analysis.h"

static struct budget budget;
static struct symbols *symbols;
static struct label_files files;
static struct error err;

static void create(void)
{
    budget = (struct budget){.limit = 1 << 20};
    symbols = symbols_create(&budget, &err);
    ck_assert_ptr_nonnull(symbols);
    label_files_init(&files, symbols, &budget);
}

static void destroy(void)
{
    label_files_release(&files);
    symbols_destroy(symbols);
    ck_assert_uint_eq(budget.used, 0);
}

static void add_all(const char *const *paths, string_id *ids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ck_assert(symbols_string(symbols, paths[i], strlen(paths[i]), &ids[i], &err));
        ck_assert(label_files_add(&files, ids[i], &err));
    }
    for (size_t i = 0; i < count; i++)
        ck_assert(label_files_add(&files, ids[i], &err));
    label_files_settle(&files);
}

static void check(string_id id, const char *shown)
{
    struct text path = symbols_text(symbols, id);
    size_t size = label_files_size(&files, id);
    ck_assert_uint_eq(size, strlen(shown));
    ck_assert_str_eq(path.bytes + path.size - size, shown);
}

START_TEST(parents_are_added_until_files_differ)
{
    static const char *const paths[] = {
        "/a/x/model.py", "/b/x/model.py",      "/b/y/model.py",  "model.py",
        "/b/y/other.py", "C:\\w\\y\\model.py", "/z/bigmodel.py",
    };
    static const char *const shown[] = {
        "a/x/model.py", "b/x/model.py", "y/model.py",  "model.py",
        "other.py",     "y\\model.py",  "bigmodel.py",
    };
    string_id ids[7];
    add_all(paths, ids, 7);
    for (size_t i = 0; i < 7; i++)
        check(ids[i], shown[i]);
}
END_TEST

START_TEST(odd_paths)
{
    static const char *const paths[] = {"", "/", "//", "/x/model.py", "x/model.py", "//x/model.py"};
    string_id ids[6];
    add_all(paths, ids, 6);
    for (size_t i = 0; i < 6; i++) {
        for (size_t j = 0; j < i; j++) {
            struct text a = symbols_text(symbols, ids[i]), b = symbols_text(symbols, ids[j]);
            ck_assert_str_ne(a.bytes + a.size - label_files_size(&files, ids[i]),
                             b.bytes + b.size - label_files_size(&files, ids[j]));
        }
    }
}
END_TEST

START_TEST(no_files)
{
    label_files_settle(&files);
    ck_assert_uint_eq(label_files_size(&files, STRING_EMPTY), 0);
}
END_TEST

TCase *report_labels_tests(void)
{
    TCase *tests = tcase_create("labels");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, parents_are_added_until_files_differ);
    tcase_add_test(tests, odd_paths);
    tcase_add_test(tests, no_files);
    return tests;
}
