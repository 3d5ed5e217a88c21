#include "analysis/code/site.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/code/frames.h"

/* Cached facts of a frame: what its names say, independent of the stack. */
struct frame_facts {
    bool is_known;
    uint8_t own;    /* category by the user's own rules, or OWN_RULES_NONE */
    uint8_t kind;   /* enum frame_kind */
    uint8_t role;   /* enum frame_role of a Python frame, enum native_role of another */
    string_id name; /* of an operator or node, once a stack asked for it */
};

/* The caches cover what the symbols held when the table was made and grow with them
 * by a fixed number of bytes an id, so the symbols' own budget bounds them. */
struct site_table {
    struct symbols *symbols;
    const struct own_rules *rules; /* not owned; NULL: none */
    struct file_facts *files;      /* by string */
    struct frame_facts *frames;
    struct stack_facts *stacks;
    size_t file_count, frame_count, stack_count;
};

struct site_table *site_table_create(struct symbols *symbols, struct error *err)
{
    struct site_table *table = calloc(1, sizeof(*table));
    if (!table) {
        error_set(err, STATUS_LIMIT, "out of memory (%zu bytes)", sizeof(*table));
        return NULL;
    }
    table->symbols = symbols;
    return table;
}

void site_table_set_rules(struct site_table *table, const struct own_rules *rules)
{
    table->rules = rules;
}

void site_table_destroy(struct site_table *table)
{
    if (!table)
        return;
    free(table->files);
    free(table->frames);
    free(table->stacks);
    free(table);
}

struct symbols *site_table_symbols(const struct site_table *table)
{
    return table->symbols;
}

/* Makes a cache as long as the ids now are; new items are zero. False: out of memory. */
static bool cache_cover(void *cache, size_t *count, size_t need, size_t item)
{
    if (need <= *count)
        return true;
    if (need < *count + *count / 2) /* symbols that still grow cost a copy now and then only */
        need = *count + *count / 2;
    void **items = cache;
    void *grown = reallocarray(*items, need, item);
    if (!grown)
        return false;
    memset((char *)grown + *count * item, 0, (need - *count) * item);
    *items = grown;
    *count = need;
    return true;
}

static struct file_facts file_facts_of(struct site_table *table, string_id file)
{
    struct text text = symbols_text(table->symbols, file);
    if (file >= table->file_count &&
        !cache_cover(&table->files, &table->file_count, symbols_string_count(table->symbols),
                     sizeof(*table->files)))
        return path_classify(text);
    struct file_facts *facts = &table->files[file];
    if (facts->class == FILE_UNSEEN)
        *facts = path_classify(text);
    return *facts;
}

static struct frame_facts frame_facts_compute(struct site_table *table, frame_id id)
{
    static const uint8_t kinds[] = {
        [FILE_NATIVE] = FRAME_NATIVE,
        [FILE_USER] = FRAME_USER,
        [FILE_TORCH] = FRAME_LIBRARY,
        [FILE_LIBRARY] = FRAME_LIBRARY,
    };
    struct frame frame = symbols_frame_at(table->symbols, id);
    struct text file = symbols_text(table->symbols, frame.file);
    struct text name = symbols_text(table->symbols, frame.name);
    struct file_facts of_file = file_facts_of(table, frame.file);
    if (of_file.class == FILE_NATIVE)
        of_file.class = frame_script_class(file, name, frame.line);

    struct frame_facts facts = {
        .is_known = true, .own = OWN_RULES_NONE, .kind = kinds[of_file.class]};
    if (table->rules)
        facts.own = own_rules_match(table->rules, file, name);
    if (facts.kind == FRAME_NATIVE) {
        char unused[NATIVE_NAME_SIZE];
        facts.role = (uint8_t)native_classify(name, unused);
    } else {
        facts.role = (uint8_t)frame_python_role(file, of_file, name);
    }
    return facts;
}

