#include "render/core/json.h"
#include "render/oom/oom.h"

#define SCHEMA "memsnap.oom/1"

static const char *source_name(enum oom_source source)
{
    static const char *const names[] = {
        [OOM_SOURCE_ALLOCATOR] = "allocator", [OOM_SOURCE_ASYNC] = "cudaMallocAsync",
        [OOM_SOURCE_FRACTION] = "fraction",   [OOM_SOURCE_HUGE] = "huge",
        [OOM_SOURCE_DRIVER] = "driver",       [OOM_SOURCE_LIBRARY] = "library",
        [OOM_SOURCE_HOST] = "host",           [OOM_SOURCE_OLD] = "old",
        [OOM_SOURCE_BUFFER] = "buffer",       [OOM_SOURCE_FRAMEWORK] = "framework",
        [OOM_SOURCE_CACHE] = "cache",         [OOM_SOURCE_ON_CHIP] = "on_chip",
        [OOM_SOURCE_WORKER] = "worker",       [OOM_SOURCE_SHM] = "shm",
        [OOM_SOURCE_EXIT] = "worker_exit",
    };
    return names[source];
}

static void put_size(struct json_writer *json, const char *key, const struct stated_size *size)
{
    if (size->is_stated)
        json_put_count(json, key, size->bytes);
}

static void put_place(struct json_writer *json, const struct oom_log *log,
                      const struct oom_entry *entry)
{
    const struct oom_message *message = &entry->message;
    json_put_count(json, "line", message->line);
    json_put_count(json, "offset", message->offset);
    json_put_count(json, "count", entry->count);
    if (message->rank >= 0)
        json_put_integer(json, "rank", message->rank);
    if (message->pid >= 0)
        json_put_integer(json, "pid", message->pid);
    if (message->container != STRING_EMPTY)
        json_put_text(json, "container", symbols_text(log->symbols, message->container));
    if (message->device >= 0)
        json_put_integer(json, "device", message->device);
    if (*message->backend)
        json_put_string(json, "backend", message->backend);
    json_put_string(json, "source", source_name(message->source));
}

/* The sizes as the text states them. */
static void put_stated(struct json_writer *json, const struct oom_message *message)
{
    put_size(json, "requested_bytes", &message->requested);
    put_size(json, "total_bytes", &message->total);
    put_size(json, "free_bytes", &message->free);
    put_size(json, "allowed_bytes", &message->allowed);
    put_size(json, "allocated_bytes", &message->allocated);
    put_size(json, "private_pool_bytes", &message->private_pools);
    put_size(json, "unallocated_bytes", &message->unallocated);
    put_size(json, "reserved_bytes", &message->reserved);
    put_size(json, "process_bytes", &message->own_process);
    put_size(json, "other_bytes", &message->other);
    put_size(json, "block_limit_bytes", &message->block_limit);
    put_size(json, "segment_reserve_bytes", &message->reserve);
    if (message->process_count == 0)
        return;
    json_put_open(json, "processes", '[');
    for (size_t i = 0; i < message->process_count; i++) {
        json_put_open(json, NULL, '{');
        json_put_count(json, "pid", message->processes[i].pid);
        put_size(json, "bytes", &message->processes[i].used);
        json_put_close(json, '}');
    }
    json_put_close(json, ']');
    if (message->more_processes > 0)
        json_put_count(json, "more_processes", message->more_processes);
}

static void put_account(struct json_writer *json, const struct oom_account *account)
{
    if (!account->is_known)
        return;
    json_put_open(json, "account", '{');
    json_put_count(json, "total_bytes", account->total_bytes);
    json_put_count(json, "used_bytes", account->used_bytes);
    json_put_count(json, "unallocated_bytes", account->unallocated_bytes);
    json_put_count(json, "private_pool_bytes", account->private_bytes);
    if (account->own_is_known)
        json_put_count(json, "own_other_bytes", account->own_bytes);
    if (account->own_pid > 0)
        json_put_count(json, "own_pid", account->own_pid);
    json_put_count(json, "other_process_bytes", account->process_bytes);
    json_put_count(json, "free_bytes", account->free_bytes);
    json_put_count(json, "device_used_bytes", account->device_used_bytes);
    json_put_count(json, "unexplained_bytes", account->unexplained_bytes);
    if (account->excess_bytes > 0)
        json_put_count(json, "excess_bytes", account->excess_bytes);
    json_put_count(json, "rounding_bytes", account->slack_bytes);
    json_put_close(json, '}');
}

static void put_code(struct json_writer *json, const struct oom_log *log,
                     const struct oom_error *error)
{
    const struct oom_message *message = &error->entry->message;
    if (message->exception != STRING_EMPTY)
        json_put_text(json, "exception", symbols_text(log->symbols, message->exception));
    if (error->asker)
        json_put_string(json, "asked_by", error->asker);
    if (message->stack != STACK_NONE)
        json_put_frames(json, "frames", log->symbols, message->stack);
}

static void put_error(struct json_writer *json, const struct oom_log *log,
                      const struct oom_error *error)
{
    json_put_open(json, NULL, '{');
    put_place(json, log, error->entry);
    put_stated(json, &error->entry->message);
    put_account(json, &error->account);
    json_put_string(json, "verdict", oom_verdict_name(error->verdict));
    json_put_string(json, "sentence", error->sentence);
    json_put_string(json, "next", error->next);
    put_code(json, log, error);
    json_put_close(json, '}');
}

bool oom_report_json(FILE *out, const struct oom_report *report)
{
    const struct oom_log *log = report->log;
    struct json_writer json;
    json_writer_init(&json, out);
    json_put_open(&json, NULL, '{');
    json_put_string(&json, "schema", SCHEMA);
    json_put_open(&json, "input", '{');
    json_put_string(&json, "path", report->path);
    json_put_count(&json, "bytes", log->input_bytes);
    json_put_count(&json, "lines", log->lines);
    json_put_string(&json, "compression", log->compression == COMPRESSION_GZIP ? "gzip" : "none");
    json_put_close(&json, '}');
    json_put_count(&json, "total", log->total);
    json_put_open(&json, "errors", '[');
    for (size_t i = 0; i < report->errors->count; i++)
        put_error(&json, log, &report->errors->items[i]);
    json_put_close(&json, ']');
    json_put_close(&json, '}');
    return json_writer_finish(&json);
}
