#define _GNU_SOURCE /* fwrite_unlocked */
#include "render/flame/flame.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "model/device.h"
#include "render/core/escape.h"
#include "render/core/json.h"

/* The frames of one graph in their output form, each made at its first use. */
struct texts {
    const struct flame *flame;
    const char **of_frame;
    size_t capacity;
    struct arena arena;
    struct buffer label, escaped, line;
};

static bool texts_init(struct texts *texts, const struct flame *flame, struct error *err)
{
    *texts = (struct texts){.flame = flame};
    arena_init(&texts->arena, flame->budget);
    if (!vec_reserve(texts->of_frame, texts->capacity, flame->frame_count + 1, flame->budget, err))
        return false;
    memset(texts->of_frame, 0, texts->capacity * sizeof(*texts->of_frame));
    return true;
}

static void texts_release(struct texts *texts)
{
    vec_free(texts->of_frame, texts->capacity, sizeof(*texts->of_frame), texts->flame->budget);
    arena_release(&texts->arena);
    buffer_release(&texts->label);
    buffer_release(&texts->escaped);
    buffer_release(&texts->line);
}

/* NULL if out of memory. */
static const char *text_of(struct texts *texts, uint32_t frame, struct error *err)
{
    if (texts->of_frame[frame])
        return texts->of_frame[frame];
    buffer_clear(&texts->label);
    buffer_clear(&texts->escaped);
    flame_label(texts->flame, frame, &texts->label);
    escape_folded(&texts->escaped, texts->label.bytes, texts->label.size);
    if (texts->label.failed || texts->escaped.failed) {
        error_out_of_memory(err);
        return NULL;
    }
    char *kept = arena_alloc(&texts->arena, texts->escaped.size + 1, err);
    if (kept)
        memcpy(kept, texts->escaped.bytes, texts->escaped.size + 1);
    texts->of_frame[frame] = kept;
    return kept;
}

/* The line of a node begins with its parent's line, which is kept. */
static bool put_graph(FILE *out, struct texts *texts, const char *root, struct error *err)
{
    const struct flame *flame = texts->flame;
    size_t ends[FLAME_DEPTH + 1]; /* by depth: where a node's part of the line ends */
    struct flame_visitor visitor;
    buffer_puts(&texts->line, root);
    ends[0] = texts->line.size;
    flame_visitor_begin(&visitor, flame);
    while (flame_visitor_next(&visitor) && !texts->line.failed && !ferror_unlocked(out)) {
        const struct flame_node *node = &flame->nodes[visitor.path[visitor.depth - 1]];
        const char *text = text_of(texts, node->frame, err);
        if (!text)
            return false;
        texts->line.size = ends[visitor.depth - 1];
        if (visitor.depth > 1)
            buffer_putc(&texts->line, ';');
        buffer_puts(&texts->line, text);
        ends[visitor.depth] = texts->line.size;
        if (node->self > 0) {
            fwrite_unlocked(texts->line.bytes, 1, texts->line.size, out);
            fprintf(out, " %" PRIu64 "\n", node->self);
        }
    }
    return !texts->line.failed || error_out_of_memory(err);
}

bool flame_folded(FILE *out, const struct flame_graphs *graphs, struct error *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < graphs->count; i++) {
        char root[32] = "";
        struct texts texts;
        if (graphs->count > 1)
            snprintf(root, sizeof(root), "%s;", DEVICE_WORDS(graphs->items[i]->timeline->device));
        ok = texts_init(&texts, graphs->items[i], err) && put_graph(out, &texts, root, err);
        texts_release(&texts);
    }
    return ok;
}

/* The unit of the weights of a graph: "bytes live" or "bytes x milliseconds". */
static void flame_weight_name(const struct flame *flame, struct buffer *name)
{
    switch (flame->options.weight) {
    case FLAME_LIVE:
        if (flame->options.at.kind == WHEN_END)
            buffer_puts(name, "bytes live at the end");
        else
            buffer_puts(name, flame->options.at.kind != WHEN_PEAK
                                  ? "bytes live at the requested moment"
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
    buffer_printf(name, "%s: ", DEVICE_WORDS(flame->timeline->device));
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
