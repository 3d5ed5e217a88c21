/* Says before an answer that most of the peak is what a single layer needs while it runs, such as
 * the copies of logits that a loss makes. Checkpoints do not lower that. */
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

void suggest_one_layer_text(const struct page *page, const struct suggest_subject *subject)
{
    const struct forward_chain *chain = subject->forward;
    struct pass_peak peak = peak_of(chain);
    char whole[UNITS_TEXT_SIZE], more[UNITS_TEXT_SIZE];
    struct buffer name = BUFFER_INIT;
    if (chain->unfinished || peak.more <= peak.bytes / 3 * 2)
        return;
    suggest_add_span(&name, subject->problem, peak.element, peak.element + 1);
    if (!name.failed)
        suggest_title(page,
                      "Most of this peak is what one layer needs while it runs: %s of %s, in the "
                      "%s pass of %s. Checkpoints do not lower that; 'memsnap analyze' tells what "
                      "it is.",
                      page_bytes(page, more, peak.more), page_bytes(page, whole, peak.bytes),
                      peak.in_backward ? "backward" : "forward", name.bytes);
    buffer_release(&name);
    fputc('\n', page->out);
}
