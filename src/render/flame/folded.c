#define _GNU_SOURCE /* fwrite_unlocked */
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "render/core/escape.h"
#include "render/flame/flame.h"

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
            snprintf(root, sizeof(root), "device %u;", graphs->items[i]->timeline->device);
        ok = texts_init(&texts, graphs->items[i], err) && put_graph(out, &texts, root, err);
        texts_release(&texts);
    }
    return ok;
}
