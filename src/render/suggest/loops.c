/* Writes Python code that applies a plan to a model whose modules have no names, only source lines.
 */
#include <stdlib.h>

#include "render/core/escape.h"
#include "render/suggest/parts.h"

#define MOST_LINE 88 /* columns */

struct plan {
    FILE *out;
    const struct suggest_subject *subject;
    const struct placement *placement;
    struct buffer text;
    bool *in_loop; /* by segment: it is in the plan of a loop */
    bool failed;
};

/* The loop that all layers first..end-1 are iterations of, or NO_LOOP. */
static uint32_t loop_of(const struct forward_chain *chain, size_t first, size_t end)
{
    uint32_t loop = chain->parts[chain->elements[first].first_part].loop;
    uint32_t last = chain->elements[end - 1].end_part;
    for (uint32_t part = chain->elements[first].first_part; part < last; part++)
        if (chain->parts[part].loop != loop)
            return NO_LOOP;
    return loop;
}

static void comment(struct plan *plan, const char *before, struct text name, const char *after)
{
    buffer_clear(&plan->text);
    escape_text(&plan->text, name.bytes, name.size);
    plan->failed |= plan->text.failed;
    if (!plan->text.failed)
        fprintf(plan->out, "# %s%s%s\n", before, plan->text.size > 0 ? plan->text.bytes : "",
                after);
}

/* True if a segment has lines of an installed package, which nobody moves. */
static bool has_package(const struct forward_chain *chain, struct wrapped segment)
{
    uint32_t end = chain->elements[segment.end - 1].end_part;
    for (uint32_t part = chain->elements[segment.first].first_part; part < end; part++)
        if (chain->parts[part].in_package)
            return true;
    return false;
}

static void list_other(struct plan *plan, struct wrapped segment)
{
    const struct problem *problem = plan->subject->problem;
    buffer_clear(&plan->text);
    suggest_add_span(&plan->text, problem, segment.first, segment.end);
    plan->failed |= plan->text.failed;
    if (!plan->text.failed)
        fprintf(plan->out, "#     %*s%s\n", (int)(2 * (segment.depth < 8 ? segment.depth : 8)), "",
                plan->text.bytes);
    buffer_clear(&plan->text);
    if (suggest_add_kept_list(&plan->text, problem, segment) && !plan->text.failed)
        fprintf(plan->out, "#         and with **keep_results(%s)\n", plan->text.bytes);
}

/* Lists segments outside of loops or across their ends, with words before the first one. */
static void put_others(struct plan *plan, bool of_packages, const char *words)
{
    bool told = false;
    for (size_t k = 0; k < plan->placement->count && !plan->failed; k++) {
        struct wrapped segment = plan->placement->segments[k];
        if (plan->in_loop[k] || has_package(plan->subject->forward, segment) != of_packages)
            continue;
        if (!told)
            fputs(words, plan->out);
        told = true;
        list_other(plan, segment);
    }
    if (told)
        fputc('\n', plan->out);
}

static void end_line(struct plan *plan, size_t indent)
{
    plan->failed |= plan->text.failed;
    if (plan->text.size > 0 && !plan->text.failed)
        fprintf(plan->out, "%*s%s\n", (int)indent, "", plan->text.bytes);
    buffer_clear(&plan->text);
}

static void put_word(struct plan *plan, size_t indent, const char *word, size_t size)
{
    if (indent + plan->text.size + size + 1 > MOST_LINE)
        end_line(plan, indent);
    if (plan->text.size > 0)
        buffer_putc(&plan->text, ' ');
    buffer_add(&plan->text, word, size);
}

static void put_number(struct plan *plan, size_t indent, size_t opened, uint32_t number,
                       size_t closed)
{
    struct buffer word = BUFFER_INIT;
    for (; opened > 0; opened--)
        buffer_putc(&word, '[');
    buffer_printf(&word, "%u", (unsigned)number);
    for (; closed > 0; closed--)
        buffer_putc(&word, ']');
    buffer_putc(&word, ',');
    plan->failed |= word.failed;
    if (!word.failed)
        put_word(plan, indent, word.bytes, word.size);
    buffer_release(&word);
}

