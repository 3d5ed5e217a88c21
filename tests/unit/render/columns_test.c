/* Compares the lists of columns in the manual pages with the fields of the row types. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "render/analyze/growth.h"
#include "render/diff/rows.h"
#include "render/export/export.h"
#include "unit/render/render.h"

/* The lines of a manual page from the one that begins with `start` up to, but without, the next
 * that begins with `end`. */
static struct buffer section(const char *page, const char *start, const char *end)
{
    struct buffer path = BUFFER_INIT, text = BUFFER_INIT;
    const char *srcdir = getenv("srcdir");
    char line[512];
    bool is_in = false;
    buffer_printf(&path, "%s/man/%s", srcdir ? srcdir : ".", page);
    FILE *file = fopen(path.bytes, "r");
    ck_assert_msg(file != NULL, "cannot read %s", path.bytes);
    while (fgets(line, sizeof(line), file)) {
        if (is_in && strncmp(line, end, strlen(end)) == 0)
            break;
        is_in = is_in || strncmp(line, start, strlen(start)) == 0;
        if (is_in)
            buffer_puts(&text, line);
    }
    fclose(file);
    buffer_release(&path);
    ck_assert_msg(text.size > 0, "%s has no '%s'", page, start);
    return text;
}

/* Position of a word that is not part of another word, or NULL. */
static const char *find_word(const char *text, const char *word)
{
    size_t size = strlen(word);
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++) {
        char before = at > text ? at[-1] : ' ', after = at[size];
        if (!isalnum((unsigned char)before) && before != '_' && !isalnum((unsigned char)after) &&
            after != '_')
            return at;
    }
    return NULL;
}

static bool is_column(const struct row_type *type, const char *word, size_t size)
{
    for (const struct field *field = type->fields; !field_is_end(field); field++)
        if (field->key && strlen(field->key) == size && memcmp(field->key, word, size) == 0)
            return true;
    return false;
}

/* Every column is documented, and in the right order. */
static void expect_columns(const char *text, const struct row_type *type)
{
    const struct field *fields[FIELDS_MOST];
    size_t count = fields_in_order(type, FIELDS_AS_CELLS, fields);
    for (size_t i = 0; i < count; i++) {
        const char *at = find_word(text, fields[i]->key);
        ck_assert_msg(at != NULL,
                      "the manual does not tell of the column '%s' of '%s', or not in its place",
                      fields[i]->key, type->name);
        text = at + 1;
    }
}

/* Words with an underscore, in bold or italics, are columns of the type. */
static void expect_no_others(const char *text, const struct row_type *type,
                             const char *const *others)
{
    for (const char *at = text; *at;) {
        size_t size = strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789_");
        bool is_name = size > 0 && memchr(at, '_', size);
        for (const char *const *other = others; is_name && *other; other++)
            is_name = strncmp(*other, at, size) != 0 || (*other)[size] != '\0';
        ck_assert_msg(!is_name || is_column(type, at, size), "'%s' has no column '%.*s'",
                      type->name, (int)size, at);
        at += size ? size : 1;
    }
}

START_TEST(exported_tables_are_told)
{
    static const char *const values[] = {"before_range",
                                         "free_completed",
                                         "optimizer_step",
                                         "data_loading",
                                         "active_allocated",
                                         "active_pending_free",
                                         NULL};
    const struct row_type *type = export_tables[_i];
    struct buffer start = BUFFER_INIT;
    buffer_printf(&start, ".SS %s\n", type->name);
    struct buffer text = section("memsnap-export.1", start.bytes, ".S");
    expect_columns(text.bytes, type);
    expect_no_others(text.bytes, type, values);
    buffer_release(&text);
    buffer_release(&start);
}
END_TEST

START_TEST(diff_columns_are_told)
{
    struct buffer text = section("memsnap-diff.1", ".B csv", "by\n");
    expect_columns(text.bytes, &diff_site_type);
    expect_no_others(text.bytes, &diff_site_type, (const char *const[]){NULL});
    buffer_release(&text);
}
END_TEST

/* Lists of the keys of JSON, of which any may be left out of the order. */
static void expect_keys(const char *text, const struct row_type *type)
{
    for (const struct field *field = type->fields; !field_is_end(field); field++)
        ck_assert_msg(!field->key || field->flags & FIELD_NOT_JSON || find_word(text, field->key),
                      "memsnap-analyze(1) does not tell of '%s' in '%s'", field->key, type->name);
}

START_TEST(keys_of_analyze_are_told)
{
    struct buffer text = section("memsnap-analyze.1", ".SH \"STEP TO STEP\"", ".B pending_frees");
    expect_keys(text.bytes, &growth_type);
    buffer_release(&text);
    text = section("memsnap-analyze.1", ".B pending_frees", ".SH");
    expect_keys(text.bytes, &pending_type);
    buffer_release(&text);
}
END_TEST

TCase *columns_tests(void)
{
    TCase *tests = tcase_create("columns");
    tcase_add_loop_test(tests, exported_tables_are_told, 0, EXPORT_TABLES);
    tcase_add_test(tests, diff_columns_are_told);
    tcase_add_test(tests, keys_of_analyze_are_told);
    return tests;
}
