#include <string.h>

#include "render/core/json_frames.h"
#include "render/flame/flame.h"

void flame_weight_name(const struct flame *flame, struct buffer *name)
{
    switch (flame->options.weight) {
    case FLAME_LIVE:
        if (flame->options.at_end)
            buffer_puts(name, "bytes live at the end");
        else
            buffer_puts(name, flame->options.at_given ? "bytes live at the requested moment"
                                                      : "bytes live at the peak");
        break;
    case FLAME_BYTES_TIME:
        buffer_puts(name, "bytes x ");
        if (flame->unit_us == 1)
            buffer_puts(name, "microseconds");
        else if (flame->unit_us == 1000)
            buffer_puts(name, "milliseconds");
        else
            buffer_printf(name, "%llu microseconds", (unsigned long long)flame->unit_us);
        break;
    case FLAME_ALLOCATED:
        buffer_puts(name, "bytes allocated");
        break;
    case FLAME_COUNT:
        buffer_puts(name, "allocations");
        break;
    }
}

static void put_frame(struct json_writer *json, const struct flame *flame, uint32_t frame,
                      struct buffer *label)
{
    struct text file;
    uint32_t line;
    buffer_clear(label);
    flame_label(flame, frame, label);
    json_put_open(json, NULL, '{');
    json_put_bytes(json, "name", label->bytes, label->size);
    if (flame_source(flame, frame, &file, &line)) {
        json_put_name(json, "file", file);
        if (line > 0)
            json_put_count(json, "line", line);
    }
    json_put_close(json, '}');
}

/* Frames of all devices, one after the other. */
static void put_frames(struct json_writer *json, const struct flame_graphs *graphs,
                       struct buffer *label)
{
    json_put_open(json, "shared", '{');
    json_put_open(json, "frames", '[');
    for (size_t i = 0; i < graphs->count; i++)
        for (size_t k = 0; k < graphs->items[i]->frame_count; k++)
            put_frame(json, graphs->items[i], (uint32_t)k, label);
    json_put_close(json, ']');
    json_put_close(json, '}');
}

static void put_samples(struct json_writer *json, const struct flame *flame, size_t first_frame)
{
    struct flame_visitor visitor;
    json_put_open(json, "samples", '[');
    flame_visitor_begin(&visitor, flame);
    while (flame_visitor_next(&visitor) && !ferror_unlocked(json->out)) {
        if (flame->nodes[visitor.path[visitor.depth - 1]].self == 0)
            continue;
        json_put_open(json, NULL, '[');
        for (size_t i = 0; i < visitor.depth; i++)
            json_put_count(json, NULL, first_frame + flame->nodes[visitor.path[i]].frame);
        json_put_close(json, ']');
    }
    json_put_close(json, ']');
    json_put_open(json, "weights", '[');
    flame_visitor_begin(&visitor, flame);
    while (flame_visitor_next(&visitor) && !ferror_unlocked(json->out)) {
        uint64_t weight = flame->nodes[visitor.path[visitor.depth - 1]].self;
        if (weight > 0)
            json_put_count(json, NULL, weight);
    }
    json_put_close(json, ']');
}

static void put_profile(struct json_writer *json, const struct flame *flame, size_t first_frame,
                        struct buffer *name)
{
    bool bytes = flame->options.weight == FLAME_LIVE || flame->options.weight == FLAME_ALLOCATED;
    buffer_clear(name);
    buffer_printf(name, "device %u: ", flame->timeline->device);
    flame_weight_name(flame, name);
    json_put_open(json, NULL, '{');
    json_put_string(json, "type", "sampled");
    json_put_bytes(json, "name", name->bytes, name->size);
    json_put_string(json, "unit", bytes ? "bytes" : "none");
    json_put_count(json, "startValue", 0);
    json_put_count(json, "endValue", flame->total);
    put_samples(json, flame, first_frame);
    json_put_close(json, '}');
}

static size_t heaviest(const struct flame_graphs *graphs)
{
    size_t best = 0;
    for (size_t i = 1; i < graphs->count; i++)
        if (graphs->items[i]->total > graphs->items[best]->total)
            best = i;
    return best;
}

bool flame_speedscope(FILE *out, const struct flame_graphs *graphs, struct error *err)
{
    struct json_writer json;
    struct buffer text = BUFFER_INIT;
    size_t first_frame = 0;
    json_writer_init(&json, out);
    json_put_open(&json, NULL, '{');
    json_put_string(&json, "$schema", "https://www.speedscope.app/file-format-schema.json");
    json_put_string(&json, "exporter", "memsnap " PACKAGE_VERSION);
    json_put_bytes(&json, "name", graphs->path, strlen(graphs->path));
    json_put_count(&json, "activeProfileIndex", heaviest(graphs));
    put_frames(&json, graphs, &text);
    json_put_open(&json, "profiles", '[');
    for (size_t i = 0; i < graphs->count; i++) {
        put_profile(&json, graphs->items[i], first_frame, &text);
        first_frame += graphs->items[i]->frame_count;
    }
    json_put_close(&json, ']');
    json_put_close(&json, '}');
    bool ok = json_writer_finish(&json) && !text.failed;
    buffer_release(&text);
    return ok || error_out_of_memory(err);
}
