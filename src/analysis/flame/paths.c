#include "analysis/flame/paths.h"

#include <string.h>

#include "analysis/code/frames.h"
#include "base/hash.h"

#define STACK_HEAD 100 /* frames kept at the outer end of a stack that is too long */

#define NO_INDEX UINT32_MAX

enum view {
    VIEW_UNSEEN,
    VIEW_SHOWN,
    VIEW_HELPER, /* shown only if the stack has no frame of the user */
    VIEW_NATIVE, /* shown only with all frames */
    VIEW_NEVER,  /* part of the recorder */
};

struct frame_view {
    uint32_t view;  /* enum view */
    uint32_t frame; /* index in flame.frames; NO_INDEX: not shown yet */
};

struct path_span {
    size_t first;
    uint32_t count_plus_one; /* 0: not computed yet */
};

bool flame_paths_init(struct flame_paths *paths, struct flame *flame, struct error *err)
{
    const struct symbols *symbols = site_table_symbols(flame->sites);
    size_t frames = symbols_frame_count(symbols), stacks = symbols_stack_count(symbols);
    struct flame_paths made = {
        .sites = flame->sites,
        .all_frames = flame->options.all_frames,
        .flame = flame,
        .seed = hash_seed(),
        .budget = flame->budget,
    };
    if (!vec_reserve(made.views, made.view_capacity, frames + 1, made.budget, err) ||
        !vec_reserve(made.spans, made.span_capacity, stacks + 1, made.budget, err)) {
        flame_paths_release(&made);
        return false;
    }
    memset(made.views, 0, made.view_capacity * sizeof(*made.views));
    memset(made.spans, 0, made.span_capacity * sizeof(*made.spans));
    *paths = made;
    return true;
}

void flame_paths_release(struct flame_paths *paths)
{
    idtable_release(&paths->table, paths->budget);
    vec_free(paths->views, paths->view_capacity, sizeof(*paths->views), paths->budget);
    vec_free(paths->spans, paths->span_capacity, sizeof(*paths->spans), paths->budget);
    vec_free(paths->items, paths->capacity, sizeof(*paths->items), paths->budget);
    *paths = (struct flame_paths){0};
}

static bool is_frame(const void *frames, uint32_t id, const void *wanted)
{
    const struct flame_frame *frame = (const struct flame_frame *)frames + id, *like = wanted;
    return frame->kind == like->kind && frame->id == like->id;
}

bool flame_paths_frame(struct flame_paths *paths, enum flame_kind kind, uint32_t id,
                       uint32_t *frame, struct error *err)
{
    struct flame *flame = paths->flame;
    const struct flame_frame wanted = {kind, id};
    uint32_t tag = (uint32_t)hash_word((uint64_t)kind << 32 | id, paths->seed);
    if (idtable_find(&paths->table, tag, is_frame, flame->frames, &wanted, frame))
        return true;
    *frame = (uint32_t)flame->frame_count;
    return idtable_add(&paths->table, tag, *frame, paths->budget, err) &&
           vec_push(flame->frames, flame->frame_count, flame->frame_capacity, paths->budget, err,
                    wanted);
}

/* Innermost frames that belong to the recorder itself. */
static bool records_stacks(struct text function)
{
    static const char *const prefixes[] = {"torch::unwind", "torch::CapturedTraceback",
                                           "torch::gather"};
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (text_starts(function, prefixes[i]))
            return true;
    return false;
}

static enum view view_python(const struct flame_paths *paths, frame_id id, bool is_user)
{
    const struct symbols *symbols = site_table_symbols(paths->sites);
    struct frame frame = symbols_frame_at(symbols, id);
    struct text file = symbols_text(symbols, frame.file);
    bool is_helper = !is_user && frame_only_forwards_calls(file, path_classify(file),
                                                           symbols_text(symbols, frame.name));
    return is_helper && !paths->all_frames ? VIEW_HELPER : VIEW_SHOWN;
}

static enum view view_native(const struct flame_paths *paths, frame_id id)
{
    char unused[NATIVE_NAME_SIZE];
    const struct symbols *symbols = site_table_symbols(paths->sites);
    struct text function = symbols_text(symbols, symbols_frame_at(symbols, id).name);
    if (paths->all_frames || native_classify(function, unused) == NATIVE_NODE)
        return VIEW_SHOWN;
    return records_stacks(function) ? VIEW_NEVER : VIEW_NATIVE;
}

