#include "render/analyze/growth_advice.h"

#include <string.h>

#include "render/core/escape.h"

const char *growth_step(const struct device_report *report)
{
    return steps_are_calls(&report->steps) ? "forward pass" : "step";
}

const char *growth_steps(const struct device_report *report)
{
    return steps_are_calls(&report->steps) ? "forward passes" : "steps";
}

bool growth_paragraph(const struct page *page, struct buffer *text)
{
    if (!text->failed) {
        fprintf(page->out, "%*s", SECTION_INDENT, "");
        page_paragraph(page, SECTION_INDENT, SECTION_INDENT, text->bytes);
    }
    buffer_clear(text);
    return !text->failed;
}

void growth_add_label(struct buffer *text, const struct growth_row *row)
{
    escape_text(text, row->label.full, strlen(row->label.full));
}

static void add_caller(struct buffer *text, const struct growth *growth)
{
    if (!growth->caller)
        return;
    buffer_puts(text, ", called at ");
    escape_text(text, growth->caller, strlen(growth->caller));
}

/* The first word of "every step adds" if the largest row grew in each step compared, and of "a step
 * adds" otherwise. */
static const char *adding_steps(const struct growth *growth)
{
    return growth->rows[0].fit.steps_grown == growth->rows[0].fit.steps_compared ? "every" : "a";
}

/* Advice about memory that grows in private pools. */
static void pool_advice(const struct page *page, const struct device_report *report,
                        struct buffer *text)
{
    const struct private_growth *pools = &report->growth.pools;
    char bytes[UNITS_TEXT_SIZE];
    page_bytes(page, bytes, pools->bytes);
    if (pools->kind == PRIVATE_CAPTURES)
        buffer_printf(text,
                      "%s of it lie in the pools of CUDA graphs: a graph is captured at every %s, "
                      "and keeps its pool for as long as it exists.",
                      bytes, growth_step(report));
    else if (pools->kind == PRIVATE_SHAPES)
        buffer_printf(text,
                      "%s of it lie in the pools of CUDA graphs, one for each shape: it stops "
                      "growing once all shapes are captured.%s",
                      bytes,
                      pools->has_many_pools ? " Graphs that never run at once can share a pool "
                                              "(torch.cuda.graph(..., pool=first.pool()))."
                                            : "");
    else
        buffer_printf(text,
                      "%s of it lie in a private pool that the program made (torch.cuda.MemPool or "
                      "graph_pool_handle()): look for what stores tensors that were allocated "
                      "there.",
                      bytes);
}

/* " in 3 of 7 steps" */
static void add_frequency(struct buffer *text, const struct device_report *report,
                          const struct growth_row *row)
{
    char grown[UNITS_TEXT_SIZE], compared[UNITS_TEXT_SIZE];
    if (row->fit.steps_grown == row->fit.steps_compared)
        buffer_printf(text, " at every %s", growth_step(report));
    else
        buffer_printf(text, " in %s of %s %s", units_count(grown, row->fit.steps_grown),
                      units_count(compared, row->fit.steps_compared), growth_steps(report));
}

/* Without a backward pass in the trace, the graphs may be meant for one that comes after them. */
static void summed_advice(const struct device_report *report, struct buffer *text)
{
    if (!phases_have(&report->phases, PHASE_BACKWARD))
        buffer_puts(text, " If one backward pass is to follow for all of them, call backward() on "
                          "the loss of each batch as soon as it is computed instead.");
}

/* Advice about graphs that a loss keeps. */
static void loss_advice(const struct page *page, const struct device_report *report,
                        struct buffer *text)
{
    const struct growth *growth = &report->growth;
    const struct growth_row *row = &growth->rows[growth->scalar_row];
    char bytes[UNITS_TEXT_SIZE];
    growth_add_label(text, row);
    buffer_puts(text, " keeps a result of a few bytes");
    add_frequency(text, report, row);
    buffer_printf(text, ", and %s a step stay allocated with it: ",
                  page_bytes(page, bytes, growth->graph_bytes_per_step));
    if (growth->has_variables)
        buffer_puts(text, "a loss with its autograd graph, and the logits, which no graph keeps. "
                          "So something refers to the variables of that code: a stored exception "
                          "(its traceback does), a closure, a generator, or an object in a "
                          "reference cycle. loss.item() changes nothing then.");
    else
        buffer_puts(text, "most likely a stored loss that keeps its autograd graph alive. Store "
                          "loss.item() or loss.detach() instead, and validate under "
                          "torch.no_grad().");
    summed_advice(report, text);
}

