/* Findings on the pass or the step that contains the peak. */
#include "analysis/findings/all_pairs.h"
#include "analysis/findings/benchmarks.h"
#include "analysis/findings/failed_pass.h"
#include "analysis/findings/findings_internal.h"
#include "analysis/findings/local_results.h"
#include "analysis/findings/summed_losses.h"
#include "analysis/findings/uneven_steps.h"
#include "analysis/findings/unused_logits.h"

/* In percent of the peak; smaller findings are left out. */
#define LEAST_PASS   10
#define LEAST_PAIRS  5
#define LEAST_LOGITS 5
#define LEAST_LOCALS 10

bool finding_of_unused_pass(struct findings_maker *maker)
{
    const struct evidence_of_all *evidence = maker->evidence;
    int64_t save = evidence->peak->active_bytes - evidence->unused->peak_elsewhere_bytes;
    if (!evidence->unused->at_peak || evidence->dropped->at_peak_bytes > 0 ||
        maker->concatenated_save_bytes >= save / 10 * 9 || finding_share(maker, save) < LEAST_PASS)
        return true;
    return finding_add(
        maker, (struct finding){.kind = FINDING_UNUSED_PASS, .save_bytes = save, .at_most = true},
        "Use a smaller batch there, or split it; move results that are kept to the host "
        "(tensor.cpu()).",
        "The peak lies in a forward pass that no backward pass uses, such as evaluation, "
        "generation or a frozen model. Outside of such passes, the peak is %s.",
        finding_size(maker, evidence->unused->peak_elsewhere_bytes).text);
}

bool finding_of_retained_graph(struct findings_maker *maker)
{
    const struct retained_graphs *retained = maker->evidence->retained;
    if (finding_share(maker, retained->save_bytes) >= LEAST_SHARE ||
        finding_share(maker, retained->in_backward_bytes) < LEAST_PASS)
        return true;
    return finding_add(
        maker,
        (struct finding){
            .kind = FINDING_RETAINED, .save_bytes = retained->in_backward_bytes, .at_most = true},
        "Leave retain_graph=True, and create_graph=True, out of it: a backward pass then frees "
        "what the graph has saved as soon as it has used it.",
        "The backward pass that runs at the peak frees nothing of its autograd graph, which keeps "
        "%s, although no other backward pass goes through the graph after it.",
        finding_size(maker, retained->in_backward_bytes).text);
}

bool finding_find_failed_pass(struct findings_maker *maker)
{
    const struct evidence_of_all *evidence = maker->evidence;
    if (evidence->dropped->at_peak_bytes > 0)
        return true;
    if (!failed_pass_find(&maker->failed, evidence->at_peak, evidence->phases, evidence->peak->item,
                          maker->err) ||
        !failed_attempt_find(&maker->attempt_bytes, evidence->at_peak, evidence->phases,
                             evidence->peak->item, maker->err))
        return false;
    if (finding_share(maker, maker->attempt_bytes) < LEAST_PASS)
        maker->attempt_bytes = 0;
    if (finding_share(maker, maker->failed.bytes) < LEAST_PASS)
        maker->failed.bytes = 0;
    return true;
}

bool finding_of_failed_pass(struct findings_maker *maker)
{
    const struct failed_pass *failed = &maker->failed;
    if (failed->bytes == 0)
        return true;
    struct buffer line = BUFFER_INIT;
    struct live_source source = {
        .own = failed->stack, .shown = failed->stack, .site = failed->call};
    live_source_label(maker->evidence->at_peak, &source, NULL, true, &line);
    bool ok =
        line.failed
            ? error_out_of_memory(maker->err)
            : finding_add(maker,
                          (struct finding){.kind = FINDING_NO_GRAD,
                                           .save_bytes = failed->bytes,
                                           .at_most = true,
                                           .where = line.bytes},
                          "If none follows, as in an evaluation, call the model there under "
                          "torch.no_grad() or torch.inference_mode().",
                          "The pass that ran out of memory is called at %s, where no backward pass "
                          "followed so far. Calls from there keep %s for one.",
                          line.bytes, finding_size(maker, failed->bytes).text);
    buffer_release(&line);
    return ok;
}

