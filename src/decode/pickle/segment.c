/* Segments and their blocks: finished values to rows. */
#include "decode/pickle/vm.h"

/* What a block preexisting before it had requested_size and frames: [{addr, real_size, frames}]. */
struct legacy {
    bool given;
    uint64_t real_size;
    stack_id stack;
};

static bool read_history(struct pickle_vm *vm, value v, struct legacy *legacy)
{
    const value *items, *pairs;
    size_t count, pair_count;
    if (v == VALUE_NONE)
        return true;
    if (!value_sequence(&vm->values, v, &items, &count))
        return pickle_bad_field(vm, "block", "history", "a list", v);
    if (count == 0)
        return true;
    if (!value_mapping(&vm->values, items[0], &pairs, &pair_count))
        return pickle_bad_field(vm, "block", "history", "a list of dicts", items[0]);
    for (size_t i = 0; i < pair_count; i++) {
        enum key key = pickle_key(vm, pairs[2 * i]);
        value field = pairs[2 * i + 1];
        if (key == KEY_REAL_SIZE) {
            legacy->given = true;
            if (!pickle_natural(vm, "block", "real_size", field, &legacy->real_size))
                return false;
        } else if (key == KEY_FRAMES && !pickle_to_stack(vm, field, &legacy->stack)) {
            return false;
        }
    }
    return true;
}

static bool block_state(struct pickle_vm *vm, value v, enum block_state *state)
{
    const struct vocabulary *words = &vm->words;
    string_id id = pickle_text(v);
    if (value_tag(v) != TAG_STRING)
        return pickle_bad_field(vm, "block", "state", "a string", v);
    if (id == words->active_allocated)
        *state = BLOCK_ACTIVE_ALLOCATED;
    else if (id == words->active_pending_free || id == words->active_awaiting_free)
        *state = BLOCK_ACTIVE_PENDING_FREE;
    else if (id == words->inactive)
        *state = BLOCK_INACTIVE;
    else
        return pickle_fail(vm, "unknown state of a block");
    return true;
}

/* `*has_address` tells whether the file had one. */
static bool read_block(struct pickle_vm *vm, value v, struct block_row *block, bool *has_address)
{
    const value *pairs;
    size_t count;
    struct legacy legacy = {0};
    bool has_size = false, has_requested = false, has_state = false, ok = true;
    *block = (struct block_row){0};
    *has_address = false;
    if (!value_mapping(&vm->values, v, &pairs, &count))
        return pickle_fail(vm, "a block is %s: a dict expected", value_kind_name(&vm->values, v));
    vm->op_offset = value_node(&vm->values, v)->offset;
    if (!pickle_use(vm, "a block", v, count))
        return false;
    for (size_t i = 0; i < count && ok; i++) {
        value field = pairs[2 * i + 1];
        switch (pickle_key(vm, pairs[2 * i])) {
        case KEY_ADDRESS:
            *has_address = true;
            ok = pickle_natural(vm, "block", "address", field, &block->address);
            break;
        case KEY_SIZE:
            has_size = true;
            ok = pickle_natural(vm, "block", "size", field, &block->size);
            break;
        case KEY_REQUESTED_SIZE:
            has_requested = true;
            ok = pickle_natural(vm, "block", "requested_size", field, &block->requested_size);
            break;
        case KEY_STATE:
            has_state = true;
            ok = block_state(vm, field, &block->state);
            break;
        case KEY_FRAMES:
            ok = pickle_to_stack(vm, field, &block->stack);
            break;
        case KEY_HISTORY:
            ok = read_history(vm, field, &legacy);
            break;
        default:
            ok = pickle_unknown_key(vm, SCOPE_BLOCK, pairs[2 * i]);
        }
    }
    if (!ok)
        return false;
    if (!has_size || !has_state)
        return pickle_fail(vm, "a block without '%s'", has_size ? "state" : "size");
    if (!has_requested)
        block->requested_size = legacy.given ? legacy.real_size : block->size;
    if (block->stack == STACK_NONE)
        block->stack = legacy.stack;
    return true;
}

