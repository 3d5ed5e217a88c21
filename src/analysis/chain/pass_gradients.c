/* Chooses a pass that makes the gradients of a model, instead of one that adds to them. */
#include "analysis/chain/pass_alike.h"
#include "analysis/phase/births.h"
#include "model/sums.h"

/* True if no code of the program is in a stack, or if that code is a backward() in Python. */
static bool is_of_backward(struct site_table *sites, const struct symbols *symbols, stack_id id)
{
    struct stack stack = id == STACK_NONE ? (struct stack){0} : symbols_stack_at(symbols, id);
    bool is_user = false;
    for (size_t i = 0; i < stack.count; i++) {
        struct frame frame = symbols_frame_at(symbols, stack.frames[i]);
        if (text_ends(symbols_text(symbols, frame.name), "backward"))
            return true;
        is_user |= site_frame_kind(sites, stack.frames[i]) == FRAME_USER;
    }
    return !is_user;
}

bool pass_makes_gradient(const struct timeline *timeline, struct site_table *sites,
                         const struct categories *categories, size_t lifetime)
{
    stack_id stack = timeline->trace->stack[timeline->lifetimes[lifetime].alloc];
    return categories->of_lifetime[lifetime] == CATEGORY_GRADIENT &&
           is_of_backward(sites, timeline->snapshot->symbols, stack);
}

/* Gradients that a pass makes. */
struct made {
    int64_t bytes;
    size_t count;
};

static struct made made_by(const struct pass *pass, const struct timeline *timeline,
                           struct site_table *sites, const struct categories *categories)
{
    struct made made = {0};
    for (size_t i = births_from(timeline, pass->backward); i < timeline->lifetime_count; i++) {
        const struct lifetime *life = &timeline->lifetimes[i];
        if (life->alloc >= pass->end)
            break;
        if (!pass_makes_gradient(timeline, sites, categories, i))
            continue;
        sum_add(&made.bytes, trace_size(timeline->trace, life->alloc));
        made.count++;
    }
    return made;
}

/* Also in number: the first pass may make a workspace that is larger than all gradients, and looks
 * like one. */
static bool is_twice(struct made a, struct made b)
{
    return a.bytes > 2 * b.bytes && a.count > 2 * b.count;
}

static bool keeps_as_much(const struct pass *a, const struct pass *b)
{
    return a->kept_bytes >= b->kept_bytes - b->kept_bytes / 8;
}

void pass_prefer_gradients(struct pass *pass, const struct passes *all, struct pass_lines *lines,
                           struct site_table *sites)
{
    const struct timeline *timeline = lines->timeline;
    const struct categories *categories = lines->categories;
    const struct pass *best = NULL;
    struct made most = made_by(pass, timeline, sites, categories);
    if (most.bytes > INT64_MAX / 4 || pass->unfinished)
        return;
    for (size_t i = 0; i < all->count; i++) {
        const struct pass *other = &all->items[i];
        if (other->unfinished || !keeps_as_much(other, pass) || !pass_is_alike(lines, pass, other))
            continue;
        struct made made = made_by(other, timeline, sites, categories);
        if (is_twice(made, most) || (best && made.bytes >= most.bytes)) {
            best = other;
            most = made;
        }
    }
    if (best) {
        bool any_backward = pass->any_backward;
        *pass = *best;
        pass->any_backward = any_backward;
    }
}
