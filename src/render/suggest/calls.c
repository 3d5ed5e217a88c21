/* Writes Python code that checkpoints calls of modules, which it finds by the lines that make them.
 */
#include <stdlib.h>

#include "render/core/escape.h"
#include "render/suggest/parts.h"

/* "model.py:50 > block.py:12 [3/12], allocations 60-71 of 310": the call with its number, if its
 * line makes several, and which allocations of the model's forward it makes; those of a later
 * model are counted from the first model's on. If the model runs several times, "run 0/2: " comes
 * first. */
static void add_call(struct buffer *out, const struct symbols *symbols,
                     const struct chain_call *call)
{
    struct text line = symbols_text(symbols, call->line);
    if (call->runs > 1)
        buffer_printf(out, "run %u/%u: ", (unsigned)call->run, (unsigned)call->runs);
    buffer_add(out, line.bytes, line.size);
    if (call->total > 1)
        buffer_printf(out, " [%u/%u]", (unsigned)call->number, (unsigned)call->total);
    if (call->of_allocations > 0)
        buffer_printf(out, ", allocations %u-%u of %u", (unsigned)call->first_allocation + 1,
                      (unsigned)call->end_allocation, (unsigned)call->of_allocations);
}

bool suggest_each_call(const struct suggest_subject *subject, struct wrapped segment,
                       suggest_call_function *function, void *data)
{
    const struct forward_chain *chain = subject->forward;
    struct buffer text = BUFFER_INIT;
    bool ok = true;
    for (size_t i = segment.first; i < segment.end; i++) {
        const struct chain_element *element = &chain->elements[i];
        for (uint32_t part = element->first_part; part < element->end_part; part++)
            for (uint32_t k = chain->parts[part].first_call; k < chain->parts[part].end_call; k++) {
                buffer_clear(&text);
                add_call(&text, subject->trace->symbols, &chain->calls[k]);
                ok = ok && !text.failed;
                if (ok)
                    function(data, (struct text){text.bytes, text.size});
            }
    }
    buffer_release(&text);
    return ok;
}

struct listing {
    struct buffer *out;
    size_t count;
    bool only_first;
};

static void list_call(void *data, struct text call)
{
    struct listing *listing = data;
    if (listing->only_first && listing->count > 0)
        return;
    if (listing->count > 0)
        buffer_puts(listing->out, ",\n     ");
    escape_python(listing->out, call.bytes, call.size);
    listing->count++;
}

static bool list_segment(struct buffer *out, const struct suggest_subject *subject,
                         struct wrapped segment)
{
    struct listing listing = {.out = out};
    buffer_puts(out, "    [");
    bool ok = suggest_each_call(subject, segment, list_call, &listing);
    buffer_puts(out, "],\n");
    return ok;
}

static bool list_kept(struct buffer *out, const struct suggest_subject *subject,
                      struct wrapped segment)
{
    struct listing listing = {.out = out, .only_first = true};
    struct text names[CHAIN_OPTIONS];
    if (suggest_kept(subject->problem, segment, names) == 0)
        return true;
    buffer_puts(out, "    ");
    bool ok = suggest_each_call(subject, segment, list_call, &listing);
    buffer_puts(out, ": ");
    suggest_add_kept_list(out, subject->problem, segment);
    buffer_puts(out, ",\n");
    return ok;
}

/* All calls of the pass are in one run of one module, as far as the snapshot tells. Calls beyond
 * the plan count, too: the allocations of all are numbered together. */
static bool is_of_one(const struct forward_chain *chain)
{
    bool is_one = !chain->calls_in_loop;
    for (size_t k = 0; k < chain->call_count; k++)
        is_one &= chain->calls[k].runs <= 1 && chain->calls[k].model == 1;
    return is_one;
}

static bool list_plan(struct buffer *text, const struct suggest_subject *subject,
                      const struct placement *placement, bool is_selective, bool is_one)
{
    bool ok = true;
    buffer_puts(text,
                "# A name is a call of a module: the line that makes it, the number of the call\n"
                "# if the line makes several, and the allocations of the model in it. The calls\n"
                "# of one list share a checkpoint if they form a chain. Their modules are found\n"
                "# when the model is first called, in trial runs that save nothing.\n"
                "# `model` is the module whose call makes all of these allocations, or whose\n"
                "# calls make them if one line of the step calls it several times.\n");
    buffer_puts(text, is_one ? "plan = [\n"
                             : "# If the step calls several modules for one loss, it is a list of "
                               "them:\n# model = [encoder, decoder]. Of a module that is called by "
                               "another method, such\n# as vae.encode(), list the modules within: "
                               "[vae.encoder, vae.decoder].\nplan = [\n");
    for (size_t k = 0; k < placement->count; k++)
        ok = ok && list_segment(text, subject, placement->segments[k]);
    buffer_puts(text, "]\n");
    if (is_selective)
        buffer_puts(text,
                    "keep = {  # results kept by the checkpoint that begins with this call\n");
    for (size_t k = 0; k < placement->count && is_selective; k++)
        ok = ok && list_kept(text, subject, placement->segments[k]);
    buffer_puts(text, is_selective ? "}\n\n" : "\n");
    return ok && !text->failed;
}

bool suggest_calls_python(const struct page *page, const struct suggest_subject *subject,
                          const struct placement *placement)
{
    struct buffer text = BUFFER_INIT;
    bool is_selective = suggest_keeps_results(subject->problem, placement);
    bool is_one = is_of_one(subject->forward);
    bool ok = list_plan(&text, subject, placement, is_selective, is_one);
    if (ok) {
        fwrite(text.bytes, 1, text.size, page->out);
        fwrite(suggest_every_code, 1, suggest_every_code_size, page->out);
        fwrite(suggest_modules_code, 1, suggest_modules_code_size, page->out);
        if (is_selective)
            fwrite(suggest_kept_code, 1, suggest_kept_code_size, page->out);
        fwrite(suggest_parts_code, 1, suggest_parts_code_size, page->out);
        fwrite(suggest_turns_code, 1, suggest_turns_code_size, page->out);
        if (is_selective)
            fwrite(suggest_changes_code, 1, suggest_changes_code_size, page->out);
        fwrite(suggest_calls_code, 1, suggest_calls_code_size, page->out);
        if (!is_one)
            fwrite(suggest_several_code, 1, suggest_several_code_size, page->out);
        fprintf(page->out, "%s(model, plan%s)\n",
                is_one ? "checkpoint_calls" : "checkpoint_calls_of_several",
                is_selective ? ", keep" : "");
    }
    buffer_release(&text);
    return ok;
}
