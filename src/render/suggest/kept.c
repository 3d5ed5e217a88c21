/* The operators whose results a checkpoint keeps. */
#include <string.h>

#include "render/core/escape.h"
#include "render/suggest/parts.h"

/* A checkpoint is told only of operators that run in it, so that it can complain of one that does
 * not. Each option keeps one operator more than the option before it. */
static bool runs_in(const struct problem *problem, struct wrapped segment, unsigned k)
{
    const struct chain_option *with = chain_option(&problem->chain, k + 1);
    const struct chain_option *without = chain_option(&problem->chain, k);
    for (size_t i = segment.first; i < segment.end; i++) {
        int64_t kept = without ? without->kept[i] : 0;
        int64_t time = without ? without->forward[i] : problem->chain.forward[i];
        if (with->kept[i] != kept || with->forward[i] != time)
            return true;
    }
    return false;
}

size_t suggest_kept(const struct problem *problem, struct wrapped segment,
                    struct text names[CHAIN_OPTIONS])
{
    size_t count = 0;
    for (unsigned k = 0; k < segment.option; k++)
        if (runs_in(problem, segment, k))
            names[count++] = problem->kept_operators[k];
    return count;
}

bool suggest_keeps_results(const struct problem *problem, const struct placement *placement)
{
    struct text names[CHAIN_OPTIONS];
    for (size_t k = 0; k < placement->count; k++)
        if (suggest_kept(problem, placement->segments[k], names) > 0)
            return true;
    return false;
}

bool suggest_add_kept_list(struct buffer *out, const struct problem *problem,
                           struct wrapped segment)
{
    struct text names[CHAIN_OPTIONS];
    size_t count = suggest_kept(problem, segment, names);
    if (count == 0)
        return false;
    for (size_t k = 0; k < count; k++) {
        buffer_puts(out, k > 0 ? ", " : "[");
        escape_python(out, names[k].bytes, names[k].size);
    }
    buffer_putc(out, ']');
    return true;
}
