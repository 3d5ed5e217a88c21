#include <stdlib.h>
#include <string.h>

#include "render/core/escape.h"
#include "render/suggest/parts.h"

#define MOST_LINE 88 /* columns, where names are not longer themselves */

/* Every segment is one module, and none is nested. */
static bool whole_modules(const struct problem *problem, const struct placement *placement)
{
    for (size_t k = 0; k < placement->count; k++) {
        struct wrapped segment = placement->segments[k];
        const struct piece *piece = &problem->pieces[segment.first];
        if (segment.depth > 0 || segment.end != segment.first + 1 ||
            piece->end_module != piece->first_module + 1)
            return false;
    }
    return true;
}

/* Writes names in a list, broken into lines that begin with `indent` spaces. */
struct name_list {
    struct buffer line;
    size_t indent;
    FILE *out;
    const struct text *left_out; /* sorted names */
    size_t left_out_count;
    bool failed;
};

static int compare_names(const void *a, const void *b)
{
    return text_compare(*(const struct text *)a, *(const struct text *)b);
}

static void end_line(struct name_list *list)
{
    if (list->line.size > 0)
        fprintf(list->out, "%*s%s\n", (int)list->indent, "", list->line.bytes);
    list->failed |= list->line.failed;
    buffer_clear(&list->line);
}

static void add_name(struct name_list *list, struct text name)
{
    struct buffer quoted = BUFFER_INIT;
    escape_python(&quoted, name.bytes, name.size);
    list->failed |= quoted.failed;
    if (list->indent + list->line.size + quoted.size + 2 > MOST_LINE)
        end_line(list);
    if (!quoted.failed)
        buffer_printf(&list->line, "%s%s,", list->line.size > 0 ? " " : "", quoted.bytes);
    buffer_release(&quoted);
}

static void add_bracket(struct name_list *list, const char *bracket, int deeper)
{
    end_line(list);
    if (deeper < 0)
        list->indent -= 4;
    fprintf(list->out, "%*s%s\n", (int)list->indent, "", bracket);
    if (deeper > 0)
        list->indent += 4;
}

static void add_piece(struct name_list *list, const struct problem *problem, size_t piece)
{
    for (size_t m = problem->pieces[piece].first_module; m < problem->pieces[piece].end_module; m++)
        if (list->left_out_count == 0 ||
            !bsearch(&problem->modules[m], list->left_out, list->left_out_count,
                     sizeof(*list->left_out), compare_names))
            add_name(list, problem->modules[m]);
}

static bool put_names(FILE *out, const struct problem *problem, const struct placement *placement)
{
    struct name_list list = {.indent = 4, .out = out};
    for (size_t k = 0; k < placement->count; k++)
        add_piece(&list, problem, placement->segments[k].first);
    end_line(&list);
    buffer_release(&list.line);
    return !list.failed;
}

/* Writes one list for each segment; nested segments are nested lists. Nested segments end in the
 * reverse order of their beginning, so their count, the depth, is enough, and no stack is needed.
 */
static bool put_nested(FILE *out, const struct problem *problem, const struct placement *placement,
                       const struct text *left_out, size_t left_out_count)
{
    struct name_list list = {
        .indent = 4, .out = out, .left_out = left_out, .left_out_count = left_out_count};
    size_t next = 0, open = 0;
    size_t *ends = calloc(placement->count + 1, sizeof(*ends));
    list.failed = !ends;
    for (size_t i = 0; ends && i <= problem->chain.layers; i++) {
        for (; open > 0 && ends[open - 1] == i; open--)
            add_bracket(&list, "],", -1);
        if (i == problem->chain.layers)
            break;
        for (; next < placement->count && placement->segments[next].first == i; next++) {
            add_bracket(&list, "[", 1);
            ends[open++] = placement->segments[next].end;
        }
        if (open > 0)
            add_piece(&list, problem, i);
    }
    free(ends);
    buffer_release(&list.line);
    return !list.failed;
}

/* Keeps the names of modules, the keys of the state dict, hooks, and any arguments. */
static bool put_whole(FILE *out, const struct problem *problem, const struct placement *placement)
{
    fputs("names = [\n", out);
    bool ok = put_names(out, problem, placement);
    fputs("]\n\n", out);
    fwrite(suggest_every_code, 1, suggest_every_code_size, out);
    fputs("modules = [model.get_submodule(name) for name in dict.fromkeys(names)]\n"
          "prepare(model, modules)\n"
          "for module in modules:\n"
          "    module.forward = partial(checkpoint, module.forward, use_reentrant=False)\n",
          out);
    return ok;
}

/* Modules that run several times, sorted, each once. NULL: out of memory. */
static struct text *find_repeated(const struct problem *problem, size_t *count)
{
    struct text *names = malloc((problem->module_count + 1) * sizeof(*names));
    *count = 0;
    if (!names)
        return NULL;
    memcpy(names, problem->modules, problem->module_count * sizeof(*names));
    qsort(names, problem->module_count, sizeof(*names), compare_names);
    for (size_t i = 1; i < problem->module_count; i++)
        if (compare_names(&names[i - 1], &names[i]) == 0 &&
            (*count == 0 || compare_names(&names[*count - 1], &names[i]) != 0))
            names[(*count)++] = names[i];
    return names;
}

static bool put_parts(FILE *out, const struct problem *problem, const struct placement *placement)
{
    size_t repeated_count;
    struct text *repeated = find_repeated(problem, &repeated_count);
    if (!repeated)
        return false;
    fputs("# The modules in one list are checkpointed together, if they form a chain. The first\n"
          "# call of the model tries that out, in a run without gradients.\n",
          out);
    if (repeated_count > 0)
        fputs("# Modules that run more than once in a step are left out.\n", out);
    fputs("plan = [\n", out);
    bool ok = put_nested(out, problem, placement, repeated, repeated_count);
    fputs("]\n"
          "\n",
          out);
    fwrite(suggest_every_code, 1, suggest_every_code_size, out);
    fwrite(suggest_parts_code, 1, suggest_parts_code_size, out);
    fputs("parts = checkpoint_modules(model, plan)\n", out);
    free(repeated);
    return ok;
}

/* The model itself is in a segment. It cannot be one of its own children, and wrapping it would
 * wrap everything in it. */
static bool has_root(const struct problem *problem, const struct placement *placement)
{
    for (size_t k = 0; k < placement->count; k++) {
        struct wrapped segment = placement->segments[k];
        size_t m = problem->pieces[segment.first].first_module;
        for (; m < problem->pieces[segment.end - 1].end_module; m++)
            if (problem->modules[m].size == 0)
                return true;
    }
    return false;
}

bool suggest_python(const struct page *page, const struct problem *problem,
                    const struct placement *placement)
{
    if (placement->count == 0)
        return true;
    if (has_root(problem, placement)) {
        fputs(
            "# The model itself is in this plan, and it holds all other modules, so wrapping "
            "modules\n"
            "# cannot make it: call torch.utils.checkpoint in the model's forward, or cut between\n"
            "# its modules only.\n",
            page->out);
        return true;
    }
    if (whole_modules(problem, placement))
        return put_whole(page->out, problem, placement);
    return put_parts(page->out, problem, placement);
}
