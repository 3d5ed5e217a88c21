#include "analysis/shard/tensors.h"

#include <string.h>

#include "base/ascii.h"

#define FROZEN  ":frozen"
#define STRIDED ":strided"

static const struct {
    const char *name;
    enum shard_type type;
    int64_t size;
} types[] = {
    {"float32", SHARD_FLOAT32, 4},      {"float64", SHARD_FLOAT64, 8},
    {"bfloat16", SHARD_BFLOAT16, 2},    {"float16", SHARD_FLOAT16, 2},
    {"complex64", SHARD_COMPLEX64, 8},  {"complex128", SHARD_COMPLEX128, 16},
    {"uint8", SHARD_BYTE, 1},           {"int8", SHARD_BYTE, 1},
    {"float8_e4m3fn", SHARD_BYTE, 1},   {"float8_e5m2", SHARD_BYTE, 1},
    {"float8_e4m3fnuz", SHARD_BYTE, 1}, {"float8_e5m2fnuz", SHARD_BYTE, 1},
    {"float8_e8m0fnu", SHARD_BYTE, 1},
};

#define TYPES (sizeof(types) / sizeof(types[0]))

enum shard_type shard_type_find(struct text name)
{
    for (size_t i = 0; i < TYPES; i++)
        if (text_equals(name, types[i].name))
            return types[i].type;
    return SHARD_TYPE_UNKNOWN;
}

int64_t shard_type_size(enum shard_type type)
{
    for (size_t i = 0; i < TYPES; i++)
        if (types[i].type == type)
            return types[i].size;
    return 0;
}

struct list_reader {
    const char *at, *end;
};

static bool bad(struct error *err)
{
    return error_set(err, STATUS_BAD_INPUT,
                     "bad tensors of a trace: expected for example \"7:3072x768,8:3072:frozen\"");
}

static bool take(struct list_reader *list, const char *word)
{
    size_t size = strlen(word);
    if ((size_t)(list->end - list->at) < size || memcmp(list->at, word, size) != 0)
        return false;
    list->at += size;
    return true;
}

static bool take_number(struct list_reader *list, int64_t *number)
{
    const char *first = list->at;
    *number = 0;
    for (; list->at < list->end && ascii_is_digit(*list->at); list->at++)
        if (__builtin_mul_overflow(*number, 10, number) ||
            __builtin_add_overflow(*number, *list->at - '0', number))
            return false;
    return list->at > first;
}

/* ":bfloat16", if there is one before the other words. */
static void take_type(struct list_reader *list, struct shard_tensor *tensor)
{
    const char *end = list->at + 1;
    if (list->at == list->end || *list->at != ':')
        return;
    while (end < list->end && *end != ':' && *end != ',')
        end++;
    struct text name = {list->at + 1, (size_t)(end - list->at - 1)};
    if (text_equals(name, &FROZEN[1]) || text_equals(name, &STRIDED[1]))
        return;
    tensor->type = shard_type_find(name);
    list->at = end;
}

/* A parameter with a dimension of 0 has no elements, and counts for nothing. */
static bool take_tensor(struct list_reader *list, struct shard_tensor *tensor)
{
    int64_t place, size;
    tensor->elements = 1;
    if (!take_number(list, &place) || place > UINT32_MAX || !take(list, ":"))
        return false;
    tensor->place = (uint32_t)place;
    do {
        if (!take_number(list, &size) ||
            __builtin_mul_overflow(tensor->elements, size, &tensor->elements))
            return false;
        tensor->rows = tensor->dimensions == 0 ? size : tensor->rows;
        tensor->height = tensor->width;
        tensor->width = size;
        tensor->dimensions++;
    } while (take(list, "x"));
    take_type(list, tensor);
    tensor->strided = take(list, STRIDED);
    tensor->frozen = take(list, FROZEN);
    return true;
}

bool shard_tensors_read(struct shard_model *model, struct text text, struct shard_tensor row,
                        struct error *err)
{
    struct list_reader list = {text.bytes, text.bytes + text.size};
    do {
        struct shard_tensor tensor = row;
        if (!take_tensor(&list, &tensor))
            return bad(err);
        if (tensor.elements > 0 && !vec_push(model->tensors, model->tensor_count,
                                             model->tensor_capacity, model->budget, err, tensor))
            return false;
    } while (take(&list, ","));
    return list.at == list.end || bad(err);
}