/* Advice about graphs that are kept by a result larger than a loss. */
static void result_advice(const struct page *page, const struct device_report *report,
                          struct buffer *text)
{
    const struct growth *growth = &report->growth;
    bool trains = phases_have(&report->phases, PHASE_BACKWARD);
    char bytes[UNITS_TEXT_SIZE];
    buffer_printf(text, "%s of it look like autograd graphs. Their last result is made at ",
                  page_bytes(page, bytes, growth->graph_bytes_per_step));
    growth_add_label(text, &growth->rows[growth->last_row]);
    add_caller(text, growth);
    buffer_printf(text,
                  ": something stores it together with its graph%s. Store%s tensor.detach() "
                  "instead, and run code without a backward pass under torch.no_grad().",
                  trains ? ", or each step passes it on to the next" : "",
                  trains ? " or pass on" : "");
    summed_advice(report, text);
}

/* Advice about a small result that may be a loss: whether it keeps a graph is not known. */
static void scalar_advice(const struct page *page, const struct device_report *report,
                          struct buffer *text)
{
    const struct growth *growth = &report->growth;
    char bytes[UNITS_TEXT_SIZE];
    growth_add_label(text, &growth->rows[growth->scalar_row]);
    buffer_puts(text, " keeps a result of a few bytes");
    add_frequency(text, report, &growth->rows[growth->scalar_row]);
    buffer_printf(text,
                  ", and %s a step stay allocated. If it "
                  "is a loss that is stored with its autograd graph, store loss.item() or "
                  "loss.detach() instead; otherwise, look for what stores the tensors above.",
                  page_bytes(page, bytes, growth->graph_bytes_per_step));
}

/* Advice about tensors that are stored themselves, without a graph. */
static void stored_advice(const struct device_report *report, struct buffer *text)
{
    const struct growth *growth = &report->growth;
    growth_add_label(text, &growth->rows[growth_holder(growth)]);
    add_caller(text, growth);
    buffer_printf(text,
                  ": no autograd graph keeps what is made there. The tensors themselves are "
                  "stored, in a list, a dictionary or an attribute to which %s %s adds. If it is "
                  "a pool of limited size, it grows only until it is full. Otherwise, move them "
                  "to the host (tensor.cpu()), or store only what is needed of them%s.",
                  adding_steps(growth), growth_step(report),
                  report->steps.source == STEPS_FORWARD
                      ? "; limit the length of a cache of keys and values"
                      : "");
}

/* Advice about caches of requests that are done. */
static void kept_cache_advice(const struct page *page, const struct device_report *report,
                              struct buffer *text)
{
    const struct growth_row *largest = &report->growth.rows[0];
    char bytes[UNITS_TEXT_SIZE];
    growth_add_label(text, largest);
    buffer_printf(
        text,
        " makes caches of keys and values, and those of earlier requests are still there: "
        "at the end it holds %s. A cache is needed only until its request is done. Delete "
        "it then, with all that refers to it (past_key_values, in what generate() returns "
        "with return_dict_in_generate=True), or use it again for the next request "
        "(cache.reset() in transformers).",
        page_bytes(page, bytes, largest->bytes_at_end));
}

