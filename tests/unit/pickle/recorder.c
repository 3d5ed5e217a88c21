#include <inttypes.h>
#include <string.h>

#include "unit/pickle/pickle.h"

struct recorder {
    struct symbols *symbols;
    struct buffer rows;
};

static const char *text_of(struct recorder *recorder, string_id id)
{
    return symbols_text(recorder->symbols, id).bytes;
}

static void add_stack(struct recorder *recorder, stack_id id)
{
    struct stack stack = symbols_stack_at(recorder->symbols, id);
    for (size_t i = 0; i < stack.count; i++) {
        struct frame frame = symbols_frame_at(recorder->symbols, stack.frames[i]);
        buffer_printf(&recorder->rows, " %s@%s:%" PRIu32, text_of(recorder, frame.name),
                      text_of(recorder, frame.file), frame.line);
    }
}

static bool on_event(void *self, uint32_t device, const struct event_row *row, struct error *err)
{
    struct recorder *recorder = self;
    (void)err;
    buffer_printf(&recorder->rows, "event %" PRIu32 " %s %" PRIu64 " %" PRIu64, device,
                  text_of(recorder, row->action_name), row->addr, row->size);
    if (row->time_us != TIME_NONE)
        buffer_printf(&recorder->rows, " t%" PRId64, row->time_us);
    if (row->extra.stream != 0)
        buffer_printf(&recorder->rows, " s%" PRId64, row->extra.stream);
    if (row->extra.pool[0] != 0 || row->extra.pool[1] != 0)
        buffer_printf(&recorder->rows, " p%" PRIu64 ",%" PRIu64, row->extra.pool[0],
                      row->extra.pool[1]);
    if (row->extra.compile_context != STRING_EMPTY)
        buffer_printf(&recorder->rows, " c'%s'", text_of(recorder, row->extra.compile_context));
    add_stack(recorder, row->stack);
    if (row->extra.forward_stack != STACK_NONE) {
        buffer_puts(&recorder->rows, " forward");
        add_stack(recorder, row->extra.forward_stack);
    }
    buffer_putc(&recorder->rows, '\n');
    return true;
}

static bool on_event_again(void *self, uint32_t device, uint64_t sequence, struct error *err)
{
    (void)err;
    buffer_printf(&((struct recorder *)self)->rows, "again %" PRIu32 " %" PRIu64 "\n", device,
                  sequence);
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
    static const char *const states[] = {"allocated", "pending", "inactive"};
    struct recorder *recorder = self;
    (void)err;
    buffer_printf(&recorder->rows, "segment %" PRIu32 " %" PRIu64 " %" PRIu64 "%s\n", row->device,
                  row->address, row->total_size, row->is_expandable ? " expandable" : "");
    for (size_t i = 0; i < row->block_count; i++) {
        const struct block_row *block = &row->blocks[i];
        buffer_printf(&recorder->rows, "block %" PRIu64 " %" PRIu64 " %" PRIu64 " %s",
                      block->address, block->size, block->requested_size, states[block->state]);
        add_stack(recorder, block->stack);
        buffer_putc(&recorder->rows, '\n');
    }
    return true;
}

static bool on_annotation(void *self, const struct annotation_row *row, struct error *err)
{
    struct recorder *recorder = self;
    (void)err;
    buffer_printf(&recorder->rows, "annotation %s %s %" PRId64 "\n",
                  row->stage == ANNOTATION_START ? "start" : "end", text_of(recorder, row->name),
                  row->time_us);
    return true;
}

static bool on_setting(void *self, const struct setting_row *row, struct error *err)
{
    struct recorder *recorder = self;
    (void)err;
    buffer_printf(&recorder->rows, "setting %s=%s\n", text_of(recorder, row->key),
                  text_of(recorder, row->value));
    return true;
}

static bool on_unknown_key(void *self, const char *where, string_id key, struct error *err)
{
    struct recorder *recorder = self;
    (void)err;
    buffer_printf(&recorder->rows, "unknown %s %s\n", where, text_of(recorder, key));
    return true;
}

struct outcome decode_rows(const void *bytes, size_t size, size_t limit)
{
    struct outcome outcome = {0};
    struct budget budget = {.limit = limit > 0 ? limit : (size_t)1 << 30};
    struct source source;
    struct recorder recorder = {0};
    const struct row_sink sink = {&recorder,  on_event,      on_event_again, on_trace,
                                  on_segment, on_annotation, on_setting,     on_unknown_key};
    recorder.symbols = symbols_create(&budget, &outcome.err);
    if (recorder.symbols != NULL &&
        source_open_memory(&source, bytes, size, &budget, &outcome.err)) {
        outcome.ok = decode_pickle_snapshot(&source, recorder.symbols, &sink, &outcome.decoded,
                                            &outcome.err);
        source_close(&source);
    }
    symbols_destroy(recorder.symbols);
    ck_assert_uint_eq(budget.used, 0);
    ck_assert_uint_lt(recorder.rows.size, sizeof outcome.rows);
    if (recorder.rows.size > 0)
        memcpy(outcome.rows, recorder.rows.bytes, recorder.rows.size);
    buffer_release(&recorder.rows);
    return outcome;
}
