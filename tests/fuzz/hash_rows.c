#include "fuzz/hash_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static void add(struct row_hash *into, uint64_t word)
{
    into->hash = hash_word(into->hash ^ word, into->hash);
}

/* By content: two decodings number their strings differently. */
static void add_string(struct row_hash *into, string_id id)
{
    struct text text = symbols_text(into->symbols, id);
    add(into, hash_bytes(text.bytes, text.size, text.size));
}

static void add_stack(struct row_hash *into, stack_id id)
{
    struct stack stack = symbols_stack_at(into->symbols, id);
    add(into, stack.count);
    for (size_t i = 0; i < stack.count; i++) {
        struct frame frame = symbols_frame_at(into->symbols, stack.frames[i]);
        add_string(into, frame.name);
        add_string(into, frame.file);
        add(into, frame.line);
    }
}

static void keep_stack(struct row_hash *into, stack_id id)
{
    if (into->event_count == into->capacity) {
        into->capacity = into->capacity * 2 + 64;
        into->stacks = realloc(into->stacks, into->capacity * sizeof *into->stacks);
        if (into->stacks == NULL)
            abort();
    }
    into->stacks[into->event_count++] = id;
}

static stack_id stack_of(void *self, uint64_t sequence)
{
    const struct row_hash *into = self;
    return into->stacks[sequence];
}

static bool add_event(void *self, uint32_t device, const struct event_row *row, struct error *err)
{
    struct row_hash *into = self;
    (void)err;
    add(into, device);
    add(into, row->action);
    add_string(into, row->action_name);
    add(into, row->addr);
    add(into, row->size);
    add(into, (uint64_t)row->time_us);
    add_stack(into, row->stack);
    keep_stack(into, row->stack);
    add(into, (uint64_t)row->extra.stream);
    add(into, row->extra.pool[0]);
    add(into, row->extra.pool[1]);
    add_string(into, row->extra.compile_context);
    add_string(into, row->extra.user_metadata);
    add_string(into, row->extra.internal_metadata);
    add_string(into, row->extra.category);
    add_stack(into, row->extra.forward_stack);
    return true;
}

static bool add_event_again(void *self, uint32_t device, uint64_t sequence, struct error *err)
{
    (void)err;
    add(self, device);
    add(self, sequence);
    keep_stack(self, stack_of(self, sequence));
    return true;
}

static bool add_trace(void *self, uint32_t device, struct error *err)
{
    (void)err;
    add(self, device);
    return true;
}

static bool add_segment(void *self, const struct segment_row *row, struct error *err)
{
    struct row_hash *into = self;
    (void)err;
    add(into, row->device);
    add(into, row->address);
    add(into, row->total_size);
    add(into, row->allocated_size);
    add(into, row->active_size);
    add(into, row->requested_size);
    add(into, (uint64_t)row->stream);
    add(into, row->pool[0]);
    add(into, row->pool[1]);
    add_string(into, row->segment_type);
    add(into, row->is_expandable);
    add_stack(into, row->stack);
    for (size_t i = 0; i < row->block_count; i++) {
        add(into, row->blocks[i].address);
        add(into, row->blocks[i].size);
        add(into, row->blocks[i].requested_size);
        add(into, row->blocks[i].state);
        add_stack(into, row->blocks[i].stack);
    }
    return true;
}

static bool add_annotation(void *self, const struct annotation_row *row, struct error *err)
{
    struct row_hash *into = self;
    (void)err;
    add(into, row->stage);
    add_string(into, row->name);
    add(into, row->device);
    add(into, (uint64_t)row->time_us);
    return true;
}

static bool add_setting(void *self, const struct setting_row *row, struct error *err)
{
    (void)err;
    add_string(self, row->key);
    add_string(self, row->value);
    return true;
}

static bool add_unknown_key(void *self, const char *where, string_id key, struct error *err)
{
    (void)err;
    add(self, hash_bytes(where, strlen(where), 0));
    add_string(self, key);
    return true;
}

struct row_sink hash_rows(struct row_hash *into)
{
    return (struct row_sink){.self = into,
                             .event = add_event,
                             .event_again = add_event_again,
                             .stack = stack_of,
                             .trace = add_trace,
                             .segment = add_segment,
                             .annotation = add_annotation,
                             .setting = add_setting,
                             .unknown_key = add_unknown_key};
}
