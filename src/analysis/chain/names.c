#include "analysis/chain/names.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/chain/loops.h"
#include "analysis/code/labels.h"
#include "analysis/code/paths.h"
#include "base/buffer.h"

/* Bytes of a file's or function's name that are shown. A capture may have names of any length, and
 * each is repeated in the names of many parts. */
#define LONGEST_NAME 200
#define MOST_NUMBERS (CALL_MOST_LEVELS * (CALL_MOST_NESTING + 1))

/* The lines and the function that the name of a part shows. */
struct place {
    frame_id frame; /* NO_FRAME if nothing is known */
    bool is_call;   /* a loop in which one line calls a function again and again */
    uint32_t first_line, last_line;
    string_id function;
};

struct namer {
    struct forward_chain *chain;
    const struct call_tree *tree;
    const struct cut *cut;
    struct site_table *sites;
    struct symbols *symbols;
    struct label_files files;
    struct buffer text;
    uint32_t known_loop; /* the node of known_place, cached because iterations come in a row */
    struct place known_place;
};

/* The innermost frame of the code under study among the first `level` frames; without one, the
 * innermost of any code. */
static frame_id user_frame(const struct namer *namer, uint32_t run, size_t level)
{
    frame_id any = NO_FRAME;
    while (level-- > 0) {
        frame_id frame = call_frame(namer->tree, run, level);
        if (frame == NO_FRAME)
            continue;
        if (site_frame_kind(namer->sites, frame) == FRAME_USER)
            return frame;
        if (any == NO_FRAME)
            any = frame;
    }
    return any;
}

static struct place find_line_place(const struct namer *namer, const struct call_node *node)
{
    struct place place = {.frame = user_frame(namer, node->first_run, node->level)};
    if (place.frame == NO_FRAME)
        return place;
    struct frame frame = symbols_frame_at(namer->symbols, place.frame);
    place.first_line = place.last_line = frame.line;
    place.function = frame.name;
    return place;
}

static struct place find_loop_place(const struct namer *namer, const struct call_node *loop)
{
    const struct call_tree *tree = namer->tree;
    frame_id id = call_frame(tree, loop->first_run, loop->level);
    struct place place = find_line_place(namer, loop);
    if (id == NO_FRAME)
        return place;
    struct frame head = symbols_frame_at(namer->symbols, id);
    if (!call_loop_is_inside(tree, loop)) {
        place.function = head.name;
        place.is_call = true;
        return place;
    }
    place = (struct place){
        .frame = id, .first_line = head.line, .last_line = head.line, .function = head.name};
    const struct call_node *iteration = &tree->nodes[loop->first_child];
    for (uint32_t run = iteration->first_run; run < iteration->end_run; run++) {
        id = call_frame(tree, run, loop->level);
        if (id == NO_FRAME)
            continue;
        struct frame frame = symbols_frame_at(namer->symbols, id);
        if (!call_same_function(frame, head))
            continue;
        if (frame.line < place.first_line)
            place.first_line = frame.line;
        if (frame.line > place.last_line)
            place.last_line = frame.line;
    }
    return place;
}

static struct place find_place(struct namer *namer, uint32_t index)
{
    const struct call_node *nodes = namer->tree->nodes;
    if (nodes[index].kind == CALL_ITERATION)
        index = nodes[index].parent;
    if (nodes[index].kind != CALL_LOOP)
        return find_line_place(namer, &nodes[index]);
    if (namer->known_loop != index) {
        namer->known_loop = index;
        namer->known_place = find_loop_place(namer, &nodes[index]);
    }
    return namer->known_place;
}

static void write_place(struct namer *namer, struct place place)
{
    buffer_clear(&namer->text);
    if (place.frame == NO_FRAME) {
        buffer_puts(&namer->text, "(no Python stack)");
        return;
    }
    struct frame frame = symbols_frame_at(namer->symbols, place.frame);
    struct text file = symbols_text(namer->symbols, frame.file);
    size_t size = label_files_size(&namer->files, frame.file);
    if (size == 0 || size > file.size)
        size = path_base(file).size;
    if (size > LONGEST_NAME)
        size = LONGEST_NAME;
    buffer_add(&namer->text, file.bytes + file.size - size, size);
    buffer_printf(&namer->text, ":%u", (unsigned)place.first_line);
    if (place.last_line > place.first_line)
        buffer_printf(&namer->text, "-%u", (unsigned)place.last_line);
    struct text function = symbols_text(namer->symbols, place.function);
    buffer_putc(&namer->text, ' ');
    buffer_add(&namer->text, function.bytes,
               function.size < LONGEST_NAME ? function.size : LONGEST_NAME);
}