static bool read_blocks(struct pickle_vm *vm, value v, struct segment_row *segment)
{
    const value *items;
    size_t count;
    if (!value_sequence(&vm->values, v, &items, &count))
        return pickle_bad_field(vm, "segment", "blocks", "a list", v);
    if (!pickle_use(vm, "a list of blocks", v, count))
        return false;
    if (!vec_grow((void **)&vm->blocks, &vm->block_capacity, count, sizeof *vm->blocks, vm->budget,
                  vm->err))
        return false;
    uint64_t address = segment->address;
    for (size_t i = 0; i < count; i++) {
        bool has_address;
        if (!read_block(vm, items[i], &vm->blocks[i], &has_address))
            return false;
        if (!has_address)
            vm->blocks[i].address = address;
        if (__builtin_add_overflow(address, vm->blocks[i].size, &address))
            return pickle_fail(vm, "the blocks of a segment reach beyond 64 bits");
    }
    segment->blocks = vm->blocks;
    segment->block_count = count;
    return true;
}

static bool segment_field(struct pickle_vm *vm, struct segment_row *segment, enum key key,
                          value name, value v)
{
    switch (key) {
    case KEY_DEVICE:
        return pickle_device(vm, "segment", v, &segment->device);
    case KEY_ADDRESS:
        return pickle_natural(vm, "segment", "address", v, &segment->address);
    case KEY_TOTAL_SIZE:
        return pickle_natural(vm, "segment", "total_size", v, &segment->total_size);
    case KEY_ALLOCATED_SIZE:
        return pickle_natural(vm, "segment", "allocated_size", v, &segment->allocated_size);
    case KEY_ACTIVE_SIZE:
        return pickle_natural(vm, "segment", "active_size", v, &segment->active_size);
    case KEY_REQUESTED_SIZE:
        return pickle_natural(vm, "segment", "requested_size", v, &segment->requested_size);
    case KEY_STREAM:
        return pickle_any_int(vm, "segment", "stream", v, &segment->stream);
    case KEY_SEGMENT_TYPE:
        segment->segment_type = pickle_text(v);
        return true;
    case KEY_SEGMENT_POOL_ID:
        return v == VALUE_NONE || pickle_to_pool(vm, v, segment->pool);
    case KEY_IS_EXPANDABLE:
        segment->is_expandable = v == VALUE_TRUE;
        return true;
    case KEY_FRAMES:
        return pickle_to_stack(vm, v, &segment->stack);
    case KEY_BLOCKS: /* read last: blocks without address need the segment's */
        return true;
    default:
        return pickle_unknown_key(vm, SCOPE_SEGMENT, name);
    }
}

bool pickle_emit_segment(struct pickle_vm *vm, value v)
{
    const value *pairs;
    size_t count;
    struct segment_row segment = {0};
    uint64_t seen = 0;
    value blocks = VALUE_UNSET;
    if (!value_mapping(&vm->values, v, &pairs, &count))
        return pickle_fail(vm, "a segment is %s: a dict expected", value_kind_name(&vm->values, v));
    vm->op_offset = value_node(&vm->values, v)->offset;
    if (!pickle_use(vm, "a segment", v, count))
        return false;
    for (size_t i = 0; i < count; i++) {
        enum key key = pickle_key(vm, pairs[2 * i]);
        seen |= UINT64_C(1) << key;
        if (key == KEY_BLOCKS)
            blocks = pairs[2 * i + 1];
        if (!segment_field(vm, &segment, key, pairs[2 * i], pairs[2 * i + 1]))
            return false;
    }
    static const struct {
        enum key key;
        const char *name;
    } required[] = {{KEY_DEVICE, "device"},
                    {KEY_ADDRESS, "address"},
                    {KEY_TOTAL_SIZE, "total_size"},
                    {KEY_BLOCKS, "blocks"}};
    for (size_t i = 0; i < sizeof required / sizeof *required; i++)
        if ((seen >> required[i].key & 1) == 0)
            return pickle_fail(vm, "a segment without '%s'", required[i].name);
    if (!read_blocks(vm, blocks, &segment))
        return false;
    value_node(&vm->values, v)->role = ROLE_USED;
    return vm->sink->segment(vm->sink->self, &segment, vm->err);
}