bool finding_of_failed_attempt(struct findings_maker *maker)
{
    if (maker->attempt_bytes == 0)
        return true;
    return finding_add(
        maker,
        (struct finding){
            .kind = FINDING_NO_GRAD, .save_bytes = maker->attempt_bytes, .at_most = true},
        "Inside an except block, the exception's traceback holds them, and after it if a variable "
        "keeps the exception. Try again after the block, without a reference to the exception or "
        "to variables of the attempt.",
        "Activations of an earlier attempt, which ran out of memory, hold %s. No backward pass "
        "frees them.",
        finding_amount(maker, maker->attempt_bytes).text);
}

bool finding_of_uneven_steps(struct findings_maker *maker)
{
    const struct evidence_of_all *evidence = maker->evidence;
    struct uneven_steps uneven;
    /* Calls of a model that generates grow with every token. */
    if (!phases_have(evidence->phases, PHASE_BACKWARD) || evidence->unused->at_peak ||
        finding_share(maker, evidence->growth->save_bytes) >= LEAST_SHARE)
        return true;
    if (!uneven_steps_find(&uneven, evidence->at_peak->timeline, evidence->steps, maker->err))
        return false;
    int64_t save = evidence->peak->active_bytes - uneven.usual_bytes;
    if (!uneven.found || finding_share(maker, save) < LEAST_PASS)
        return true;
    return finding_add(
        maker, (struct finding){.kind = FINDING_UNEVEN_STEPS, .save_bytes = save, .at_most = true},
        "If its batch has longer samples or larger images, limit their size, or group samples of "
        "similar length and limit the tokens of a batch instead of its samples.",
        "Step %lld, where the peak lies, does the same as step %lld with larger tensors: it "
        "allocates %.1f times the bytes. The peak of half of the other steps is at most %s.",
        (long long)uneven.step, (long long)uneven.usual_step, uneven.times,
        finding_size(maker, uneven.usual_bytes).text);
}

bool finding_of_summed_losses(struct findings_maker *maker)
{
    const struct evidence_of_all *evidence = maker->evidence;
    struct summed_losses summed;
    if (!summed_losses_find(&summed, evidence->at_peak, evidence->phases, evidence->peak->item,
                            maker->err))
        return false;
    if (finding_share(maker, summed.save_bytes) < LEAST_PASS)
        return true;
    if (summed.have_own_backward)
        return finding_add(
            maker,
            (struct finding){
                .kind = FINDING_SUMMED_LOSSES, .save_bytes = summed.save_bytes, .at_most = true},
            "Call backward() on the loss of each forward pass as soon as it is computed.",
            "%zu forward passes, each with a backward pass of its own, come before the first of "
            "these backward passes, and keep %s at the peak.",
            summed.passes, finding_size(maker, summed.bytes).text);
    return finding_add(
        maker,
        (struct finding){
            .kind = FINDING_SUMMED_LOSSES, .save_bytes = summed.save_bytes, .at_most = true},
        "If the loss is the sum or the mean of the losses of these passes, and no pass uses "
        "results of another, call backward() on the loss of each batch as soon as it is computed: "
        "the sum of the gradients is the same.",
        "%zu forward passes, each on a batch of its own, come before one backward pass, and keep "
        "%s at the peak.",
        summed.passes, finding_size(maker, summed.bytes).text);
}

bool finding_of_all_pairs(struct findings_maker *maker)
{
    const struct evidence_of_all *evidence = maker->evidence;
    struct all_pairs pairs;
    struct buffer line = BUFFER_INIT;
    char rows[UNITS_TEXT_SIZE];
    if (!all_pairs_find(&pairs, evidence->at_peak, evidence->steps, evidence->peak->item,
                        maker->err))
        return false;
    double share = finding_share(maker, pairs.bytes);
    if (share < LEAST_PAIRS)
        return true;
    units_count(rows, pairs.rows);
    bool ok = finding_line(maker, pairs.stack, &line);
    struct finding finding = {.kind = FINDING_ALL_PAIRS,
                              .save_bytes = pairs.bytes,
                              .at_most = true,
                              .where = finding_where(&line)};
    if (ok && !pairs.of_values)
        ok = finding_add(
            maker, finding,
            "For distances of all pairs of vectors, torch.cdist() or a matrix product needs no "
            "such tensor. Otherwise, compute it for a part of the rows at a time, under "
            "torch.utils.checkpoint.",
            "Broadcasting%s makes a tensor that is many times as large as its operands: tensors of "
            "that size hold %s.",
            line.bytes, finding_amount(maker, pairs.bytes).text);
    else if (ok)
        ok = finding_add(
            maker, finding,
            "If values of the same position are meant, as of a prediction and its target, one has "
            "the shape (N, 1) and the other (N): make the shapes equal, for example with "
            "squeeze(1). If all pairs are meant, compute them for a part of the rows at a time, "
            "under torch.utils.checkpoint.",
            "Broadcasting%s combines each of %s values with each of as many others: tensors of "
            "that size hold %s.",
            line.bytes, rows, finding_amount(maker, pairs.bytes).text);
    buffer_release(&line);
    return ok;
}