/* Writes " [1][3]": the numbers of the iterations that contain a node, its own included, without
 * the outermost `skip`. */
static void write_numbers(struct namer *namer, uint32_t index, size_t skip)
{
    const struct call_node *nodes = namer->tree->nodes;
    uint32_t numbers[MOST_NUMBERS];
    size_t count = 0;
    for (; index > 0 && count < MOST_NUMBERS; index = nodes[index].parent)
        if (nodes[index].kind == CALL_ITERATION)
            numbers[count++] = nodes[index].iteration;
    count -= skip < count ? skip : count;
    if (count > 0)
        buffer_putc(&namer->text, ' ');
    while (count-- > 0)
        buffer_printf(&namer->text, "[%u]", (unsigned)numbers[count]);
}

static bool intern(struct namer *namer, string_id *id, struct error *err)
{
    if (namer->text.failed)
        return error_out_of_memory(err);
    return symbols_string(namer->symbols, namer->text.bytes, namer->text.size, id, err);
}

/* The line that calls the function of the iterations, which need not be code under study. */
static void set_lines(const struct namer *namer, const struct call_node *loop, struct place place,
                      struct chain_loop *made)
{
    for (uint32_t i = loop->parent; i > 0; i = namer->tree->nodes[i].parent)
        made->is_nested |= namer->tree->nodes[i].kind == CALL_ITERATION;
    made->frame = place.frame;
    if (place.is_call)
        made->frame =
            loop->level > 0 ? call_frame(namer->tree, loop->first_run, loop->level - 1u) : NO_FRAME;
    made->first_line = place.first_line;
    made->last_line = place.last_line;
    if (place.is_call && made->frame != NO_FRAME)
        made->first_line = made->last_line = symbols_frame_at(namer->symbols, made->frame).line;
}

static bool add_loop(struct namer *namer, uint32_t node, struct error *err)
{
    struct forward_chain *chain = namer->chain;
    const struct call_node *loop = &namer->tree->nodes[node];
    struct place place = find_place(namer, node);
    struct chain_loop made = {.iterations = loop->end_child - loop->first_child,
                              .is_call = place.is_call};
    set_lines(namer, loop, place, &made);
    write_place(namer, place);
    write_numbers(namer, node, 0);
    if (!intern(namer, &made.name, err) ||
        !vec_grow((void **)&chain->loops, &chain->loop_capacity, chain->loop_count + 1,
                  sizeof(made), chain->budget, err))
        return false;
    chain->loops[chain->loop_count++] = made;
    return true;
}

/* Finds the loop over lines around a part. */
static void set_around(const struct namer *namer, uint32_t index, struct chain_part *part)
{
    const struct call_tree *tree = namer->tree;
    uint32_t within = index;
    for (; index > 0; within = index, index = tree->nodes[index].parent) {
        const struct call_node *inner = &tree->nodes[within], *node = &tree->nodes[index];
        const struct call_node *iteration = &tree->nodes[node->parent];
        bool is_line = node->kind == CALL_LINE && node->level == iteration->level + 1u;
        bool is_loop = node->kind == CALL_LOOP && part->around == NO_LOOP;
        if (iteration->kind != CALL_ITERATION || !(is_line || is_loop) ||
            !call_loop_is_inside(tree, &tree->nodes[iteration->parent]))
            continue;
        part->around = iteration->parent;
        part->around_iteration = iteration->iteration;
        part->around_line = call_frame(tree, node->first_run, iteration->level);
        part->around_calls = call_is_module(tree, node->first_run, iteration->level);
        part->around_loops = is_loop || (inner->kind == CALL_LOOP && inner->level == node->level);
    }
}

static bool is_in_package(const struct namer *namer, frame_id id)
{
    if (id == NO_FRAME)
        return false;
    struct text file = symbols_text(namer->symbols, symbols_frame_at(namer->symbols, id).file);
    return path_classify(file).module > 0;
}

static bool write_name(struct namer *namer, struct place place, uint32_t index, size_t skip,
                       string_id *name, struct error *err)
{
    write_place(namer, place);
    write_numbers(namer, index, skip);
    return intern(namer, name, err);
}

