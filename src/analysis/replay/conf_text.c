#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/replay/conf.h"
#include "model/snapshot.h"

#define MIB UINT64_C(1048576)

/* A text that grows within CONF_TEXT_SIZE. */
struct conf_writer {
    char *out;
    size_t size;
};

static void put(struct conf_writer *writer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void put(struct conf_writer *writer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int size =
        vsnprintf(writer->out + writer->size, CONF_TEXT_SIZE - writer->size, format, arguments);
    va_end(arguments);
    if (size > 0 && (size_t)size < CONF_TEXT_SIZE - writer->size)
        writer->size += (size_t)size;
}

static const char *comma(const struct conf_writer *writer)
{
    return writer->size > 0 ? "," : "";
}

static void put_divisions(struct conf_writer *writer, const uint64_t *divisions)
{
    bool is_off = true, is_uniform = true;
    for (size_t i = 0; i < ALLOCATOR_DIVISIONS; i++) {
        is_off = is_off && divisions[i] < 2;
        is_uniform = is_uniform && divisions[i] == divisions[0];
    }
    if (is_off)
        return;
    put(writer, "%sroundup_power2_divisions:", comma(writer));
    if (is_uniform) {
        put(writer, "%" PRIu64, divisions[0]);
        return;
    }
    for (size_t i = 0; i < ALLOCATOR_DIVISIONS; i++)
        put(writer, "%c%u:%" PRIu64, i == 0 ? '[' : ',', 1u << i, divisions[i]);
    put(writer, "]");
}

const char *conf_text(char out[CONF_TEXT_SIZE], const struct allocator_settings *settings)
{
    struct conf_writer writer = {out, 0};
    out[0] = '\0';
    if (settings->rules.expandable_segments)
        put(&writer, "expandable_segments:True");
    if (settings->rules.max_split_size != UINT64_MAX)
        put(&writer, "%smax_split_size_mb:%" PRIu64, comma(&writer),
            settings->rules.max_split_size / MIB);
    if (settings->non_split_rounding != ALLOCATOR_LARGE_SEGMENT)
        put(&writer, "%smax_non_split_rounding_mb:%" PRIu64, comma(&writer),
            settings->non_split_rounding / MIB);
    if (settings->large_segment != ALLOCATOR_LARGE_SEGMENT)
        put(&writer, "%slarge_segment_size_mb:%" PRIu64, comma(&writer),
            settings->large_segment / MIB);
    put_divisions(&writer, settings->rules.divisions);
    if (settings->rules.gc_threshold > 0)
        put(&writer, "%sgarbage_collection_threshold:%g", comma(&writer),
            settings->rules.gc_threshold);
    if (settings->memory_fraction > 0)
        put(&writer, "%sper_process_memory_fraction:%g", comma(&writer), settings->memory_fraction);
    return out;
}

bool conf_of_snapshot(const struct snapshot *snapshot, struct allocator_settings *settings,
                      struct error *err)
{
    struct allocator_settings made = ALLOCATOR_SETTINGS_DEFAULT;
    struct text text;
    /* The dict of settings lacks a few that the program's environment may set. */
    if (snapshot_setting(snapshot, "PYTORCH_CUDA_ALLOC_CONF", &text)) {
        struct error ignored;
        if (text_find(text, "cudaMallocAsync"))
            return error_set(err, STATUS_BAD_INPUT,
                             "it was recorded with cudaMallocAsync, which cannot be replayed");
        if (!conf_parse(text.bytes, &made, &ignored))
            made = ALLOCATOR_SETTINGS_DEFAULT;
    }
    if (snapshot->rules.is_known) {
        double fraction = made.memory_fraction;
        made.rules = snapshot->rules;
        made.memory_fraction = fraction;
    }
    *settings = made;
    return true;
}
