/* The modules of a plan that Python cannot wrap by name. */
#include <stdlib.h>
#include <string.h>

#include "render/suggest/parts.h"

bool left_out_find(struct left_out *left_out, const struct problem *problem)
{
    struct text *names = malloc((problem->module_count + 1) * sizeof(*names));
    *left_out = (struct left_out){.names = names};
    if (!names)
        return false;
    memcpy(names, problem->modules, problem->module_count * sizeof(*names));
    qsort(names, problem->module_count, sizeof(*names), text_compare_items);
    size_t count = 0;
    for (size_t i = 1; i < problem->module_count; i++)
        if (text_compare_items(&names[i - 1], &names[i]) == 0 &&
            (count == 0 || text_compare_items(&names[count - 1], &names[i]) != 0))
            names[count++] = names[i];
    left_out->count = count;
    return true;
}

size_t left_out_index(const struct left_out *left_out, struct text name)
{
    const struct text *found =
        bsearch(&name, left_out->names, left_out->count, sizeof(name), text_compare_items);
    return found ? (size_t)(found - left_out->names) : NOT_LEFT_OUT;
}

void left_out_release(struct left_out *left_out)
{
    free(left_out->names);
    *left_out = (struct left_out){0};
}

bool suggest_whole_modules(const struct problem *problem, const struct placement *placement)
{
    for (size_t k = 0; k < placement->count; k++) {
        struct wrapped segment = placement->segments[k];
        const struct piece *piece = &problem->pieces[segment.first];
        if (segment.depth > 0 || segment.option > 0 || segment.end != segment.first + 1 ||
            piece->end_module != piece->first_module + 1 || piece->called.size > 0)
            return false;
    }
    return true;
}
