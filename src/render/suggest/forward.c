/* Explains the basis of a suggestion whose layers were inferred from an allocator snapshot. */
#include "model/device.h"
#include "render/core/escape.h"
#include "render/core/rows.h"
#include "render/suggest/parts.h"

static const struct chain_part *part_of(const struct forward_chain *chain, size_t element)
{
    return &chain->parts[chain->elements[element].first_part];
}

/* True if b is the next iteration of the loop that contains a, with the same sizes. */
static bool is_next_iteration(const struct forward_chain *chain, size_t a, size_t b)
{
    const struct chain_element *x = &chain->elements[a], *y = &chain->elements[b];
    return part_of(chain, a)->loop != NO_LOOP &&
           part_of(chain, a)->loop == part_of(chain, b)->loop && x->end_part - x->first_part == 1 &&
           y->end_part - y->first_part == 1 && x->activation_bytes == y->activation_bytes &&
           x->output_bytes == y->output_bytes && x->output_from == y->output_from &&
           x->forward_extra_bytes == y->forward_extra_bytes &&
           x->backward_extra_bytes == y->backward_extra_bytes;
}

/* Nanoseconds as text, in a unit that leaves enough digits to compare. */
static const char *time_text(char out[UNITS_TEXT_SIZE], int64_t time)
{
    double us = (double)time / 1e3;
    snprintf(out, UNITS_TEXT_SIZE, us < 100 ? "%.1f us" : "%.1f ms", us < 100 ? us : us / 1e3);
    return out;
}

static void add_row(struct table *table, const struct page *page,
                    const struct suggest_subject *subject, size_t first, size_t end)
{
    const struct chain_element *element = &subject->forward->elements[first];
    char text[UNITS_TEXT_SIZE];
    struct buffer span = BUFFER_INIT;
    suggest_add_span(&span, subject->problem, first, end);
    table_add(table, span.failed ? "" : span.bytes);
    buffer_release(&span);
    table_add(table, units_count(text, end - first));
    table_add(table, page_bytes(page, text, element->activation_bytes));
    table_add(table, page_bytes(page, text, element->output_bytes));
    table_add(table, page_bytes(page, text, element->forward_extra_bytes));
    table_add(table, page_bytes(page, text, element->backward_extra_bytes));
    if (subject->problem->times_given) {
        table_add(table, time_text(text, subject->problem->chain.forward[first]));
    } else if (subject->forward->timed) {
        table_add(table, time_text(text, element->forward_ns));
    } else {
        table_add(table, "-");
    }
}

static bool chain_text(const struct page *page, const struct suggest_subject *subject)
{
    static const struct table_column columns[] = {
        {.title = "layer", .kind = COLUMN_TEXT, .least = 28},
        {.title = "count", .kind = COLUMN_NUMBER, .optional = 2},
        {.title = "keeps", .kind = COLUMN_NUMBER},
        {.title = "output", .kind = COLUMN_NUMBER},
        {.title = "forward", .kind = COLUMN_NUMBER, .optional = 1},
        {.title = "backward", .kind = COLUMN_NUMBER, .optional = 1},
        {.title = "time", .kind = COLUMN_NUMBER, .optional = 3},
    };
    const struct forward_chain *chain = subject->forward;
    struct table table;
    table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t first = 0, end; first < chain->count; first = end) {
        for (end = first + 1; end < chain->count && is_next_iteration(chain, first, end);)
            end++;
        add_row(&table, page, subject, first, end);
    }
    bool ok = !table_failed(&table);
    if (ok)
        table_print(&table, page, SUGGEST_INDENT);
    table_release(&table);
    return ok;
}