static struct frame_view *look_at(struct flame_paths *paths, frame_id id)
{
    struct frame_view *view = &paths->views[id];
    enum frame_kind kind = site_frame_kind(paths->sites, id);
    if (view->view == VIEW_UNSEEN)
        *view = (struct frame_view){
            .view = kind == FRAME_NATIVE ? view_native(paths, id)
                                         : view_python(paths, id, kind == FRAME_USER),
            .frame = NO_INDEX,
        };
    return view;
}

/* Shows an autograd node by its name, other native frames as recorded. */
static bool show_native(struct flame_paths *paths, frame_id id, uint32_t *frame, struct error *err)
{
    char name[NATIVE_NAME_SIZE];
    struct symbols *symbols = site_table_symbols(paths->sites);
    struct text function = symbols_text(symbols, symbols_frame_at(symbols, id).name);
    string_id node;
    if (paths->all_frames || native_classify(function, name) != NATIVE_NODE)
        return flame_paths_frame(paths, FLAME_NATIVE, id, frame, err);
    return symbols_string(symbols, name, strlen(name), &node, err) &&
           flame_paths_frame(paths, FLAME_NAME, node, frame, err);
}

static bool show(struct flame_paths *paths, frame_id id, struct frame_view *view, struct error *err)
{
    enum frame_kind kind = site_frame_kind(paths->sites, id);
    if (view->frame != NO_INDEX)
        return true;
    if (kind == FRAME_NATIVE)
        return show_native(paths, id, &view->frame, err);
    frame_id shown = paths->all_frames ? id : site_original_frame(paths->sites, id);
    return flame_paths_frame(paths, kind == FRAME_USER ? FLAME_USER : FLAME_LIBRARY, shown,
                             &view->frame, err);
}

static bool append(struct flame_paths *paths, uint32_t frame, struct error *err)
{
    if (!vec_grow((void **)&paths->items, &paths->capacity, paths->count + 1, sizeof(uint32_t),
                  paths->budget, err))
        return false;
    paths->items[paths->count++] = frame;
    return true;
}

/* Operators and nodes appear once for each dispatch key; show them once. */
static bool repeats(const struct flame_paths *paths, size_t first, uint32_t frame)
{
    return paths->count > first && paths->items[paths->count - 1] == frame &&
           paths->flame->frames[frame].kind == FLAME_NAME;
}

/* Replaces the middle of a path that is too long by a word. */
static bool shorten(struct flame_paths *paths, size_t first, struct error *err)
{
    size_t count = paths->count - first, tail = FLAME_STACK_MOST - STACK_HEAD;
    uint32_t word;
    if (count <= FLAME_STACK_MOST)
        return true;
    if (!flame_paths_frame(paths, FLAME_WORD, FLAME_CUT, &word, err))
        return false;
    uint32_t *path = paths->items + first;
    path[STACK_HEAD] = word;
    memmove(path + STACK_HEAD + 1, path + count - tail, tail * sizeof(*path));
    paths->count = first + STACK_HEAD + 1 + tail;
    return true;
}

static bool make_path(struct flame_paths *paths, stack_id id, struct error *err)
{
    struct stack stack = symbols_stack_at(site_table_symbols(paths->sites), id);
    struct site site;
    if (!site_of(paths->sites, id, &site, err))
        return false;
    bool only_native = site.any_python_frame == NO_FRAME && site.op == STRING_EMPTY;
    size_t first = paths->count;
    for (size_t i = stack.count; i-- > 0;) {
        struct frame_view *view = look_at(paths, stack.frames[i]);
        bool shown = view->view == VIEW_SHOWN ||
                     (view->view == VIEW_HELPER && site.user_frame == NO_FRAME) ||
                     (view->view == VIEW_NATIVE && only_native);
        if (!shown)
            continue;
        if (!show(paths, stack.frames[i], view, err))
            return false;
        if (!repeats(paths, first, view->frame) && !append(paths, view->frame, err))
            return false;
    }
    if (!shorten(paths, first, err))
        return false;
    paths->spans[id] = (struct path_span){first, (uint32_t)(paths->count - first) + 1};
    return true;
}

bool flame_paths_stack(struct flame_paths *paths, stack_id stack, struct flame_path *path,
                       struct error *err)
{
    if (paths->spans[stack].count_plus_one == 0 && !make_path(paths, stack, err))
        return false;
    const struct path_span *span = &paths->spans[stack];
    size_t count = span->count_plus_one - 1;
    *path = (struct flame_path){count > 0 ? &paths->items[span->first] : NULL, count};
    return true;
}
