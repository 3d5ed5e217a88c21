#include "analysis/code/labels.h"

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

/* "..." and the end of a file, the beginning of a function and "...". */
START_TEST(long_names_are_cut_at_characters)
{
    char name[2 * LABEL_NAME_MOST + 1], shown[LABEL_NAME_MOST + 8];
    struct buffer label = BUFFER_INIT;
    for (size_t i = 0; i < sizeof(name) - 1; i += 2)
        memcpy(name + i, "\xc3\xa9", 2);
    name[sizeof(name) - 1] = '\0';
    struct text inside = {name + 1, sizeof(name) - 2}, fits = {name, LABEL_NAME_MOST};
    memcpy(shown, name + 1, LABEL_NAME_MOST - 1);
    strcpy(shown + LABEL_NAME_MOST - 1, "...");
    label_add_name(&label, inside);
    ck_assert_str_eq(label.bytes, shown);
    buffer_clear(&label);
    label_add_name(&label, fits);
    ck_assert_uint_eq(label.size, LABEL_NAME_MOST);

    buffer_clear(&label);
    label_add_file(&label, (struct text){name, sizeof(name) - 1}, sizeof(name) - 2);
    ck_assert_uint_eq(label.size, 3 + LABEL_NAME_MOST);
    ck_assert_int_eq(strncmp(label.bytes, "...\xc3", 4), 0);
    buffer_clear(&label);
    label_add_file(&label, (struct text){"/x/model.py", 11}, 8);
    ck_assert_str_eq(label.bytes, "model.py");
    buffer_clear(&label);
    label_add_file(&label, (struct text){"/x/\xa9.py", 7}, 4);
    ck_assert_str_eq(label.bytes, "\xa9.py");
    buffer_release(&label);
}
END_TEST

/* Nothing that prints or compares a label may stop at a NUL byte of a name. */
START_TEST(nul_bytes_are_shown)
{
    static const struct text names[] = {{"f\0a", 3}, {"f\0b", 3}, {"f", 1},
                                        {"\0", 1},   {"", 0},     {"f\0", 2}};
    const char *kept[12];
    struct buffer label = BUFFER_INIT;
    for (size_t i = 0; i < 12; i++) {
        if (i < 6)
            label_add_name(&label, names[i]);
        else
            label_add_file(&label, names[i - 6], names[i - 6].size);
        ck_assert(label_keep(symbols, &label, &kept[i], &err));
        for (size_t k = i < 6 ? 0 : 6; k < i; k++)
            ck_assert_str_ne(kept[k], kept[i]);
    }
    ck_assert_str_eq(kept[0], "f\\x00a");
    ck_assert_str_eq(kept[4], "");
    ck_assert_str_eq(kept[6], "f\\x00a");
    buffer_release(&label);
}
END_TEST

TCase *labels_tests(void)
{
    TCase *tests = tcase_create("labels");
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, parents_are_added_until_files_differ);
    tcase_add_test(tests, odd_paths);
    tcase_add_test(tests, no_files);
    tcase_add_test(tests, long_names_are_cut_at_characters);
    tcase_add_test(tests, nul_bytes_are_shown);
    return tests;
}
