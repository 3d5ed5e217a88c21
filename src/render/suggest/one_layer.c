/* Says before an answer that most of the peak is what a single layer needs while it runs, such as
 * the copies of logits that a loss makes, or a single allocation that a layer keeps, such as what
 * cuDNN reserves for a recurrent layer. Checkpoints do not lower that. */
#include "analysis/code/recurrent.h"
#include "render/suggest/parts.h"

/* The peak of a pass without checkpoints. */
struct pass_peak {
    size_t element;      /* runs at the peak */
    int64_t bytes, more; /* `more` is the part beyond what the layers up to this one keep */
    bool in_backward;
};

static void raise_to(struct pass_peak *peak, struct pass_peak other)
{
    if (other.bytes > peak->bytes)
        *peak = other;
}

static struct pass_peak peak_of(const struct forward_chain *chain)
{
    struct pass_peak peak = {0};
    int64_t kept = 0;
    for (size_t i = 0; i < chain->count; i++) {
        const struct chain_element *it = &chain->elements[i];
        int64_t gradient = it->output_bytes + it->backward_extra_bytes;
        kept += it->activation_bytes;
        raise_to(&peak, (struct pass_peak){i, kept + it->forward_extra_bytes,
                                           it->forward_extra_bytes, false});
        raise_to(&peak, (struct pass_peak){i, kept + gradient, gradient, true});
    }
    return peak;
}

static void say_layer(const struct page *page, struct pass_peak peak, const char *name)
{
    char whole[UNITS_TEXT_SIZE], more[UNITS_TEXT_SIZE];
    suggest_title(page,
                  "Most of this peak is what one layer needs while it runs: %s of %s, in the %s "
                  "pass of %s. Checkpoints do not lower that; 'memsnap analyze' tells what it is.",
                  page_bytes(page, more, peak.more), page_bytes(page, whole, peak.bytes),
                  peak.in_backward ? "backward" : "forward", name);
    fputc('\n', page->out);
}

static void say_allocation(const struct page *page, const struct forward_chain *chain,
                           const char *name)
{
    char whole[UNITS_TEXT_SIZE], bytes[UNITS_TEXT_SIZE];
    suggest_title(page,
                  "Most of what these layers keep is a single allocation: %s of %s, which %s keeps "
                  "for its backward pass. Checkpoints do not lower that: with one around this "
                  "layer, the backward pass makes the same allocation again. A smaller batch "
                  "lowers it; to train with the same number of samples, accumulate the gradients "
                  "of several batches.%s",
                  page_bytes(page, bytes, chain->largest_bytes),
                  page_bytes(page, whole, chain->activation_bytes), name,
                  chain->largest_recurrent ? " " RECURRENT_ADVICE : "");
    fputc('\n', page->out);
}

void suggest_one_layer_text(const struct page *page, const struct suggest_subject *subject)
{
    const struct forward_chain *chain = subject->forward;
    struct pass_peak peak = peak_of(chain);
    bool is_layer = peak.more > peak.bytes / 3 * 2;
    bool is_allocation = !is_layer && chain->largest_bytes > chain->activation_bytes / 3 * 2;
    size_t element = is_layer ? peak.element : chain->largest_element;
    struct buffer name = BUFFER_INIT;
    if (chain->unfinished || (!is_layer && !is_allocation))
        return;
    suggest_add_span(&name, subject->problem, element, element + 1);
    if (!name.failed && is_layer)
        say_layer(page, peak, name.bytes);
    else if (!name.failed)
        say_allocation(page, chain, name.bytes);
    buffer_release(&name);
}
