#include <inttypes.h>
#include <string.h>

#include "unit/rows.h"

struct recorder {
    struct symbols *symbols;
    struct buffer rows;
    struct buffer stacks; /* stack_id of every event so far */
};

static void add_text(struct recorder *recorder, string_id id)
{
    struct text text = symbols_text(recorder->symbols, id);
    buffer_add(&recorder->rows, text.bytes, text.size);
}

static void add_stack(struct recorder *recorder, stack_id id)
{
    struct stack stack = symbols_stack_at(recorder->symbols, id);
    for (size_t i = 0; i < stack.count; i++) {
        struct frame frame = symbols_frame_at(recorder->symbols, stack.frames[i]);
        buffer_putc(&recorder->rows, ' ');
        add_text(recorder, frame.name);
        buffer_putc(&recorder->rows, '@');
        add_text(recorder, frame.file);
        buffer_printf(&recorder->rows, ":%" PRIu32, frame.line);
    }
}

static void add_labelled(struct recorder *recorder, const char *label, string_id id)
{
    if (id == STRING_EMPTY)
        return;
    buffer_puts(&recorder->rows, label);
    add_text(recorder, id);
}

static stack_id stack_of(void *self, uint64_t sequence)
{
    const struct recorder *recorder = self;
    stack_id id;
    ck_assert_uint_lt(sequence, recorder->stacks.size / sizeof id);
    memcpy(&id, recorder->stacks.bytes + sequence * sizeof id, sizeof id);
    return id;
}

static bool on_event(void *self, uint32_t device, const struct event_row *row, struct error *err)
{
    struct recorder *recorder = self;
    (void)err;
    buffer_printf(&recorder->rows, "event %" PRIu32 " %d ", device, row->action);
    add_text(recorder, row->action_name);
    buffer_printf(&recorder->rows, " %" PRIu64 " %" PRIu64, row->addr, row->size);
    if (row->time_us != TIME_NONE)
        buffer_printf(&recorder->rows, " t%" PRId64, row->time_us);
    if (row->extra.stream != 0)
        buffer_printf(&recorder->rows, " s%" PRId64, row->extra.stream);
    if (row->extra.pool[0] != 0 || row->extra.pool[1] != 0)
        buffer_printf(&recorder->rows, " p%" PRIu64 ",%" PRIu64, row->extra.pool[0],
                      row->extra.pool[1]);
    add_labelled(recorder, " context=", row->extra.compile_context);
    add_labelled(recorder, " metadata=", row->extra.user_metadata);
    add_labelled(recorder, " internal=", row->extra.internal_metadata);
    add_labelled(recorder, " category=", row->extra.category);
    add_stack(recorder, row->stack);
    buffer_add(&recorder->stacks, (const char *)&row->stack, sizeof row->stack);
    if (row->extra.forward_stack != STACK_NONE) {
        buffer_puts(&recorder->rows, " forward");
        add_stack(recorder, row->extra.forward_stack);
    }
    buffer_putc(&recorder->rows, '\n');
    return true;
}

static bool on_event_again(void *self, uint32_t device, uint64_t sequence, struct error *err)
{
    struct recorder *recorder = self;
    stack_id id = stack_of(self, sequence);
    (void)err;
    buffer_add(&recorder->stacks, (const char *)&id, sizeof id);
    buffer_printf(&recorder->rows, "again %" PRIu32 " %" PRIu64 "\n", device, sequence);
    return true;
}

static bool on_trace(void *self, uint32_t device, struct error *err)
{
    (void)err;
    buffer_printf(&((struct recorder *)self)->rows, "trace %" PRIu32 "\n", device);
    return true;
}