static void pass_text(const struct page *page, const struct suggest_subject *subject)
{
    const struct forward_chain *chain = subject->forward;
    char first[UNITS_TEXT_SIZE], last[UNITS_TEXT_SIZE], step[40] = "";
    if (chain->has_step)
        snprintf(step, sizeof(step), " of step %lld", (long long)chain->step);
    units_count(first, chain->first_event);
    units_count(last, chain->first_event + (chain->backward - 1 - chain->first));
    suggest_say(page,
                "%zu %s of the forward pass%s on %s, events %s to %s, found in the call "
                "tree of its Python stacks (--granularity selects other levels).",
                chain->count, chain->count == 1 ? "layer" : "layers", step,
                DEVICE_WORDS(subject->device), first, last);
    if (chain->joined > 0)
        suggest_say(page,
                    "They are merged from %zu because so many would take too long. A coarser "
                    "--granularity puts the cuts where you want them.",
                    chain->joined);
    if (!chain->unfinished && !chain->at_peak)
        suggest_say(page, "The peak of the trace is in no step with a whole forward and backward "
                          "pass, so these are the layers of another pass, the one that keeps the "
                          "most.");
    if (chain->transformed)
        suggest_say(page, "They run in torch.func.grad(), which refuses checkpoints. Use "
                          "torch.autograd.grad() or backward(), and record the step again.");
    if (suggest_is_compiled(subject))
        suggest_say(page, "The compiled kernels run in an order of their own, so these layers are "
                          "rough.");
    if (chain->checkpointed > 0)
        suggest_say(page,
                    "%zu of them ran within torch.utils.checkpoint already: they keep only what a "
                    "checkpoint leaves, and their backward pass includes the recomputation.",
                    chain->checkpointed);
}

#define HARDLY_ANY 10 /* one 10th of the activations at the peak */

bool suggest_misses_peak(const struct suggest_subject *subject)
{
    const struct forward_chain *chain = subject->forward;
    return chain && chain->at_peak &&
           chain->peak_chain_bytes < chain->peak_category_bytes / HARDLY_ANY;
}

/* Names the line that makes most of the other activations. They belong to another pass, such as a
 * generator's while the plan is for its discriminator. */
static void say_others(const struct page *page, const struct forward_chain *chain, const char *peak,
                       const char *here, const char *others)
{
    char bytes[UNITS_TEXT_SIZE];
    struct buffer line = BUFFER_INIT;
    suggest_add_name(&line, chain->others_at);
    if (!line.failed)
        suggest_say(page,
                    "At the peak of the trace %s are activations: %s of these layers, %s of "
                    "others, the largest part at %s (%s). This plan does not change the others.",
                    peak, here, others, line.bytes,
                    page_bytes(page, bytes, chain->others_at_bytes));
    buffer_release(&line);
}

/* The share of the category's bytes that the chain explains. */
static void category_text(const struct page *page, const struct suggest_subject *subject)
{
    const struct forward_chain *chain = subject->forward;
    char whole[UNITS_TEXT_SIZE], exact[UNITS_TEXT_SIZE], peak[UNITS_TEXT_SIZE];
    char here[UNITS_TEXT_SIZE], others[UNITS_TEXT_SIZE], absent[UNITS_TEXT_SIZE];
    int64_t other = chain->peak_category_bytes - chain->peak_chain_bytes;
    int64_t freed = chain->activation_bytes - chain->peak_chain_bytes;
    suggest_say(page, "They keep %s (%s bytes) for the backward pass.",
                page_bytes(page, whole, chain->activation_bytes),
                units_count(exact, (uint64_t)chain->activation_bytes));
    page_bytes(page, here, chain->peak_chain_bytes);
    page_bytes(page, others, other);
    page_bytes(page, peak, chain->peak_category_bytes);
    if (other < chain->peak_category_bytes / HARDLY_ANY || chain->others_at_bytes == 0)
        suggest_say(
            page, "At the peak of the trace %s are activations: %s of these layers, %s of others.",
            peak, here, others);
    else
        say_others(page, chain, peak, here, others);
    if (freed > 0)
        suggest_say(
            page, "The other %s of these layers were freed before that peak or allocated after it.",
            page_bytes(page, absent, freed));
    if (suggest_misses_peak(subject))
        suggest_say(page, "These layers hold hardly any of that peak, so no checkpoint in them "
                          "lowers it much. 'memsnap analyze' says what holds the rest.");
}