static bool name_part(struct namer *namer, uint32_t index, uint32_t *last_loop, struct error *err)
{
    struct forward_chain *chain = namer->chain;
    const struct call_node *node = &namer->tree->nodes[index];
    struct chain_part part = {.loop = NO_LOOP, .around = NO_LOOP, .around_line = NO_FRAME};
    if (node->kind == CALL_ITERATION) {
        if (node->parent != *last_loop && !add_loop(namer, node->parent, err))
            return false;
        *last_loop = node->parent;
        part.loop = (uint32_t)chain->loop_count - 1;
        part.iteration = node->iteration;
    }
    set_around(namer, index, &part);
    struct place place = find_place(namer, index);
    part.in_package = is_in_package(namer, place.frame);
    if (!write_name(namer, place, index, 0, &part.name, err) ||
        !write_name(namer, place, index, 1, &part.inner, err) ||
        !vec_grow((void **)&chain->parts, &chain->part_capacity, chain->part_count + 1,
                  sizeof(part), chain->budget, err))
        return false;
    chain->parts[chain->part_count++] = part;
    return true;
}

bool chain_name_parts(struct forward_chain *chain, const struct call_tree *tree,
                      const struct cut *cut, struct site_table *sites, struct error *err)
{
    struct namer namer = {.chain = chain, .tree = tree, .cut = cut, .sites = sites};
    namer.known_loop = UINT32_MAX;
    namer.symbols = site_table_symbols(sites);
    namer.text = (struct buffer)BUFFER_INIT;
    label_files_init(&namer.files, namer.symbols, chain->budget);
    bool ok = true;
    for (size_t i = 0; ok && i < cut->count; i++) {
        struct place place = find_place(&namer, cut->nodes[i]);
        ok = place.frame == NO_FRAME ||
             label_files_add(&namer.files, symbols_frame_at(namer.symbols, place.frame).file, err);
    }
    label_files_settle(&namer.files);
    uint32_t last_loop = UINT32_MAX;
    for (size_t i = 0; ok && i < cut->count; i++)
        ok = name_part(&namer, cut->nodes[i], &last_loop, err);
    buffer_release(&namer.text);
    label_files_release(&namer.files);
    return ok;
}

struct numbered {
    string_id name;
    uint32_t part;
};

static int compare_numbered(const void *a, const void *b)
{
    const struct numbered *p = a, *q = b;
    if (p->name != q->name)
        return p->name < q->name ? -1 : 1;
    return (p->part > q->part) - (p->part < q->part);
}

static bool number_name(struct symbols *symbols, string_id *id, size_t number, struct error *err)
{
    struct buffer text = BUFFER_INIT;
    struct text name = symbols_text(symbols, *id);
    buffer_add(&text, name.bytes, name.size);
    buffer_printf(&text, " (%zu)", number);
    bool ok = text.failed ? error_out_of_memory(err)
                          : symbols_string(symbols, text.bytes, text.size, id, err);
    buffer_release(&text);
    return ok;
}

bool chain_tell_apart(struct forward_chain *chain, struct symbols *symbols, struct error *err)
{
    size_t bytes = chain->part_count * sizeof(struct numbered);
    if (!budget_take(chain->budget, bytes, err))
        return false;
    struct numbered *all = malloc(bytes);
    bool ok = all || error_out_of_memory(err);
    for (uint32_t i = 0; ok && i < chain->part_count; i++)
        all[i] = (struct numbered){chain->parts[i].name, i};
    if (ok)
        qsort(all, chain->part_count, sizeof(*all), compare_numbered);
    size_t same = 1;
    for (size_t i = 1; ok && i < chain->part_count; i++) {
        same = all[i].name == all[i - 1].name ? same + 1 : 1;
        struct chain_part *part = &chain->parts[all[i].part];
        if (same > 1)
            ok = number_name(symbols, &part->name, same, err) &&
                 number_name(symbols, &part->inner, same, err);
    }
    free(all);
    budget_give(chain->budget, bytes);
    return ok;
}

bool chain_add_label(struct symbols *symbols, const struct buffer *label, struct text *name,
                     struct error *err)
{
    string_id id;
    if (label->failed)
        return error_out_of_memory(err);
    if (!symbols_string(symbols, label->bytes, label->size, &id, err))
        return false;
    *name = symbols_text(symbols, id);
    return true;
}