/* The cached facts, or, where the cache cannot grow, `*spare` filled anew. */
static struct frame_facts *frame_facts_of(struct site_table *table, frame_id id,
                                          struct frame_facts *spare)
{
    if (id >= table->frame_count &&
        !cache_cover(&table->frames, &table->frame_count, symbols_frame_count(table->symbols),
                     sizeof(*table->frames))) {
        *spare = frame_facts_compute(table, id);
        return spare;
    }
    struct frame_facts *facts = &table->frames[id];
    if (!facts->is_known)
        *facts = frame_facts_compute(table, id);
    return facts;
}

enum frame_kind site_frame_kind(struct site_table *table, frame_id frame)
{
    struct frame_facts spare;
    return (enum frame_kind)frame_facts_of(table, frame, &spare)->kind;
}

/* The operator's or node's name as a string id. */
static bool native_name(struct site_table *table, frame_id id, struct frame_facts *facts,
                        string_id *name, struct error *err)
{
    if (facts->name == STRING_EMPTY) {
        char text[NATIVE_NAME_SIZE];
        struct frame frame = symbols_frame_at(table->symbols, id);
        native_classify(symbols_text(table->symbols, frame.name), text);
        if (!symbols_string(table->symbols, text, strlen(text), &facts->name, err))
            return false;
    }
    *name = facts->name;
    return true;
}

/* A walk through one stack, innermost frame first. */
struct walk {
    struct stack_facts facts;
    string_id factory;    /* outermost operator so far that only makes storage */
    string_id collective; /* innermost named collective */
    enum frame_role role; /* innermost Python evidence; a module's call outranks its own forward */
    bool recomputes;      /* called, directly or not, by torch.utils.checkpoint's backward half */
    bool op_closed;       /* no operator further out may take the place of `factory` */
};

static bool walk_native(struct site_table *table, struct walk *walk, frame_id id,
                        struct frame_facts *facts, struct error *err)
{
    struct site *site = &walk->facts.site;
    bool no_python = site->any_python_frame == NO_FRAME;
    switch ((enum native_role)facts->role) {
    case NATIVE_OPERATOR:
        walk->facts.in_operator = true;
        return site->op != STRING_EMPTY || walk->op_closed ||
               native_name(table, id, facts, &site->op, err);
    case NATIVE_FACTORY:
        walk->facts.in_operator = true;
        return site->op != STRING_EMPTY || walk->op_closed ||
               native_name(table, id, facts, &walk->factory, err);
    case NATIVE_NODE: {
        string_id name;
        site->has_backward = true;
        if (!native_name(table, id, facts, &name, err))
            return false;
        if (site->node == STRING_EMPTY)
            site->node = name;
        if (text_equals(symbols_text(table->symbols, name), "AccumulateGrad"))
            walk->facts.accumulates_grad = true;
        return true;
    }
    case NATIVE_ENGINE:
        site->has_backward = true;
        return true;
    case NATIVE_COMMUNICATION:
        walk->facts.communicates = walk->facts.communicates || no_python;
        return walk->collective != STRING_EMPTY ||
               native_name(table, id, facts, &walk->collective, err);
    case NATIVE_WORKSPACE:
        walk->facts.is_workspace = walk->facts.is_workspace || no_python;
        return true;
    case NATIVE_PLAIN:
        break;
    }
    return true;
}

static void walk_python(struct walk *walk, uint32_t index, const struct frame_facts *facts)
{
    struct site *site = &walk->facts.site;
    enum frame_role role = (enum frame_role)facts->role;
    if (role == ROLE_COMMUNICATION) {
        if (site->user_frame == NO_FRAME && walk->role == ROLE_NONE)
            walk->facts.communicates = true;
        role = ROLE_NONE;
    }
    if (walk->role == ROLE_NONE || (walk->role == ROLE_FORWARD && role == ROLE_MODULE_CALL))
        walk->role = role;
    walk->recomputes = walk->recomputes || role == ROLE_RECOMPUTE;
    if (site->any_python_frame == NO_FRAME)
        site->any_python_frame = index;
    if (site->user_frame == NO_FRAME && facts->kind == FRAME_USER)
        site->user_frame = index;
    /* What called into Python from an operator further out is another story. */
    walk->op_closed = walk->op_closed || walk->factory != STRING_EMPTY;
}