/* Every checkpoint is one iteration, and none is nested. */
static bool is_plain(const struct plan *plan, uint32_t loop)
{
    const struct forward_chain *chain = plan->subject->forward;
    for (size_t k = 0; k < plan->placement->count; k++) {
        struct wrapped segment = plan->placement->segments[k];
        const struct chain_element *element = &chain->elements[segment.first];
        if (plan->in_loop[k] && loop_of(chain, segment.first, segment.end) == loop &&
            (segment.depth > 0 || segment.end != segment.first + 1 ||
             element->end_part != element->first_part + 1))
            return false;
    }
    return true;
}

/* The results that checkpoints in a loop keep, by the iteration that they begin with. False if
 * there are none. */
static bool put_kept(struct plan *plan, uint32_t loop)
{
    const struct forward_chain *chain = plan->subject->forward;
    bool any = false;
    for (size_t k = 0; k < plan->placement->count; k++) {
        struct wrapped segment = plan->placement->segments[k];
        buffer_clear(&plan->text);
        if (!plan->in_loop[k] || loop_of(chain, segment.first, segment.end) != loop ||
            !suggest_add_kept_list(&plan->text, plan->subject->problem, segment))
            continue;
        plan->failed |= plan->text.failed;
        if (!any)
            fputs("keep = {  # results kept by the checkpoint that begins at this iteration\n",
                  plan->out);
        any = true;
        if (!plan->failed)
            fprintf(plan->out, "    %u: %s,\n",
                    (unsigned)chain->parts[chain->elements[segment.first].first_part].iteration,
                    plan->text.bytes);
    }
    if (any)
        fputs("}\n", plan->out);
    buffer_clear(&plan->text);
    return any;
}

static void put_plain(struct plan *plan, uint32_t loop)
{
    const struct forward_chain *chain = plan->subject->forward;
    fputs("from functools import partial\n"
          "from torch.utils.checkpoint import checkpoint\n"
          "\n"
          "layers = model.layers  # replace this by what the loop iterates over, such as a "
          "ModuleList\n",
          plan->out);
    bool is_selective = put_kept(plan, loop);
    fputs("for i in [\n", plan->out);
    for (size_t k = 0; k < plan->placement->count; k++) {
        size_t first = plan->placement->segments[k].first;
        if (plan->in_loop[k] && loop_of(chain, first, first + 1) == loop)
            put_number(plan, 4, 0, chain->parts[chain->elements[first].first_part].iteration, 0);
    }
    end_line(plan, 4);
    fputs(is_selective ? "]:\n"
                         "    kept = keep_results(keep[i]) if i in keep else {}\n"
                         "    layers[i].forward = partial(checkpoint, layers[i].forward, "
                         "use_reentrant=False, **kept)\n"
                       : "]:\n"
                         "    layers[i].forward = partial(checkpoint, layers[i].forward, "
                         "use_reentrant=False)\n",
          plan->out);
}

/* Writes where the segments of a loop open and close in each iteration. The open segments form a
 * stack, since segments are either nested or disjoint. */
static void put_iterations(struct plan *plan, uint32_t loop)
{
    const struct forward_chain *chain = plan->subject->forward;
    const struct placement *placement = plan->placement;
    size_t *ends = calloc(placement->count + 1, sizeof(*ends));
    size_t open = 0, next = 0;
    plan->failed |= !ends;
    for (size_t i = 0; i < chain->count && !plan->failed; i++) {
        size_t opened = 0;
        for (; next < placement->count && placement->segments[next].first <= i; next++) {
            bool here = plan->in_loop[next] && placement->segments[next].first == i &&
                        loop_of(chain, i, placement->segments[next].end) == loop;
            if (!here)
                continue;
            opened++;
            ends[open++] = placement->segments[next].end;
        }
        size_t closed = 0;
        for (; open > 0 && ends[open - 1] == i + 1; open--)
            closed++;
        const struct chain_element *element = &chain->elements[i];
        for (uint32_t part = element->first_part; part < element->end_part; part++)
            if (chain->parts[part].loop == loop)
                put_number(plan, 4, part == element->first_part ? opened : 0,
                           chain->parts[part].iteration,
                           part + 1 == element->end_part ? closed : 0);
    }
    end_line(plan, 4);
    free(ends);
}

