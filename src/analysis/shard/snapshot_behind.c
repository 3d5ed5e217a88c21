/* Gradients of what runs behind the last iteration of a loop, but makes them while nothing tells it
 * from that iteration: such as a second head, whose input is the output of an earlier layer. The
 * iterations of a loop mostly have parameters of the same sizes, so that the others tell what is of
 * the last one. */
#include "analysis/shard/snapshot_reader.h"

/* Behind the gradients of a layer, which are consecutive. */
static size_t end_of_layer(const struct snapshot_reader *reader, size_t first)
{
    size_t end = first;
    while (end < reader->all_made && reader->made[end].layer == reader->made[first].layer)
        end++;
    return end;
}

static bool are_iterations(const struct snapshot_reader *reader, uint32_t a, uint32_t b)
{
    uint32_t loop = snapshot_part(reader, a)->loop;
    return loop != NO_LOOP && snapshot_part(reader, b)->loop == loop;
}

/* The last iteration of a loop. */
static bool is_last(const struct snapshot_reader *reader, uint32_t layer)
{
    return layer > SHARD_FIRST_ELEMENT && layer < reader->chain->count &&
           are_iterations(reader, layer - 1, layer) && !are_iterations(reader, layer, layer + 1);
}

/* The number of gradients that are made before those of the sizes that the iteration before has. */
static size_t behind(const struct snapshot_reader *reader, size_t first, size_t end)
{
    const struct made_gradient *made = reader->made;
    bool has_before = end < reader->all_made && made[end].layer + 1 == made[first].layer;
    size_t own = has_before ? end_of_layer(reader, end) - end : 0;
    if (own == 0 || own >= end - first)
        return 0;
    for (size_t i = 0; i < own; i++)
        if (made[end - own + i].bytes != made[end + i].bytes)
            return 0;
    return end - own - first;
}

void snapshot_move_behind_loops(struct snapshot_reader *reader)
{
    for (size_t first = 0, end; first < reader->all_made; first = end) {
        uint32_t layer = reader->made[first].layer;
        end = end_of_layer(reader, first);
        size_t count = is_last(reader, layer) ? behind(reader, first, end) : 0;
        bool is_unit = count > 0 && snapshot_is_unit(reader, layer + 1);
        for (size_t i = first; i < first + count; i++) {
            reader->made[i].is_behind = is_unit;
            reader->made[i].layer += !is_unit;
        }
        if (count == 0 || is_unit) /* such as a table of embeddings, which keeps nothing */
            continue;
        uint32_t item = reader->made[first + count - 1].item - reader->chain->backward + 1;
        while (item > 0 && reader->running[item - 1] == layer)
            reader->running[--item] = layer + 1;
    }
}