static enum context context_of(const struct walk *walk)
{
    bool has_python = walk->facts.site.any_python_frame != NO_FRAME;
    bool in_forward = walk->role == ROLE_MODULE_CALL || walk->role == ROLE_FORWARD;
    if (walk->recomputes && (in_forward || walk->role == ROLE_RECOMPUTE))
        return CONTEXT_RECOMPUTE;
    if (walk->facts.site.has_backward)
        return walk->role == ROLE_MODULE_CALL ? CONTEXT_RECOMPUTE : CONTEXT_BACKWARD;
    switch (walk->role) {
    case ROLE_MODULE_CALL:
    case ROLE_FORWARD:
        return CONTEXT_FORWARD;
    case ROLE_BACKWARD:
        return CONTEXT_BACKWARD;
    case ROLE_RECOMPUTE:
        return CONTEXT_RECOMPUTE;
    case ROLE_OPTIMIZER:
        return CONTEXT_OPTIMIZER;
    case ROLE_ZERO_GRAD:
        return CONTEXT_ZERO_GRAD;
    case ROLE_MODEL_INIT:
        return CONTEXT_INIT;
    case ROLE_DATA_LOADING:
        return CONTEXT_DATA;
    case ROLE_COMMUNICATION:
    case ROLE_NONE:
        break;
    }
    return has_python ? CONTEXT_OTHER : CONTEXT_NONE;
}

static bool stack_facts_compute(struct site_table *table, stack_id id, struct stack_facts *facts,
                                struct error *err)
{
    struct stack stack = symbols_stack_at(table->symbols, id);
    struct walk walk = {.facts = {.site = {.user_frame = NO_FRAME, .any_python_frame = NO_FRAME},
                                  .own = OWN_RULES_NONE}};
    for (size_t i = 0; i < stack.count; i++) {
        struct frame_facts spare, *frame = frame_facts_of(table, stack.frames[i], &spare);
        if (walk.facts.own == OWN_RULES_NONE)
            walk.facts.own = frame->own;
        if (frame->kind != FRAME_NATIVE)
            walk_python(&walk, (uint32_t)i, frame);
        else if (frame->role != NATIVE_PLAIN &&
                 !walk_native(table, &walk, stack.frames[i], frame, err))
            return false;
    }
    struct site *site = &walk.facts.site;
    if (site->op == STRING_EMPTY)
        site->op = walk.factory != STRING_EMPTY ? walk.factory
                   : site->node != STRING_EMPTY ? site->node
                                                : walk.collective;
    walk.facts.context = (uint8_t)context_of(&walk);
    walk.facts.is_known = true;
    *facts = walk.facts;
    return true;
}

const struct stack_facts *site_stack_facts(struct site_table *table, stack_id stack,
                                           struct error *err)
{
    if (stack >= table->stack_count &&
        !cache_cover(&table->stacks, &table->stack_count, symbols_stack_count(table->symbols),
                     sizeof(*table->stacks))) {
        error_set(err, STATUS_LIMIT, "out of memory (%zu stacks)",
                  symbols_stack_count(table->symbols));
        return NULL;
    }
    struct stack_facts *facts = &table->stacks[stack];
    if (!facts->is_known && !stack_facts_compute(table, stack, facts, err))
        return NULL;
    return facts;
}

bool site_of(struct site_table *table, stack_id stack, struct site *site, struct error *err)
{
    const struct stack_facts *facts = site_stack_facts(table, stack, err);
    if (!facts)
        return false;
    *site = facts->site;
    return true;
}
