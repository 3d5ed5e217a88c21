#include <string.h>

#include "decode/pickle/vm.h"

static const char *const key_names[KEY_COUNT] = {
    [KEY_SEGMENTS] = "segments",
    [KEY_DEVICE_TRACES] = "device_traces",
    [KEY_ALLOCATOR_SETTINGS] = "allocator_settings",
    [KEY_EXTERNAL_ANNOTATIONS] = "external_annotations",
    [KEY_ACTION] = "action",
    [KEY_ADDR] = "addr",
    [KEY_DEVICE_FREE] = "device_free",
    [KEY_SIZE] = "size",
    [KEY_STREAM] = "stream",
    [KEY_TIME_US] = "time_us",
    [KEY_FRAMES] = "frames",
    [KEY_FORWARD_FRAMES] = "forward_frames",
    [KEY_COMPILE_CONTEXT] = "compile_context",
    [KEY_USER_METADATA] = "user_metadata",
    [KEY_POOL_ID] = "pool_id",
    [KEY_CATEGORY] = "category",
    [KEY_NAME] = "name",
    [KEY_FILENAME] = "filename",
    [KEY_LINE] = "line",
    [KEY_DEVICE] = "device",
    [KEY_ADDRESS] = "address",
    [KEY_TOTAL_SIZE] = "total_size",
    [KEY_ALLOCATED_SIZE] = "allocated_size",
    [KEY_ACTIVE_SIZE] = "active_size",
    [KEY_REQUESTED_SIZE] = "requested_size",
    [KEY_SEGMENT_TYPE] = "segment_type",
    [KEY_SEGMENT_POOL_ID] = "segment_pool_id",
    [KEY_IS_EXPANDABLE] = "is_expandable",
    [KEY_BLOCKS] = "blocks",
    [KEY_STATE] = "state",
    [KEY_HISTORY] = "history",
    [KEY_REAL_SIZE] = "real_size",
    [KEY_STAGE] = "stage",
};

static bool intern(struct pickle_vm *vm, const char *word, string_id *id)
{
    return symbols_string(vm->symbols, word, strlen(word), id, vm->err);
}

static bool fill_tables(struct pickle_vm *vm, string_id *keys, string_id *actions)
{
    struct vocabulary *words = &vm->words;
    size_t key_size = 0, action_size = 0;
    words->size = symbols_string_count(vm->symbols);
    if (!vec_grow((void **)&words->key, &key_size, words->size, 1, vm->budget, vm->err) ||
        !vec_grow((void **)&words->action, &action_size, words->size, 1, vm->budget, vm->err))
        return false;
    words->key_capacity = key_size;
    words->action_capacity = action_size;
    memset(words->key, KEY_OTHER, words->size);
    memset(words->action, ACTION_OTHER, words->size);
    for (int k = KEY_OTHER + 1; k < KEY_COUNT; k++)
        words->key[keys[k]] = (uint8_t)k;
    for (int a = 0; a < ACTION_OTHER; a++)
        words->action[actions[a]] = (uint8_t)a;
    return true;
}

bool pickle_words_init(struct pickle_vm *vm)
{
    struct vocabulary *words = &vm->words;
    string_id keys[KEY_COUNT], actions[ACTION_OTHER];
    for (int k = KEY_OTHER + 1; k < KEY_COUNT; k++)
        if (!intern(vm, key_names[k], &keys[k]))
            return false;
    for (int a = 0; a < ACTION_OTHER; a++)
        if (!symbols_string(vm->symbols, action_texts[a].bytes, action_texts[a].size, &actions[a],
                            vm->err))
            return false;
    return intern(vm, "active_allocated", &words->active_allocated) &&
           intern(vm, "active_pending_free", &words->active_pending_free) &&
           intern(vm, "active_awaiting_free", &words->active_awaiting_free) &&
           intern(vm, "inactive", &words->inactive) && intern(vm, "START", &words->start) &&
           intern(vm, "END", &words->end) && fill_tables(vm, keys, actions);
}

void pickle_words_release(struct pickle_vm *vm)
{
    struct vocabulary *words = &vm->words;
    vec_free(words->key, words->key_capacity, 1, vm->budget);
    vec_free(words->action, words->action_capacity, 1, vm->budget);
    vec_free(words->told, words->told_capacity, 1, vm->budget);
}

const char *pickle_article(const char *noun)
{
    return strchr("aeiou", *noun) ? "an" : "a";
}

bool pickle_unknown_key(struct pickle_vm *vm, enum key_scope scope, value key)
{
    static const char *const where[] = {
        [SCOPE_SNAPSHOT] = "snapshot", [SCOPE_SEGMENT] = "segment",       [SCOPE_BLOCK] = "block",
        [SCOPE_EVENT] = "event",       [SCOPE_ANNOTATION] = "annotation",
    };
    struct vocabulary *words = &vm->words;
    if (value_tag(key) != TAG_STRING)
        return pickle_fail(vm, "a key of %s %s is %s: a string expected",
                           pickle_article(where[scope]), where[scope],
                           value_kind_name(&vm->values, key));
    string_id id = value_payload(key);
    uint8_t bit = (uint8_t)(1u << scope);
    if (id < words->told_size && (words->told[id] & bit) != 0)
        return true;
    if (!vec_grow((void **)&words->told, &words->told_capacity, (size_t)id + 1, 1, vm->budget,
                  vm->err))
        return false;
    while (words->told_size <= id)
        words->told[words->told_size++] = 0;
    words->told[id] |= bit;
    return vm->sink->unknown_key(vm->sink->self, where[scope], id, vm->err);
}