static bool on_segment(void *self, const struct segment_row *row, struct error *err)
{
    struct recorder *recorder = self;
    (void)err;
    buffer_printf(&recorder->rows, "segment %" PRIu32 " %" PRIu64 " %" PRIu64, row->device,
                  row->address, row->total_size);
    buffer_printf(&recorder->rows, " %" PRIu64 " %" PRIu64 " %" PRIu64 " s%" PRId64,
                  row->allocated_size, row->active_size, row->requested_size, row->stream);
    buffer_printf(&recorder->rows, " p%" PRIu64 ",%" PRIu64 "%s", row->pool[0], row->pool[1],
                  row->is_expandable ? " expandable" : "");
    add_labelled(recorder, " ", row->segment_type);
    add_stack(recorder, row->stack);
    buffer_putc(&recorder->rows, '\n');
    for (size_t i = 0; i < row->block_count; i++) {
        const struct block_row *block = &row->blocks[i];
        buffer_printf(&recorder->rows, "block %" PRIu64 " %" PRIu64 " %" PRIu64 " %d",
                      block->address, block->size, block->requested_size, block->state);
        add_stack(recorder, block->stack);
        buffer_putc(&recorder->rows, '\n');
    }
    return true;
}

static bool on_annotation(void *self, const struct annotation_row *row, struct error *err)
{
    struct recorder *recorder = self;
    (void)err;
    buffer_printf(&recorder->rows, "annotation %d ", row->stage);
    add_text(recorder, row->name);
    buffer_printf(&recorder->rows, " %" PRIu32, row->device);
    if (row->time_us != TIME_NONE)
        buffer_printf(&recorder->rows, " t%" PRId64, row->time_us);
    buffer_putc(&recorder->rows, '\n');
    return true;
}

static bool on_setting(void *self, const struct setting_row *row, struct error *err)
{
    struct recorder *recorder = self;
    (void)err;
    add_labelled(recorder, "setting ", row->key);
    buffer_putc(&recorder->rows, '=');
    add_text(recorder, row->value);
    buffer_putc(&recorder->rows, '\n');
    return true;
}

static bool on_unknown_key(void *self, const char *where, string_id key, struct error *err)
{
    struct recorder *recorder = self;
    (void)err;
    buffer_printf(&recorder->rows, "unknown %s ", where);
    add_text(recorder, key);
    buffer_putc(&recorder->rows, '\n');
    return true;
}

struct rows_outcome rows_decode(rows_decoder *decoder, const void *bytes, size_t size, size_t limit)
{
    struct rows_outcome outcome = {.rows = BUFFER_INIT};
    struct budget budget = {.limit = limit};
    struct recorder recorder = {.symbols = symbols_create(&budget, &outcome.err),
                                .rows = BUFFER_INIT,
                                .stacks = BUFFER_INIT};
    struct source source;
    const struct row_sink sink = {
        .self = &recorder,
        .event = on_event,
        .event_again = on_event_again,
        .stack = stack_of,
        .trace = on_trace,
        .segment = on_segment,
        .annotation = on_annotation,
        .setting = on_setting,
        .unknown_key = on_unknown_key,
    };
    if (recorder.symbols != NULL &&
        source_open_memory(&source, bytes, size, &budget, &outcome.err)) {
        outcome.ok = decoder(&source, recorder.symbols, &sink, &outcome.decoded, &outcome.err);
        source_close(&source);
    }
    symbols_destroy(recorder.symbols);
    ck_assert_uint_eq(budget.used, 0);
    buffer_puts(&recorder.rows, "");
    buffer_release(&recorder.stacks);
    outcome.rows = recorder.rows;
    return outcome;
}

struct decoded rows_check(rows_decoder *decoder, const char *text, const char *rows)
{
    struct rows_outcome outcome = rows_decode(decoder, text, strlen(text), (size_t)1 << 20);
    ck_assert_msg(outcome.ok, "%s: %s at %" PRIu64, text, outcome.err.text, outcome.err.offset);
    ck_assert_str_eq(outcome.rows.bytes, rows);
    buffer_release(&outcome.rows);
    return outcome.decoded;
}
