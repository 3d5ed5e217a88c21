/* YAML as inert values: scalars, Python's tags, aliases, and the limits. */
#include <string.h>

#include "base/buffer.h"
#include "decode/core/input.h"
#include "decode/yaml/value.h"
#include "unit/unit.h"

/* A document that was read. */
struct document {
    struct input input;
    struct symbols *symbols;
    struct values values;
    value root;
    struct error err;
    bool ok;
};

static void read_bytes(struct document *document, const char *bytes, size_t size)
{
    ck_assert(input_from_memory(&document->input, bytes, size, 64 << 20, &document->err));
    document->symbols = symbols_create(document->input.budget, &document->err);
    ck_assert(document->symbols != NULL);
    document->ok = decode_yaml_value(&document->input.source, document->symbols, &document->values,
                                     &document->root, &document->err);
}

static void read_text(struct document *document, const char *text)
{
    read_bytes(document, text, strlen(text));
}

/* Nothing may be counted in the budget afterwards. */
static void release(struct document *document)
{
    if (document->ok)
        values_release(&document->values);
    symbols_destroy(document->symbols);
    struct budget *budget = document->input.budget;
    input_close(&document->input);
    ck_assert_uint_eq(budget->used, 0);
    free(budget);
}

static void fails(const char *text, enum status status, const char *message)
{
    struct document document;
    read_text(&document, text);
    ck_assert(!document.ok);
    ck_assert_int_eq(document.err.status, status);
    ck_assert_str_eq(document.err.text, message);
    release(&document);
}

static value item(const struct document *document, value v, size_t index)
{
    const value *items;
    size_t count;
    ck_assert(value_sequence(&document->values, v, &items, &count));
    ck_assert_uint_lt(index, count);
    return items[index];
}

static value member(const struct document *document, value v, const char *key)
{
    const value *pairs;
    size_t count;
    ck_assert(value_mapping(&document->values, v, &pairs, &count));
    for (size_t i = 0; i < count; i++)
        if (value_tag(pairs[2 * i]) == TAG_STRING &&
            text_equals(symbols_text(document->symbols, value_payload(pairs[2 * i])), key))
            return pairs[2 * i + 1];
    ck_abort_msg("no key %s", key);
}

START_TEST(scalars_have_types)
{
    struct document document;
    int64_t integer;
    uint64_t natural;
    read_text(&document, "[1, -3, 9223372036854775807, 18446744073709551615, 1.5e+3, true, ~, a.b, "
                         "'7', 010, -9223372036854775809, 0.1.2]");
    ck_assert_msg(document.ok, "%s", document.err.text);
    static const char *const kinds[] = {"an int",   "an int",   "an int",   "an int",
                                        "a float",  "a bool",   "None",     "a string",
                                        "a string", "a string", "a string", "a string"};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        ck_assert_str_eq(value_kind_name(&document.values, item(&document, document.root, i)),
                         kinds[i]);
    ck_assert(value_to_i64(&document.values, item(&document, document.root, 1), &integer));
    ck_assert_int_eq(integer, -3);
    ck_assert(value_to_u64(&document.values, item(&document, document.root, 3), &natural));
    ck_assert_uint_eq(natural, UINT64_MAX);
    value real = item(&document, document.root, 4);
    ck_assert(value_node(&document.values, real)->as.real == 1500.0);
    release(&document);
}
END_TEST

START_TEST(tags_are_inert)
{
    struct document document;
    int64_t integer;
    read_text(&document, "!!python/object/apply:collections.defaultdict\n"
                         "args:\n- !!python/name:builtins.dict ''\n"
                         "dictitems:\n  k: 5\n");
    ck_assert_msg(document.ok, "%s", document.err.text);
    ck_assert(value_is_node(&document.values, document.root, NODE_OBJECT));
    ck_assert(value_to_i64(&document.values, member(&document, document.root, "k"), &integer));
    ck_assert_int_eq(integer, 5);
    const value *parts = value_node(&document.values, document.root)->as.items;
    const struct node *class = value_node(&document.values, parts[OBJECT_CLASS]);
    ck_assert_int_eq(class->kind, NODE_GLOBAL);
    ck_assert(text_equals(symbols_text(document.symbols, value_payload(class->as.items[0])),
                          "collections"));
    ck_assert(value_is_node(&document.values, item(&document, parts[OBJECT_ARGS], 0), NODE_GLOBAL));
    release(&document);
    read_text(&document, "!!python/object/apply:os.system ['echo']");
    ck_assert(document.ok);
    ck_assert(value_is_node(&document.values, document.root, NODE_OBJECT));
    release(&document);
}
END_TEST

START_TEST(aliases_share)
{
    struct document document;
    struct buffer bomb = BUFFER_INIT;
    read_text(&document, "{a: &x [1], b: *x, c: &x 3, d: *x}");
    ck_assert_msg(document.ok, "%s", document.err.text);
    ck_assert_uint_eq(member(&document, document.root, "a"), member(&document, document.root, "b"));
    ck_assert_uint_eq(member(&document, document.root, "c"), member(&document, document.root, "d"));
    release(&document);
    read_text(&document, "&x [*x]"); /* contains itself */
    ck_assert(document.ok);
    ck_assert_uint_eq(item(&document, document.root, 0), document.root);
    release(&document);
    buffer_puts(&bomb, "- &a0 x\n");
    for (int i = 1; i < 200; i++)
        buffer_printf(&bomb, "- &a%d [*a%d, *a%d]\n", i, i - 1, i - 1);
    read_bytes(&document, bomb.bytes, bomb.size);
    ck_assert_msg(document.ok, "%s", document.err.text);
    ck_assert_uint_lt(document.values.count, 300);
    release(&document);
    buffer_release(&bomb);
}
END_TEST

START_TEST(limits_hold)
{
    struct document document;
    struct buffer text = BUFFER_INIT;
    fails("[1]\n--- 2\n", STATUS_BAD_INPUT, "line 2: expected one YAML document, not several");
    fails("a: *b", STATUS_BAD_INPUT, "line 1: an alias of an anchor that is not above it");
    fails("", STATUS_BAD_INPUT, "expected a YAML document, found none");
    fails("a: b\n- c\n", STATUS_BAD_INPUT, "line 2: expected YAML: did not find expected key");
    for (int i = 0; i < 100; i++)
        buffer_puts(&text, "- ");
    fails(text.bytes, STATUS_LIMIT, "line 1: nested more than 64 levels deep");
    buffer_clear(&text);
    for (int i = 0; i < 100000; i++) /* libyaml compares each with all before it */
        buffer_printf(&text, "%%TAG !%d! x\n", i);
    buffer_puts(&text, "--- 1\n");
    read_bytes(&document, text.bytes, text.size);
    ck_assert(!document.ok);
    ck_assert_int_eq(document.err.status, STATUS_LIMIT);
    release(&document);
    buffer_release(&text);
}
END_TEST

Suite *unit_suite(void)
{
    Suite *suite = suite_create("yaml");
    TCase *tests = tcase_create("yaml");
    tcase_add_test(tests, scalars_have_types);
    tcase_add_test(tests, tags_are_inert);
    tcase_add_test(tests, aliases_share);
    tcase_add_test(tests, limits_hold);
    suite_add_tcase(suite, tests);
    return suite;
}
