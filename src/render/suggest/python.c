#include <stdlib.h>
#include <string.h>

#include "render/core/escape.h"
#include "render/suggest/parts.h"

#define MOST_LINE 88 /* columns, where names are not longer themselves */

/* Writes names in a list, broken into lines that begin with `indent` spaces. */
struct name_list {
    struct buffer line;
    size_t indent;
    FILE *out;
    const struct left_out *left_out; /* NULL: no names are left out */
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
        if (!list->left_out || left_out_index(list->left_out, problem->modules[m]) == NOT_LEFT_OUT)
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
                       const struct left_out *left_out)
{
    struct name_list list = {.indent = 4, .out = out, .left_out = left_out};
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
    fwrite(suggest_modules_code, 1, suggest_modules_code_size, out);
    fputs("modules = [find_module(model, name) for name in dict.fromkeys(names)]\n"
          "prepare(model, modules)\n"
          "for module in map(inside, modules):\n"
          "    module.forward = Checkpointed(module.forward, [module], {})\n",
          out);
    return ok;
}

/* The operators whose results a segment keeps, by the name of its first module. */
static bool put_kept(FILE *out, const struct problem *problem, const struct placement *placement)
{
    struct buffer quoted = BUFFER_INIT;
    for (size_t k = 0; k < placement->count; k++) {
        struct wrapped segment = placement->segments[k];
        struct text kept[CHAIN_OPTIONS];
        if (suggest_kept(problem, segment, kept) == 0)
            continue;
        buffer_puts(&quoted, "    ");
        struct text name = problem->modules[problem->pieces[segment.first].first_module];
        escape_python(&quoted, name.bytes, name.size);
        buffer_puts(&quoted, ": ");
        suggest_add_kept_list(&quoted, problem, segment);
        buffer_puts(&quoted, ",\n");
    }
    bool ok = !quoted.failed;
    if (ok && quoted.size > 0)
        fprintf(out, "keep = {  # results kept by the checkpoint of this module\n%s}\n",
                quoted.bytes);
    buffer_release(&quoted);
    return ok;
}

/* Some piece of the segments is one of several calls of a module. */
static bool has_turns(const struct problem *problem, const struct placement *placement)
{
    for (size_t k = 0; k < placement->count; k++)
        for (size_t i = placement->segments[k].first; i < placement->segments[k].end; i++)
            if (problem->pieces[i].called.size > 0)
                return true;
    return false;
}

static bool put_parts(FILE *out, const struct problem *problem, const struct placement *placement)
{
    struct left_out left_out;
    if (!left_out_find(&left_out, problem))
        return false;
    fputs("# The modules of one list share a checkpoint if they form a chain. A trial run without\n"
          "# gradients finds that out when the model is first called.\n",
          out);
    bool by_turns = has_turns(problem, placement);
    if (by_turns)
        fputs("# [2/12] is the third of 12 calls in a step.\n", out);
    fputs("plan = [\n", out);
    bool ok = put_nested(out, problem, placement, &left_out);
    fputs("]\n", out);
    ok = ok && put_kept(out, problem, placement);
    fputc('\n', out);
    fwrite(suggest_every_code, 1, suggest_every_code_size, out);
    fwrite(suggest_modules_code, 1, suggest_modules_code_size, out);
    bool is_selective = suggest_keeps_results(problem, placement);
    if (is_selective)
        fwrite(suggest_kept_code, 1, suggest_kept_code_size, out);
    fwrite(suggest_parts_code, 1, suggest_parts_code_size, out);
    if (by_turns)
        fwrite(suggest_turns_code, 1, suggest_turns_code_size, out);
    fprintf(out, "parts = %s(model, plan%s)\n",
            by_turns ? "checkpoint_turns" : "checkpoint_modules", is_selective ? ", keep" : "");
    left_out_release(&left_out);
    return ok;
}

bool suggest_python(const struct page *page, const struct problem *problem,
                    const struct placement *placement)
{
    if (placement->count == 0)
        return true;
    if (suggest_whole_modules(problem, placement))
        return put_whole(page->out, problem, placement);
    return put_parts(page->out, problem, placement);
}
