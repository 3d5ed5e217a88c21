/* The text of a plan: its checkpoints, and the Python that applies them. */
#include <string.h>

#include "render/core/escape.h"
#include "render/core/table.h"
#include "render/suggest/parts.h"

/* The operators whose results a segment keeps; "addmm" stands for "aten.addmm". */
static void add_kept(struct buffer *out, const struct problem *problem, struct wrapped segment)
{
    struct text names[CHAIN_OPTIONS];
    size_t count = suggest_kept(problem, segment, names);
    for (size_t k = 0; k < count; k++) {
        buffer_puts(out, k > 0 ? ", " : "keeps ");
        size_t skipped = text_starts(names[k], "aten.") ? strlen("aten.") : 0;
        escape_text(out, names[k].bytes + skipped, names[k].size - skipped);
    }
}

static int64_t freed_bytes(const struct problem *problem, struct wrapped segment)
{
    const struct chain_option *option = chain_option(&problem->chain, segment.option);
    int64_t bytes = 0;
    for (size_t i = segment.first; i < segment.end; i++)
        bytes += problem->chain.xbar[i] - (option ? option->kept[i] : 0);
    return bytes;
}

/* Writes one line for each segment, with its contents. */
static bool segments_text(const struct page *page, const struct problem *problem,
                          const struct placement *placement)
{
    static const struct table_column columns[] = {{.title = "checkpoint", .kind = COLUMN_TEXT},
                                                  {.title = "layers", .kind = COLUMN_NUMBER},
                                                  {.title = "frees", .kind = COLUMN_NUMBER},
                                                  {.title = "", .kind = COLUMN_PROSE, .least = 18}};
    struct table table;
    struct buffer span = BUFFER_INIT, kept = BUFFER_INIT;
    table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t k = 0; k < placement->count; k++) {
        struct wrapped segment = placement->segments[k];
        char count[UNITS_TEXT_SIZE], bytes[UNITS_TEXT_SIZE];
        buffer_clear(&span);
        buffer_clear(&kept);
        for (unsigned d = 0; d < segment.depth && d < 8; d++)
            buffer_puts(&span, "  ");
        suggest_add_span(&span, problem, segment.first, segment.end);
        table_add(&table, span.failed ? "" : span.bytes);
        table_add(&table, units_count(count, segment.end - segment.first));
        table_add(&table, page_bytes(page, bytes, freed_bytes(problem, segment)));
        add_kept(&kept, problem, segment);
        table_add(&table, kept.size > 0 && !kept.failed ? kept.bytes : "");
    }
    bool ok = !span.failed && !kept.failed && !table_failed(&table);
    if (ok)
        table_print(&table, page, SUGGEST_INDENT);
    buffer_release(&span);
    buffer_release(&kept);
    table_release(&table);
    return ok;
}

/* The tokenizer of CPython up to 3.8 takes 100 brackets, and each level costs some frames of the
 * interpreter's 1,000. */
#define DEEPEST_PYTHON 90

static bool too_deep(const struct placement *placement)
{
    for (size_t k = 0; k < placement->count; k++)
        if (placement->segments[k].depth >= DEEPEST_PYTHON)
            return true;
    return false;
}

/* Tells how to apply a plan without the Python code, which only a plan that names loops needs. */
static void no_code_text(const struct page *page, const struct suggest_subject *subject)
{
    suggest_say(page,
                subject->forward && !subject->problem->by_calls
                    ? "Without --no-code, the Python code that applies this plan follows here."
                    : "Without --no-code, the Python code that applies this plan follows here. "
                      "--format json -o plan.json writes the plan for "
                      "memsnap_record.apply(model, \"plan.json\"), which needs no code.");
}

bool suggest_compiled_text(const struct page *page, const struct suggest_subject *subject)
{
    suggest_title(page, "No plan: torch.compile compiled the model as a whole");
    suggest_say(page,
                "The compiled code calls no modules that a checkpoint could hold. Record a step "
                "without torch.compile: `memsnap suggest` then finds the modules. A plan that "
                "is applied before the model is compiled holds in the compiled code as well.");
    suggest_say(page, "Or let torch.compile recompute more: before the model first runs, set "
                      "torch._functorch.config.activation_memory_budget = 0.5 (PyTorch 2.4 or "
                      "later), and try several values between 0 and 1.");
    fputc('\n', page->out);
    return suggest_basis_text(page, subject);
}

bool suggest_placement_text(const struct page *page, const struct suggest_subject *subject,
                            const struct placement *placement)
{
    const struct problem *problem = subject->problem;
    if (placement->count == 0)
        return true;
    fputc('\n', page->out);
    if (!segments_text(page, problem, placement))
        return false;
    fputc('\n', page->out);
    if (!suggest_warnings_text(page, subject, placement))
        return false;
    if (too_deep(placement)) {
        fprintf(page->out,
                "# Checkpoints are nested more than %d deep, which is too deep for Python code.\n"
                "# A slightly larger budget takes far fewer. --format json has the schedule.\n",
                DEEPEST_PYTHON);
        return true;
    }
    if (subject->no_code) {
        no_code_text(page, subject);
        return true;
    }
    if (!subject->forward)
        return suggest_python(page, problem, placement);
    if (subject->forward->transformed)
        fputs(
            "# torch.func.grad() refuses checkpoints, so this code stops with an error there. Use\n"
            "# torch.autograd.grad() or backward(), and record the step again.\n",
            page->out);
    return problem->by_calls ? suggest_calls_python(page, subject, placement)
                             : suggest_loops_python(page, subject, placement);
}