bool finding_of_unused_logits(struct findings_maker *maker)
{
    struct unused_logits logits;
    struct buffer line = BUFFER_INIT;
    if (!unused_logits_find(&logits, maker->evidence->at_peak, maker->err))
        return false;
    double share = finding_share(maker, logits.bytes);
    if (share < LEAST_LOGITS)
        return true;
    bool ok =
        finding_line(maker, logits.stack, &line) &&
        finding_add(
            maker,
            (struct finding){.kind = FINDING_UNUSED_LOGITS,
                             .save_bytes = logits.bytes,
                             .at_most = true,
                             .where = finding_where(&line)},
            "Apply the last layer to the last position only: head(hidden[:, -1:]) instead of "
            "head(hidden)[:, -1:]. In transformers, pass logits_to_keep=1.",
            "Logits of every position%s%s%s hold %s, but generation needs those of "
            "the last one: what is computed from them has at most %s.",
            logits.several ? ", the largest" : "", line.bytes, logits.several ? "," : "",
            finding_amount(maker, logits.bytes).text, finding_size(maker, logits.read_bytes).text);
    buffer_release(&line);
    return ok;
}

bool finding_of_benchmark(struct findings_maker *maker)
{
    const struct live_set *set = maker->evidence->at_peak;
    struct benchmarks benchmarks;
    if (!benchmarks_find(&benchmarks, set->timeline, set->sites, maker->err))
        return false;
    if (finding_share(maker, benchmarks.save_bytes) < LEAST_SHARE)
        return true;
    int64_t peak = maker->evidence->peak->active_bytes - benchmarks.save_bytes;
    struct buffer at = BUFFER_INIT;
    bool ok =
        finding_line(maker, benchmarks.stack, &at) &&
        finding_add(
            maker, (struct finding){.kind = FINDING_BENCHMARK, .save_bytes = benchmarks.save_bytes},
            "A kernel is timed when it first runs, and not in later steps: judge the "
            "memory of training by these.",
            "At the peak, torch.compile or Triton times kernels%s, for which it "
            "allocates %s. Without that memory, the peak is %s.",
            at.bytes, finding_size(maker, benchmarks.at_peak_bytes).text,
            finding_size(maker, peak).text);
    buffer_release(&at);
    return ok;
}

/* Adds "model.py:39 forward (16.00 MiB), model.py:41 forward (8.00 MiB)". */
static bool local_lines(const struct findings_maker *maker, const struct local_results *results,
                        struct buffer *text)
{
    for (size_t i = 0; i < results->line_count; i++) {
        const struct local_line *line = &results->lines[i];
        buffer_puts(text, i > 0 ? ", " : "");
        live_source_label(maker->evidence->at_peak, &line->source, NULL, true, text);
        buffer_printf(text, " (%s)", finding_size(maker, line->bytes).text);
    }
    return !text->failed || error_out_of_memory(maker->err);
}

bool finding_of_local_results(struct findings_maker *maker)
{
    const struct evidence_of_all *evidence = maker->evidence;
    struct local_results results;
    struct buffer lines = BUFFER_INIT;
    if (evidence->unused->at_peak || evidence->dropped->at_peak_bytes > 0)
        return true;
    if (!local_results_find(&results, evidence->at_peak, evidence->phases, evidence->peak->item,
                            maker->err))
        return false;
    if (finding_share(maker, results.save_bytes) < LEAST_LOCALS)
        return true;
    bool ok =
        local_lines(maker, &results, &lines) &&
        finding_add(
            maker,
            (struct finding){
                .kind = FINDING_LOCAL_RESULTS, .save_bytes = results.save_bytes, .at_most = true},
            "Delete each variable (del NAME) after the last line that reads it. If that line also "
            "makes a large tensor afterwards, split the line. Variables that the line with the "
            "peak or a later line reads have to stay.",
            "Local variables of functions hold %s until the functions return, although no "
            "backward pass needs this memory: %sthe results of %s.",
            finding_size(maker, results.bytes).text,
            results.line_count == LOCAL_LINES ? "above all " : "", lines.bytes);
    buffer_release(&lines);
    return ok;
}