#define SMALL_RESULTS 20 /* one 20th of the peak */

static void layer_results_text(const struct page *page, const struct forward_chain *chain)
{
    char bytes[UNITS_TEXT_SIZE];
    struct buffer line = BUFFER_INIT;
    if (chain->layer_results_bytes < chain->peak_bytes / SMALL_RESULTS)
        return;
    suggest_add_name(&line, chain->layer_results_at);
    if (!line.failed)
        suggest_say(page,
                    "At the peak the program also holds %s of results of layers that no backward "
                    "pass needs, most of it from %s. If it holds activations as well, no "
                    "checkpoint frees these, and the peak is higher than predicted.",
                    page_bytes(page, bytes, chain->layer_results_bytes), line.bytes);
    buffer_release(&line);
}

static void operators_text(const struct page *page, const struct suggest_subject *subject)
{
    const struct forward_chain *chain = subject->forward;
    if (!chain->operators_named)
        suggest_say(page,
                    "The stacks do not name operators, so checkpoints recompute whole layers. "
                    "In a snapshot recorded with "
                    "torch.cuda.memory._record_memory_history(stacks=\"all\"), plans can keep the "
                    "results of matrix products, convolutions and attention.");
    else if (chain->weighed && subject->problem->times_given)
        suggest_say(page, "The times of operators within a layer are not known, so checkpoints "
                          "recompute whole layers.");
    else if (subject->problem->chain.option_count > 0)
        suggest_say(page,
                    "Checkpoints may keep the results of operators, as far as the trace shows "
                    "their allocations. It does not show which results are changed in place%s",
                    subject->problem->by_calls
                        ? ": the Python code finds these when it first runs, and recomputes them."
                        : "; a plan that keeps such a result stops with an error when it runs.");
}

static void times_text(const struct page *page, const struct suggest_subject *subject)
{
    const struct forward_chain *chain = subject->forward;
    const char *assumed = subject->problem->backward_timed
                              ? ""
                              : "; the backward pass is assumed to take twice as long";
    if (subject->problem->times_given)
        suggest_say(page, "Times are those of --times%s.", assumed);
    else if (chain->kernels_timed)
        suggest_say(page, "Times are those of the kernels that each layer launched%s.", assumed);
    else
        suggest_say(page,
                    subject->problem->weighed
                        ? "%s, so the extra compute is unknown. Plans run matrix products, "
                          "convolutions and attention again only where cheaper operators do not "
                          "free enough. Shares are of the bytes of activations."
                        : "%s, so the extra compute is unknown. Plans recompute as few bytes of "
                          "activations as they can, unless --times gives times.",
                    chain->timed ? "Times are those of the host, which do not show how long the "
                                   "device takes"
                                 : "The trace has no times");
}

bool suggest_basis_forward_text(const struct page *page, const struct suggest_subject *subject)
{
    suggest_title(page, "Memory of each layer");
    if (!chain_text(page, subject))
        return false;
    fputc('\n', page->out);
    suggest_title(page, "Basis of these figures");
    pass_text(page, subject);
    category_text(page, subject);
    layer_results_text(page, subject->forward);
    suggest_say(page,
                "The output of a layer, which a checkpoint stores, is inferred: of the allocations "
                "that the layer's last line leaves, the one that the backward pass frees first, "
                "or the largest of those freed together; in a loop, the last one of the size "
                "that most iterations leave. Check that no other tensor passes from one layer to "
                "the next.");
    suggest_say(page, "\"forward\" and \"backward\" are the most memory in use while a layer ran, "
                      "beyond what all layers up to it keep.");
    times_text(page, subject);
    operators_text(page, subject);
    suggest_say(page, "Parameters, their gradients, the optimizer's state and the model's input "
                      "come on top.");
    return true;
}
