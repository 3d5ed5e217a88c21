#include "analysis/chain/doubts.h"

#include "analysis/chain/held.h"
#include "analysis/code/site.h"
#include "analysis/phase/births.h"

/* Sets *function to the file and the name of the user's function that allocates at an item, or to
 * zeros. */
static bool function_of(const struct chain_measure *measure, uint32_t item, struct frame *function,
                        struct error *err)
{
    const struct symbols *symbols = site_table_symbols(measure->sites);
    stack_id stack = measure->timeline->trace->stack[item];
    const struct stack_facts *facts = site_stack_facts(measure->sites, stack, err);
    *function = (struct frame){0};
    if (facts && facts->site.user_frame != NO_FRAME)
        *function = symbols_frame_at(
            symbols, symbols_stack_at(symbols, stack).frames[facts->site.user_frame]);
    return facts != NULL;
}

#define MOST_FUNCTIONS 16 /* functions of an element that are looked at */

/* The functions that made rests of an element. */
struct makers {
    struct maker {
        string_id file, name;
        uint32_t until; /* the item that frees the last of its rests */
    } items[MOST_FUNCTIONS];
    size_t count;
};

static struct maker *maker_of(struct makers *makers, struct frame function)
{
    for (size_t k = 0; k < makers->count; k++)
        if (makers->items[k].file == function.file && makers->items[k].name == function.name)
            return &makers->items[k];
    return NULL;
}

/* Finds the functions that made the rests first..end-1, without rests that other code made. */
static bool find_makers(struct makers *makers, const struct forward_chain *chain,
                        const struct chain_measure *measure, size_t first, size_t end,
                        struct error *err)
{
    makers->count = 0;
    for (size_t k = first; k < end; k++) {
        struct frame function;
        if (chain->rests[k].enters)
            continue;
        if (!function_of(measure, chain->rests[k].item, &function, err))
            return false;
        struct maker *maker = maker_of(makers, function);
        if (!maker && function.name != STRING_EMPTY && makers->count < MOST_FUNCTIONS) {
            maker = &makers->items[makers->count++];
            *maker = (struct maker){.file = function.file, .name = function.name};
        }
        if (maker && chain->rests[k].end > maker->until)
            maker->until = chain->rests[k].end;
    }
    return true;
}

/* Adds the activations of an element that these functions made, except the element's output. */
static bool add_doubts(struct forward_chain *chain, const struct chain_measure *measure,
                       struct makers *makers, size_t element, struct error *err)
{
    uint32_t end = chain->elements[element + 1].first_item;
    size_t k = chain_kept_from(chain, chain->elements[element].first_item);
    for (; k < chain->kept_count && chain->kept[k] < end; k++) {
        struct frame function;
        if (!function_of(measure, chain->kept[k], &function, err))
            return false;
        const struct maker *maker = maker_of(makers, function);
        if (maker && chain->kept[k] != chain->elements[element].output_item &&
            !vec_push(chain->doubts, chain->doubt_count, chain->doubt_capacity, chain->budget, err,
                      (struct chain_doubt){chain->kept[k], maker->until}))
            return false;
    }
    return true;
}

bool chain_set_doubts(struct forward_chain *chain, const struct chain_measure *measure,
                      struct error *err)
{
    struct makers makers;
    for (size_t first = 0, end; first < chain->rest_count; first = end) {
        size_t element = chain->rests[first].element;
        bool is_held = false;
        for (end = first; end < chain->rest_count && chain->rests[end].element == element; end++)
            is_held |= !chain->rests[end].enters && element + 2 < chain->count &&
                       chain->rests[end].end > chain->elements[element + 2].first_item;
        if (is_held && (!find_makers(&makers, chain, measure, first, end, err) ||
                        !add_doubts(chain, measure, &makers, element, err)))
            return false;
    }
    return true;
}