/* Advice by what is known of the call site that grows most. */
static void site_advice(const struct page *page, const struct device_report *report,
                        struct buffer *text)
{
    const struct growth_row *largest = &report->growth.rows[0];
    if (largest->category == CATEGORY_KV_CACHE && !largest->in_use) {
        kept_cache_advice(page, report, text);
    } else if (largest->category == CATEGORY_KV_CACHE) {
        buffer_puts(text, "The cache of keys and values grows with each token, and is needed "
                          "until its sequence ends. Limit the length of sequences or their "
                          "number, keep it in fewer bits, or allocate it once for the longest "
                          "sequence: torch.cat in a loop needs the old and the new copy at once.");
    } else if (report->growth.grows_one_model && largest->in_use) {
        growth_add_label(text, largest);
        add_caller(text, &report->growth);
        buffer_puts(text,
                    " adds more and more to one model, whose older parameters train, too. Such "
                    "growth is no leak if the model is to grow, as by a head or an adapter for "
                    "each task. Take parameters that no longer train out of the optimizer, "
                    "which keeps states for them.");
    } else if (report->growth.grow_models) {
        growth_add_label(text, &report->growth.rows[growth_holder(&report->growth)]);
        add_caller(text, &report->growth);
        buffer_puts(text,
                    " makes more and more parameters, and optimizers keep states for them. If one "
                    "model is to grow, this is no leak. If they belong to models of earlier runs, "
                    "look for what still refers to these "
                    "models or their optimizers, such as a list of results, a closure or a "
                    "reference cycle.");
    } else if (largest->category == CATEGORY_PARAMETER) {
        growth_add_label(text, largest);
        add_caller(text, &report->growth);
        buffer_puts(text,
                    " makes more and more weights: of models or adapters that the program adds and "
                    "does not delete, or copies of weights. Delete those that are not needed any "
                    "more (model.delete_adapter() in peft) with all that refers to them, or keep "
                    "them in host memory until they are needed.");
    } else if (growth_is_of_gradients(&report->growth)) {
        buffer_puts(text, "Most of it is gradients of earlier steps that something stores, such "
                          "as a list or a log: zero_grad() frees only those to which nothing else "
                          "refers. Store copies on the host, or their norms.");
    } else if (largest->stack == STACK_NONE) {
        buffer_puts(text, "No stacks were recorded, so the line of code is not known: record with "
                          "stacks=\"python\" to see it. It may be a stored loss that keeps its "
                          "autograd graph alive, or a list, a dictionary or an attribute to which "
                          "tensors are added.");
    } else if (largest->fit.replaced) {
        growth_add_label(text, largest);
        buffer_puts(text, " replaces its memory with a larger block at every step (torch.cat in a "
                          "loop?): allocate the full size once, or limit it.");
    } else {
        buffer_puts(text, "A pool of limited size that is not full yet grows like this. Otherwise, "
                          "look at ");
        growth_add_label(text, largest);
        add_caller(text, &report->growth);
        buffer_printf(text,
                      ", for a list, a dictionary or an attribute to which %s %s adds a "
                      "tensor, or a hook or closure that refers to one%s",
                      adding_steps(&report->growth), growth_step(report),
                      report->steps.source == STEPS_FORWARD
                          ? ", or a cache of keys and values, whose length should be limited."
                      : growth_is_of_input(&report->growth)
                          ? ". It is data, as in a replay memory that is not full yet: give that a "
                            "limit, or keep it in host memory (tensor.cpu())."
                      : largest->category != CATEGORY_PARAMETER &&
                              phases_have(&report->phases, PHASE_BACKWARD)
                          ? ". A sum over the steps, or a state that each step passes on to the "
                            "next, keeps its autograd graph, too: add tensor.detach() to it."
                          : ".");
        if (report->growth.in_function)
            buffer_puts(text, " If that is the forward() of a torch.autograd.Function, pass its "
                              "results to ctx.save_for_backward(): stored in ctx itself, they make "
                              "a reference cycle.");
    }
}

bool growth_advice(const struct page *page, const struct device_report *report, struct buffer *text)
{
    const struct growth *growth = &report->growth;
    char bytes[UNITS_TEXT_SIZE];
    bool keeps_graph = growth->graph == GRAPH_KEPT;
    if (growth->pools.kind != PRIVATE_NONE)
        pool_advice(page, report, text);
    else if (growth->scalar_row != NO_ROW && keeps_graph)
        loss_advice(page, report, text);
    else if (growth->last_row != NO_ROW && keeps_graph)
        result_advice(page, report, text);
    else if (growth->scalar_row != NO_ROW)
        scalar_advice(page, report, text);
    else if (growth->graph == GRAPH_NONE &&
             growth->graph_bytes_per_step > growth->bytes_per_step / 2)
        stored_advice(report, text);
    else
        site_advice(page, report, text);
    if (growth->save_bytes > report->peak.active_bytes / HARDLY_ANY) {
        bool up_to = growth->may_be_needed && !keeps_graph;
        buffer_printf(text, " At the peak, %s %s were left over from earlier %s",
                      up_to ? "up to" : "at least", page_bytes(page, bytes, growth->save_bytes),
                      growth_steps(report));
        if (keeps_graph && growth->input_save_bytes > 0) /* the saving leaves them out */
            buffer_printf(text, ", %s of it inputs",
                          page_bytes(page, bytes, growth->input_save_bytes));
        buffer_puts(text, up_to ? "; a request that is not done may need a part of it." : ".");
    }
    if (growth->rows[0].fit.confidence == CONFIDENCE_LOW)
        buffer_printf(text, " It grew in too few %s to be sure: record more.",
                      growth_steps(report));
    return growth_paragraph(page, text);
}
