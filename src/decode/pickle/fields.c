/* Annotations, and the fields that rows have in common. */
#include "decode/pickle/vm.h"

bool pickle_bad_field(struct pickle_vm *vm, const char *of, const char *key, const char *expected,
                      value v)
{
    return pickle_fail(vm, "'%s' of %s %s is %s: %s expected", key, pickle_article(of), of,
                       value_kind_name(&vm->values, v), expected);
}

bool pickle_use(struct pickle_vm *vm, const char *what, value v, size_t count)
{
    struct node *node = value_node(&vm->values, v);
    if (count <= SHARED_MAX)
        return true;
    if (node->role == ROLE_USED)
        return error_set_at(vm->err, STATUS_LIMIT, vm->op_offset,
                            "%s of more than %d items stands in two places", what, SHARED_MAX);
    node->role = ROLE_USED;
    return true;
}

bool pickle_natural(struct pickle_vm *vm, const char *of, const char *key, value v, uint64_t *out)
{
    int64_t integer;
    if (value_to_u64(&vm->values, v, out))
        return true;
    if (value_to_i64(&vm->values, v, &integer))
        return pickle_fail(vm, "'%s' of %s %s is negative", key, pickle_article(of), of);
    return pickle_bad_field(vm, of, key, "an int", v);
}

bool pickle_device(struct pickle_vm *vm, const char *of, value v, uint32_t *out)
{
    uint64_t index;
    if (!pickle_natural(vm, of, "device", v, &index))
        return false;
    if (index > INT32_MAX)
        return pickle_fail(vm, "'device' of %s %s is out of range", pickle_article(of), of);
    *out = (uint32_t)index;
    return true;
}

/* A handle or a time: any 64 bits. */
bool pickle_any_int(struct pickle_vm *vm, const char *of, const char *key, value v, int64_t *out)
{
    uint64_t bits;
    if (value_to_i64(&vm->values, v, out))
        return true;
    if (!value_to_u64(&vm->values, v, &bits))
        return pickle_bad_field(vm, of, key, "an int", v);
    *out = (int64_t)bits;
    return true;
}

static bool annotation_stage(struct pickle_vm *vm, value v, enum annotation_stage *stage)
{
    if (value_tag(v) != TAG_STRING ||
        (value_payload(v) != vm->words.start && value_payload(v) != vm->words.end))
        return pickle_fail(vm, "'stage' of an annotation: START or END expected");
    *stage = value_payload(v) == vm->words.start ? ANNOTATION_START : ANNOTATION_END;
    return true;
}

bool pickle_emit_annotation(struct pickle_vm *vm, value v)
{
    const value *pairs;
    size_t count;
    struct annotation_row row = {.time_us = TIME_NONE};
    bool has_stage = false, ok = true;
    if (!value_mapping(&vm->values, v, &pairs, &count))
        return pickle_fail(vm, "an annotation is %s: a dict expected",
                           value_kind_name(&vm->values, v));
    vm->op_offset = value_node(&vm->values, v)->offset;
    if (!pickle_use(vm, "an annotation", v, count))
        return false;
    for (size_t i = 0; i < count && ok; i++) {
        value field = pairs[2 * i + 1];
        switch (pickle_key(vm, pairs[2 * i])) {
        case KEY_STAGE:
            has_stage = true;
            ok = annotation_stage(vm, field, &row.stage);
            break;
        case KEY_NAME:
            row.name = pickle_text(field);
            break;
        case KEY_DEVICE:
            ok = pickle_device(vm, "annotation", field, &row.device);
            break;
        case KEY_TIME_US:
            ok = pickle_any_int(vm, "annotation", "time_us", field, &row.time_us);
            break;
        default:
            ok = pickle_unknown_key(vm, SCOPE_ANNOTATION, pairs[2 * i]);
        }
    }
    if (!ok)
        return false;
    if (!has_stage)
        return pickle_fail(vm, "an annotation without 'stage'");
    return vm->sink->annotation(vm->sink->self, &row, vm->err);
}
