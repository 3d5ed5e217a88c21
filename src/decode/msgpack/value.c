#include "decode/msgpack/value.h"

#include <limits.h>
#include <msgpack.h>
#include <string.h>

#include "base/utf8.h"

/* The state of the parser's callbacks. */
struct msgpack_user {
    struct values values;
    uint64_t offset; /* offset of the present token */
    bool failed;     /* a callback set `err` */
    struct error *err;
};

/* The parser is a template that needs these definitions. */
#define MSGPACK_EMBED_STACK_SIZE       MSGPACK_MAX_DEPTH
#define msgpack_unpack_struct(name)    struct parser##name
#define msgpack_unpack_func(ret, name) static __attribute__((unused)) ret parser##name
#define msgpack_unpack_callback(name)  take##name
#define msgpack_unpack_object          value
#define msgpack_unpack_user            struct msgpack_user

static int failed(struct msgpack_user *user)
{
    user->failed = true;
    return -1;
}

static value take_root(struct msgpack_user *user)
{
    (void)user;
    return VALUE_UNSET;
}

static int take_nil(struct msgpack_user *user, value *v)
{
    (void)user;
    *v = VALUE_NONE;
    return 0;
}

static int take_true(struct msgpack_user *user, value *v)
{
    (void)user;
    *v = VALUE_TRUE;
    return 0;
}

static int take_false(struct msgpack_user *user, value *v)
{
    (void)user;
    *v = VALUE_FALSE;
    return 0;
}

static int take_int64(struct msgpack_user *user, int64_t number, value *v)
{
    return value_new_int(&user->values, number, user->offset, v, user->err) ? 0 : failed(user);
}

static int take_uint64(struct msgpack_user *user, uint64_t number, value *v)
{
    if (number <= INT64_MAX)
        return take_int64(user, (int64_t)number, v);
    if (!value_new_node(&user->values, NODE_UNSIGNED, user->offset, v, user->err))
        return failed(user);
    value_node(&user->values, *v)->as.natural = number;
    return 0;
}

#define TAKE_INTEGER(name, type, wide)                                                             \
    static int take_##name(struct msgpack_user *user, type number, value *v)                       \
    {                                                                                              \
        return take_##wide(user, number, v);                                                       \
    }
TAKE_INTEGER(uint8, uint8_t, uint64)
TAKE_INTEGER(uint16, uint16_t, uint64)
TAKE_INTEGER(uint32, uint32_t, uint64)
TAKE_INTEGER(int8, int8_t, int64)
TAKE_INTEGER(int16, int16_t, int64)
TAKE_INTEGER(int32, int32_t, int64)

static int take_double(struct msgpack_user *user, double number, value *v)
{
    if (!value_new_node(&user->values, NODE_FLOAT, user->offset, v, user->err))
        return failed(user);
    value_node(&user->values, *v)->as.real = number;
    return 0;
}

static int take_float(struct msgpack_user *user, float number, value *v)
{
    return take_double(user, number, v);
}

static int take_str(struct msgpack_user *user, const char *base, const char *bytes,
                    unsigned int size, value *v)
{
    (void)base;
    string_id id;
    if (utf8_valid_prefix(bytes, size, UTF8_ALLOW_SURROGATES) != size) {
        error_set_at(user->err, STATUS_BAD_INPUT, user->offset, "a string that is not UTF-8");
        return failed(user);
    }
    if (!symbols_string(user->values.symbols, bytes, size, &id, user->err))
        return failed(user);
    if (id > VALUE_PAYLOAD_MAX) {
        error_set_at(user->err, STATUS_LIMIT, user->offset, "too many strings");
        return failed(user);
    }
    *v = value_make(TAG_STRING, id);
    return 0;
}

static int take_bin(struct msgpack_user *user, const char *base, const char *bytes,
                    unsigned int size, value *v)
{
    (void)base;
    return value_new_bytes(&user->values, NODE_BYTES, (const uint8_t *)bytes, size, user->offset, v,
                           user->err)
               ? 0
               : failed(user);
}

static int take_ext(struct msgpack_user *user, const char *base, const char *bytes,
                    unsigned int size, value *v)
{
    (void)base, (void)bytes, (void)size, (void)v;
    error_set_at(user->err, STATUS_BAD_INPUT, user->offset, "an extension type of msgpack");
    return failed(user);
}

/* Containers grow with the items actually read, whatever `count` claims. */
static int take_array(struct msgpack_user *user, unsigned int count, value *v)
{
    (void)count;
    return value_new_node(&user->values, NODE_LIST, user->offset, v, user->err) ? 0 : failed(user);
}

static int take_array_item(struct msgpack_user *user, value *array, value item)
{
    return value_add_items(&user->values, *array, &item, 1, user->err) ? 0 : failed(user);
}

static int take_map(struct msgpack_user *user, unsigned int count, value *v)
{
    (void)count;
    return value_new_node(&user->values, NODE_DICT, user->offset, v, user->err) ? 0 : failed(user);
}

static int take_map_item(struct msgpack_user *user, value *map, value key, value item)
{
    const value pair[] = {key, item};
    return value_add_items(&user->values, *map, pair, 2, user->err) ? 0 : failed(user);
}

#include <msgpack/unpack_define.h>
#include <msgpack/unpack_template.h>

/* Reports why the parser stopped at the current token. */
static bool complain(const struct msgpack_user *user, int result)
{
    if (user->failed)
        return false;
    if (result == MSGPACK_UNPACK_NOMEM_ERROR) /* its stack is full */
        return error_set_at(user->err, STATUS_LIMIT, user->offset,
                            "nested more than %d levels deep", MSGPACK_MAX_DEPTH);
    return error_set_at(user->err, STATUS_BAD_INPUT, user->offset,
                        "expected a msgpack value, found a byte that cannot begin one");
}

/* Passes the parser one piece of a token at a time, so that the offset of each piece is known and
 * the buffer only has to hold that piece. */
static bool parse(struct source *source, struct parser_context *parser)
{
    struct msgpack_user *user = &parser->user;
    for (;;) {
        bool begins = parser->cs == MSGPACK_CS_HEADER;
        size_t need = begins ? 1 : parser->trail, used = 0;
        if ((size_t)(source->end - source->pos) < need && !source_fill(source, need, user->err))
            return false;
        if ((size_t)(source->end - source->pos) < need)
            return error_set_at(user->err, STATUS_BAD_INPUT, source_offset(source),
                                "the file ends within a msgpack value");
        if (begins)
            user->offset = source_offset(source);
        int result = parser_execute(parser, (const char *)source->pos, need, &used);
        if (result < 0)
            return complain(user, result);
        source->pos += used;
        if (result > 0)
            return true;
    }
}

static bool finish(struct source *source, struct error *err)
{
    if (source->pos == source->end && !source->at_eof && !source_fill(source, 1, err))
        return false;
    return source->pos == source->end || error_set_at(err, STATUS_BAD_INPUT, source_offset(source),
                                                      "expected the end of the file");
}

bool decode_msgpack_value(struct source *source, struct symbols *symbols, struct values *values,
                          value *root, struct error *err)
{
    struct parser_context parser = {.user = {.err = err}};
    values_init(&parser.user.values, symbols, source->budget);
    parser_init(&parser);
    if (!parse(source, &parser) || !finish(source, err)) {
        values_release(&parser.user.values);
        return false;
    }
    *root = parser_data(&parser);
    *values = parser.user.values;
    return true;
}