static void put_nested(struct plan *plan, uint32_t loop)
{
    fputs("from torch.utils.checkpoint import checkpoint\n"
          "\n"
          "plan = [  # numbers are iterations; each inner list is one checkpoint\n",
          plan->out);
    put_iterations(plan, loop);
    fputs("]\n", plan->out);
    bool is_selective = put_kept(plan, loop);
    fputs("\n"
          "def run(part, x, iteration):\n"
          "    for step in part:\n"
          "        if isinstance(step, list):\n",
          plan->out);
    fputs(is_selective
              ? "            kept = keep_results(keep[step[0]]) if step[0] in keep else {}\n"
                "            x = checkpoint(run, step, x, iteration, use_reentrant=False, **kept)\n"
              : "            x = checkpoint(run, step, x, iteration, use_reentrant=False)\n",
          plan->out);
    fputs(
        "        else:\n"
        "            x = iteration(step, x)\n"
        "    return x\n"
        "\n"
        "# Replace the loop by the line below, and write the function `iteration`: it takes the\n"
        "# number of an iteration and the result of the previous one, does what the loop does in\n"
        "# that iteration, and returns all that the next one needs.\n"
        "#     x = run(plan, x, iteration)\n",
        plan->out);
}

static void put_loop(struct plan *plan, uint32_t loop, bool *first)
{
    const struct chain_loop *it = &plan->subject->forward->loops[loop];
    char times[64];
    snprintf(times, sizeof(times), ", a loop of %u", (unsigned)it->iterations);
    if (!*first)
        fputc('\n', plan->out);
    *first = false;
    comment(plan, "", symbols_text(plan->subject->trace->symbols, it->name), times);
    buffer_clear(&plan->text);
    if (it->is_call && is_plain(plan, loop))
        put_plain(plan, loop);
    else
        put_nested(plan, loop);
}

bool suggest_loops_python(const struct page *page, const struct suggest_subject *subject,
                          const struct placement *placement)
{
    const struct forward_chain *chain = subject->forward;
    struct plan plan = {.out = page->out, .subject = subject, .placement = placement};
    size_t loops = chain->loop_count;
    bool first = true;
    bool *used = calloc(placement->count + loops + 1, sizeof(*used));
    if (!used)
        return false;
    plan.in_loop = used + loops;
    for (size_t k = 0; k < placement->count; k++) {
        uint32_t loop = loop_of(chain, placement->segments[k].first, placement->segments[k].end);
        plan.in_loop[k] = loop != NO_LOOP;
        if (loop != NO_LOOP)
            used[loop] = true;
    }
    if (suggest_keeps_results(subject->problem, placement)) {
        fwrite(suggest_every_code, 1, suggest_every_code_size, page->out);
        fwrite(suggest_kept_code, 1, suggest_kept_code_size, page->out);
        fputc('\n', page->out);
    }
    put_others(&plan, false,
               "# Move each of these into a function of its own, and call that with\n"
               "# torch.utils.checkpoint.checkpoint(function, ..., use_reentrant=False).\n"
               "# Iterations within them have no checkpoint of their own below.\n");
    put_others(&plan, true,
               "# No code can be printed for these, since lines of installed packages are among\n"
               "# them. Call a whole module of the package in a checkpoint, or use an option of\n"
               "# the package, such as gradient_checkpointing_enable().\n");
    for (uint32_t loop = 0; loop < loops && !plan.failed; loop++)
        if (used[loop])
            put_loop(&plan, loop, &first);
    free(used);
    buffer_release(&plan.text);
    return !plan.failed;
}
