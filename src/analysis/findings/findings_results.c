/* Findings on results that the program collects. */
#include <stdio.h>

#include "analysis/findings/findings_internal.h"
#include "model/sums.h"

/* In percent of the peak; smaller findings are left out. */
#define LEAST_RESULTS 5
#define LEAST_PILED   5

/* Tensors live at the peak that the program made by joining collected results. Without these
 * results, they would not exist either. */
struct joined {
    int64_t bytes;
    int64_t more_bytes; /* of results that are joined, but not counted: that of the running pass */
    char text[UNITS_TEXT_SIZE + 64]; /* of the finding; empty if there is nothing */
};

static bool is_joined(const struct findings_maker *maker, const struct live *live,
                      const struct live_sum *sum)
{
    static const char *const ops[] = {"aten::cat", "aten::stack"};
    const struct live_set *set = maker->evidence->at_peak;
    struct error err; /* cannot fail: the stacks were looked up before */
    uint64_t pieces = sum->largest_bytes > 0 ? live->size / (uint64_t)sum->largest_bytes : 0;
    /* the last result may be gone, or not be there yet */
    if (pieces + 1 < sum->count || pieces > sum->count + 1 ||
        live->size % (uint64_t)sum->largest_bytes != 0)
        return false;
    const struct stack_facts *facts = site_stack_facts(set->sites, live->stack, &err);
    return facts && facts->context == CONTEXT_OTHER &&
           text_is_one_of(symbols_text(site_table_symbols(set->sites), facts->site.op), ops,
                          sizeof(ops) / sizeof(ops[0]));
}

static struct joined joined_of(const struct findings_maker *maker, const struct live_sum *sum)
{
    const struct live_set *set = maker->evidence->at_peak;
    struct joined joined = {0};
    for (size_t i = 0; sum->count > 1 && i < set->count; i++) {
        int64_t size = (int64_t)set->items[i].size;
        if (!is_joined(maker, &set->items[i], sum))
            continue;
        sum_add_capped(&joined.bytes, size);
        if ((uint64_t)(size / sum->largest_bytes) > sum->count)
            joined.more_bytes = sum->largest_bytes;
    }
    if (joined.bytes > 0)
        snprintf(joined.text, sizeof(joined.text), ", and what is joined of them holds %s",
                 finding_size(maker, joined.bytes).text);
    return joined;
}

bool finding_about_piled_results(struct findings_maker *maker, const struct live_sum *sum,
                                 const struct buffer *most)
{
    const struct piled_results *piled = maker->evidence->piled;
    char steps[UNITS_TEXT_SIZE];
    int64_t save = piled->save_bytes < sum->bytes ? piled->save_bytes : sum->bytes;
    struct joined joined = joined_of(maker, sum);
    /* what grows up to the end is another finding */
    if (finding_share(maker, save) < LEAST_PILED ||
        finding_share(maker, maker->evidence->growth->save_bytes) >= LEAST_SHARE)
        return true;
    return finding_add(
        maker,
        (struct finding){.kind = FINDING_PILED_RESULTS,
                         .save_bytes = save + joined.bytes + joined.more_bytes,
                         .at_most = true},
        piled->in_windows
            ? "If the program needs fewer of them, lower the limit, such as collections.deque's "
              "maxlen. Or keep them in a smaller dtype, or in host memory (tensor.cpu())."
            : "If a list or an attribute collects them, move each to the host (tensor.cpu()), or "
              "store less of it. If nothing does, they are in reference cycles, which only "
              "Python's garbage collector frees: look for objects that refer to each other, a "
              "stored exception, or a nested function that calls itself.",
        piled->in_windows
            ? "Results of the last %s %s, of which the program frees the oldest when "
              "it has a new one, hold %s%s%s."
            : "Results of %s earlier %s, which the program later frees together, hold "
              "%s%s%s.",
        units_count(steps, piled->steps),
        maker->evidence->steps->source == STEPS_FORWARD ? "forward passes" : "steps",
        finding_size(maker, sum->bytes).text, most->bytes, joined.text);
}

bool finding_about_pass_results(struct findings_maker *maker, const struct live_sum *sum,
                                const struct buffer *most)
{
    char count[UNITS_TEXT_SIZE];
    if (sum->count < FEW_RESULTS || finding_share(maker, sum->bytes) < LEAST_RESULTS)
        return true;
    struct joined joined = joined_of(maker, sum);
    return finding_add(
        maker,
        (struct finding){.kind = FINDING_PASS_RESULTS,
                         .save_bytes = sum->bytes + joined.bytes + joined.more_bytes,
                         .at_most = true},
        "Move each to the host (tensor.cpu()) before it is stored, or store less of it, such as "
        "scores.argmax(-1). A slice such as hidden[:, 0] keeps the whole tensor: store a copy of "
        "it, hidden[:, 0].clone().",
        "%s results of forward passes that kept no graph, as in an evaluation, hold %s%s%s.",
        units_count(count, sum->count), finding_size(maker, sum->bytes).text, most->bytes,
        joined.text);
}

bool finding_about_concatenated(struct findings_maker *maker, const struct live_sum *sum,
                                const struct buffer *most)
{
    int64_t save = maker->concatenated_save_bytes;
    if (finding_share(maker, save) < LEAST_RESULTS)
        return true;
    return finding_add(
        maker, (struct finding){.kind = FINDING_CONCATENATED, .save_bytes = save, .at_most = true},
        "Append each to a list, on the host (tensor.cpu()), and concatenate the list once: "
        "otherwise each torch.cat() needs the old and the new tensor at once. Or store less of "
        "each, such as scores.argmax(-1). In transformers' Trainer, set "
        "preprocess_logits_for_metrics, or eval_accumulation_steps=1.",
        "Results that a loop concatenates with all earlier ones, one after the other, hold %s%s.",
        finding_amount(maker, sum->bytes).text, most->bytes);
}
