#include "model/oom_log.h"

#include <stdlib.h>
#include <string.h>

#include "decode/log/oom_log.h"
#include "decode/stats/stats.h"

/* A text is printed again soon, if at all: by a logger, or as the cause of another exception. */
#define REPEATS_WITHIN 64

struct loader {
    struct oom_log *log;
    size_t capacity;
    struct stats_tables *tables; /* NULL: unwanted */
};

static bool is_same_size(const struct stated_size *a, const struct stated_size *b)
{
    return a->is_stated == b->is_stated && a->bytes == b->bytes && a->slack == b->slack;
}

static bool has_same_sizes(const struct oom_message *a, const struct oom_message *b)
{
    return is_same_size(&a->requested, &b->requested) && is_same_size(&a->total, &b->total) &&
           is_same_size(&a->free, &b->free) && is_same_size(&a->allowed, &b->allowed) &&
           is_same_size(&a->allocated, &b->allocated) &&
           is_same_size(&a->private_pools, &b->private_pools) &&
           is_same_size(&a->unallocated, &b->unallocated) &&
           is_same_size(&a->reserved, &b->reserved) &&
           is_same_size(&a->own_process, &b->own_process) && is_same_size(&a->other, &b->other);
}

/* True if the texts state the same, even of two processes in one container: a process prints the
 * errors of its workers again. */
static bool is_same(const struct oom_message *a, const struct oom_message *b)
{
    return a->rank == b->rank && a->container == b->container && a->device == b->device &&
           a->source == b->source && a->process_count == b->process_count &&
           strcmp(a->backend, b->backend) == 0 && has_same_sizes(a, b);
}

static struct oom_entry *find_same(const struct oom_log *log, const struct oom_message *message)
{
    size_t least = log->count > REPEATS_WITHIN ? log->count - REPEATS_WITHIN : 0;
    for (size_t i = log->count; i > least; i--)
        if (is_same(&log->items[i - 1].message, message))
            return &log->items[i - 1];
    return NULL;
}

static bool take_message(void *self, const struct oom_message *message, struct error *err)
{
    struct loader *loader = self;
    struct oom_log *log = loader->log;
    struct oom_entry *same = find_same(log, message);
    if (same) {
        same->count++;
        if (same->message.stack == STACK_NONE)
            same->message.stack = message->stack;
        if (same->message.exception == STRING_EMPTY)
            same->message.exception = message->exception;
        return true;
    }
    log->total++;
    if (log->count == OOM_LOG_MOST)
        return true;
    return vec_push(log->items, log->count, loader->capacity, log->budget, err,
                    (struct oom_entry){*message, 1});
}

static int compare_places(const void *a, const void *b)
{
    const struct oom_message *x = &((const struct oom_entry *)a)->message;
    const struct oom_message *y = &((const struct oom_entry *)b)->message;
    if (x->line != y->line)
        return x->line > y->line ? 1 : -1;
    return (x->column > y->column) - (x->column < y->column);
}

static bool take_table(void *self, const struct stats_row *row, struct error *err)
{
    struct oom_log *log = self;
    return vec_push(log->tables, log->table_count, log->table_capacity, log->budget, err, *row);
}

static bool take_line(void *self, const struct log_line *line, struct error *err)
{
    return stats_tables_take(((struct loader *)self)->tables, line, err);
}

static bool decode(struct loader *loader, struct source *source, struct error *err)
{
    struct oom_log *log = loader->log;
    const struct oom_sink sink = {loader, take_message, loader->tables ? take_line : NULL};
    log->symbols = symbols_create(log->budget, err);
    return log->symbols && decode_oom_log(source, log->symbols, &sink, &log->lines, err) &&
           (!loader->tables || stats_tables_end(loader->tables, err));
}

static struct oom_log *load(struct input *input, bool with_tables, struct error *err)
{
    struct oom_log *log = calloc(1, sizeof(*log));
    const struct stats_sink sink = {log, take_table};
    struct loader loader = {.log = log};
    if (!log) {
        input_discard(input);
        error_out_of_memory(err);
        return NULL;
    }
    log->budget = input->budget;
    bool ok = (!with_tables || (loader.tables = stats_tables_create(&sink, err))) &&
              decode(&loader, &input->source, err);
    stats_tables_destroy(loader.tables);
    log->compression = input->source.compression;
    input_close(input);
    log->input_bytes = input->bytes;
    if (ok && log->count > 0)
        qsort(log->items, log->count, sizeof(*log->items), compare_places);
    if (ok)
        return log;
    oom_log_destroy(log);
    return NULL;
}

struct oom_log *oom_log_load_input(struct input *input, struct error *err)
{
    return load(input, false, err);
}

struct oom_log *oom_log_load_all(struct input *input, struct error *err)
{
    return load(input, true, err);
}

void oom_log_destroy(struct oom_log *log)
{
    if (!log)
        return;
    vec_free(log->items, 0, sizeof(*log->items), log->budget); /* the budget is destroyed, too */
    vec_free(log->tables, 0, sizeof(*log->tables), log->budget);
    symbols_destroy(log->symbols);
    free(log->budget);
    free(log);
}
