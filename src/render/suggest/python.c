#include <stdlib.h>
#include <string.h>

#include "render/core/escape.h"
#include "render/suggest/suggest.h"

#define MOST_LINE 88 /* columns, where names are not longer themselves */

static const char wrapper[] = "torch.distributed.algorithms._checkpoint.checkpoint_wrapper";

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
    bool failed;
};

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
static bool put_nested(FILE *out, const struct problem *problem, const struct placement *placement)
{
    struct name_list list = {.indent = 4, .out = out};
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

static bool put_whole(FILE *out, const struct problem *problem, const struct placement *placement)
{
    fprintf(out,
            "from %s import (\n"
            "    apply_activation_checkpointing)\n"
            "\n"
            "names = {\n",
            wrapper);
    bool ok = put_names(out, problem, placement);
    fputs("}\n"
          "modules = {model.get_submodule(name) for name in names}\n"
          "apply_activation_checkpointing(model, check_fn=lambda module: module in modules)\n",
          out);
    return ok;
}

static bool put_parts(FILE *out, const struct problem *problem, const struct placement *placement)
{
    fprintf(out,
            "from torch import nn\n"
            "from %s import (\n"
            "    checkpoint_wrapper)\n"
            "\n"
            "# What is in one list is checkpointed together. It has to run one after the other,\n"
            "# each module on nothing but the output of the one before, as in a Sequential.\n"
            "plan = [\n",
            wrapper);
    bool ok = put_nested(out, problem, placement);
    fputs("]\n"
          "\n"
          "def names(part):\n"
          "    return [part] if isinstance(part, str) else sum(map(names, part), [])\n"
          "\n"
          "def build(part):\n"
          "    if isinstance(part, str):\n"
          "        return model.get_submodule(part)\n"
          "    return checkpoint_wrapper(nn.Sequential(*map(build, part)))\n"
          "\n"
          "def put(name, module):\n"
          "    parent, _, child = name.rpartition(\".\")\n"
          "    setattr(model.get_submodule(parent), child, module)\n"
          "\n"
          "for part in plan:  # the first module becomes the wrapped part, the others vanish\n"
          "    first, *others = names(part)\n"
          "    wrapped = build(part)\n"
          "    for name in others:\n"
          "        put(name, nn.Identity())\n"
          "    put(first, wrapped)\n",
          out);
    return ok;
}

static int compare_names(const void *a, const void *b)
{
    return text_compare(*(const struct text *)a, *(const struct text *)b);
}

/* True if a module is in the list twice, or runs once more outside of it: it runs several times,
 * which a list of modules cannot express. `*first` is such a module. */
static bool runs_again(const struct problem *problem, const struct placement *placement,
                       struct text *first, bool *failed)
{
    struct text *names = malloc((problem->module_count + 1) * sizeof(*names));
    size_t count = 0, end = 0;
    bool found = false;
    *failed = !names;
    if (!names)
        return false;
    memcpy(names, problem->modules, problem->module_count * sizeof(*names));
    qsort(names, problem->module_count, sizeof(*names), compare_names);
    for (size_t i = 1; i < problem->module_count; i++) /* those that are there more than once */
        if (compare_names(&names[i - 1], &names[i]) == 0)
            names[count++] = names[i];
    for (size_t k = 0; k < placement->count && count > 0 && !found; k++) {
        struct wrapped segment = placement->segments[k];
        size_t m = problem->pieces[segment.first].first_module;
        end = problem->pieces[segment.end - 1].end_module;
        for (; m < end && !found; m++) {
            *first = problem->modules[m];
            found = bsearch(first, names, count, sizeof(*names), compare_names) != NULL;
        }
    }
    free(names);
    return found;
}

static bool put_refusal(FILE *out, struct text name)
{
    struct buffer quoted = BUFFER_INIT;
    escape_python(&quoted, name.bytes, name.size);
    if (!quoted.failed)
        fprintf(
            out,
            "# %s runs more than once in a step, so wrapping modules cannot make this plan:\n"
            "# call torch.utils.checkpoint in the model's forward, or cut between blocks only.\n",
            quoted.bytes);
    bool ok = !quoted.failed;
    buffer_release(&quoted);
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
    struct text again;
    bool failed;
    if (has_root(problem, placement)) {
        fputs(
            "# The model itself is in this plan, and it holds all other modules, so wrapping "
            "modules\n"
            "# cannot make it: call torch.utils.checkpoint in the model's forward, or cut between\n"
            "# its modules only.\n",
            page->out);
        return true;
    }
    if (runs_again(problem, placement, &again, &failed) || failed)
        return !failed && put_refusal(page->out, again);
    if (whole_modules(problem, placement))
        return put_whole(page->out, problem, placement);
    return put_parts(page->out, problem, placement);
}
