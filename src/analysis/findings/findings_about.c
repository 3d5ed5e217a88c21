/* Sentences of the findings on parts of the peak. */
#include "analysis/findings/findings_internal.h"

/* In percent of the peak; smaller findings are left out. */
#define LEAST_CASTS         3
#define LEAST_ELEMENTWISE   5
#define LEAST_DATA          10
#define LEAST_LOGITS        15
#define LEAST_LOGITS_FAILED 5 /* the same if a request for more of them failed */

/* Temporaries of the size of a parameter that Adam's loop over the parameters makes. */
#define LOOP_TEMPORARIES 2

bool finding_about_dropped(struct findings_maker *maker, const struct live_sum *sum,
                           const struct buffer *most)
{
    int64_t save = maker->evidence->dropped->save_bytes;
    if (finding_share(maker, save) < LEAST_SHARE || maker->grows_dropped)
        return true;
    return finding_add(
        maker,
        (struct finding){.kind = FINDING_NO_GRAD,
                         .save_bytes = save,
                         .at_least = !maker->evidence->dropped->saves_at_most,
                         .at_most = maker->evidence->dropped->saves_at_most},
        sum->top_is_shared
            ? "That line also computes what a backward pass uses. Run only the call that none uses "
              "under torch.no_grad() or torch.inference_mode()."
            : "Run the code there under torch.no_grad() or torch.inference_mode().",
        "At the peak, autograd keeps %s for a backward pass that never comes%s.",
        finding_size(maker, sum->bytes).text, most->bytes);
}

static bool about_handed(struct findings_maker *maker, const struct live_sum *sum,
                         const struct buffer *most)
{
    const struct retained_graphs *retained = maker->evidence->retained;
    char passes[UNITS_TEXT_SIZE];
    return finding_add(
        maker,
        (struct finding){.kind = FINDING_RETAINED,
                         .save_bytes = retained->save_bytes,
                         .at_least = !retained->saves_at_most,
                         .at_most = retained->saves_at_most,
                         .remedy = "detach what a pass hands on to the next"},
        "Detach what a pass hands on to the next, such as the state of a recurrent network (state "
        "= state.detach()), and leave retain_graph=True out of backward(): each backward pass then "
        "frees its graph. Gradients no longer flow from one pass to those before it.",
        "At the peak, the autograd graphs of %s passes hold %s, although their backward passes are "
        "over%s. Each pass goes on from results of the one before it, so its backward pass goes "
        "through the earlier graphs again.",
        units_count(passes, retained->handed_passes), finding_size(maker, sum->bytes).text,
        most->bytes);
}

/* Adds "style.py:27 <module> and style.py:28 <module>". */
static bool early_lines(const struct findings_maker *maker, const struct early_graph *early,
                        struct buffer *text)
{
    for (size_t i = 0; i < early->line_count; i++) {
        const struct site site = {.user_frame = early->indexes[i], .any_python_frame = NO_FRAME};
        buffer_puts(text, i > 0 ? " and " : "");
        site_label(maker->evidence->at_peak->sites, early->stacks[i], &site, text);
    }
    return !text->failed || error_out_of_memory(maker->err);
}

static bool about_early(struct findings_maker *maker, const struct live_sum *sum)
{
    const struct retained_graphs *retained = maker->evidence->retained;
    int64_t early = retained->early.at_peak_bytes, others = sum->bytes - early;
    struct buffer lines = BUFFER_INIT, also = BUFFER_INIT;
    bool ok = early_lines(maker, &retained->early, &lines);
    buffer_puts(&also, "");
    if (finding_share(maker, others) >= LEAST_SHARE)
        buffer_printf(&also, " Graphs of earlier passes hold %s for the same reason.",
                      finding_size(maker, others).text);
    ok = ok && (!also.failed || error_out_of_memory(maker->err));
    ok = ok &&
         finding_add(
             maker,
             (struct finding){.kind = FINDING_RETAINED,
                              .save_bytes = retained->save_bytes,
                              .at_least = true,
                              .where = lines.bytes,
                              .remedy = "compute targets under torch.no_grad(), and leave "
                                        "retain_graph=True out"},
             "If these lines compute targets, run them under torch.no_grad(). Then leave "
             "retain_graph=True out of backward(), which frees what each pass has saved. Leaving "
             "it out alone fails, because the second backward pass goes through that graph again.",
             "At the peak, an autograd graph keeps %s that was made before the first backward "
             "pass, at %s, and that no backward pass frees, because of retain_graph=True.%s",
             finding_size(maker, early).text, lines.bytes, also.bytes);
    buffer_release(&lines);
    buffer_release(&also);
    return ok;
}

bool finding_about_retained(struct findings_maker *maker, const struct live_sum *sum,
                            const struct buffer *most)
{
    int64_t save = maker->evidence->retained->save_bytes;
    if (finding_share(maker, save) < LEAST_SHARE)
        return true;
    if (maker->evidence->retained->handed_bytes > sum->bytes / 2)
        return about_handed(maker, sum, most);
    if (maker->evidence->retained->early.at_peak_bytes > sum->bytes / 4)
        return about_early(maker, sum);
    return finding_add(
        maker,
        (struct finding){.kind = FINDING_RETAINED,
                         .save_bytes = save,
                         .at_least = !maker->evidence->retained->saves_at_most,
                         .at_most = maker->evidence->retained->saves_at_most},
        "Leave retain_graph=True, and create_graph=True, out of the last backward() or "
        "torch.autograd.grad() through it: that pass then frees what the graph has saved.",
        "At the peak, an autograd graph still keeps %s, although the last backward pass through it "
        "is over%s.",
        finding_size(maker, sum->bytes).text, most->bytes);
}

/* Whose results variables hold. */
static const char *makers_of_kept(const struct kept_results *kept)
{
    if (kept->of_evaluation)
        return "an earlier step or evaluation";
    if (kept->in_evaluation_bytes == kept->at_peak_bytes)
        return "an earlier pass of the evaluation";
    if (kept->in_step_bytes == kept->at_peak_bytes)
        return "an earlier pass of the same step";
    return kept->in_step_bytes > 0 ? "earlier passes" : "the step before";
}

bool finding_about_kept_results(struct findings_maker *maker, const struct live_sum *sum,
                                const struct buffer *most)
{
    const struct kept_results *kept = maker->evidence->kept;
    bool keeps_graph = kept->graph_bytes > kept->at_peak_bytes / 2 &&
                       maker->evidence->retained->at_peak_bytes == 0;
    bool in_step = kept->in_step_bytes > 0;
    struct buffer next = BUFFER_INIT;
    /* Without the graph, other peaks are lower, too: its backward pass frees it in each step. */
    int64_t save_bytes = keeps_graph ? (int64_t)kept->at_peak_bytes : kept->save_bytes;
    if (finding_share(maker, kept->save_bytes) < LEAST_SHARE)
        return true;
    if (keeps_graph)
        buffer_puts(&next, "Most of it belongs to a graph that the backward pass did not free: "
                           "leave retain_graph=True out of the last backward pass through it. ");
    buffer_printf(&next,
                  "Unless the next %s needs them, delete these variables %s (del NAME), or move "
                  "the body of the loop into a function.",
                  in_step ? "pass" : "step",
                  kept->in_evaluation_bytes > 0 ? "at the end of each iteration"
                  : in_step                     ? "after the backward pass"
                                                : "at the end of the step");
    bool ok = !next.failed || error_out_of_memory(maker->err);
    ok = ok &&
         finding_add(maker,
                     (struct finding){
                         .kind = FINDING_KEPT_RESULTS, .save_bytes = save_bytes, .at_most = true},
                     next.bytes,
                     "At the peak, variables still hold %s of %s%s; this memory is freed "
                     "only when the same code sets the variables again.",
                     finding_size(maker, sum->bytes).text, makers_of_kept(kept), most->bytes);
    buffer_release(&next);
    return ok;
}

int64_t finding_peak(const struct findings_maker *maker, bool in_optimizer)
{
    const struct phase_rows *rows = maker->evidence->phase_rows;
    int64_t peak = maker->evidence->at_peak->timeline->active.baseline_bytes;
    for (size_t i = 0; i < rows->count; i++) {
        const struct phase_row *row = &rows->items[i];
        if ((row->phase == PHASE_OPTIMIZER) == in_optimizer && row->peak_bytes > peak)
            peak = row->peak_bytes;
    }
    return peak;
}

bool finding_fails_at_logits(const struct findings_maker *maker)
{
    return !phases_have(maker->evidence->phases, PHASE_BACKWARD) &&
           maker->evidence->logits->failed_count > 0;
}

bool finding_reports_logits(const struct findings_maker *maker, const struct live_sum *logits)
{
    bool fails = maker->evidence->logits->failed_count > 0;
    return finding_share(maker, logits->bytes) >= (fails ? LEAST_LOGITS_FAILED : LEAST_LOGITS);
}

static const char *next_parts(const struct findings_maker *maker)
{
    if (finding_fails_at_logits(maker))
        return "Compute the logits and the loss for a part of the tokens or samples at a time, "
               "each part under torch.utils.checkpoint if a backward pass follows, and add up the "
               "losses, or the sums that the loss is computed from: then only one part of the "
               "logits exists at a time.";
    if (maker->evidence->unused->at_peak)
        return "Compute the logits and the loss for a part of the tokens or samples at a time, and "
               "add up the losses, or the sums that the loss is computed from: then only one part "
               "of the logits exists at a time.";
    return "Compute the logits and the loss for a part of the tokens or samples at a time, each "
           "part under torch.utils.checkpoint, and add up the losses, or the sums that the loss "
           "is computed from: then only one part of the logits exists at a time.";
}

bool finding_about_logits(struct findings_maker *maker, const struct live_sum *sum,
                          const struct buffer *most)
{
    if (!finding_reports_logits(maker, sum))
        return true;
    return finding_add(
        maker, (struct finding){.kind = FINDING_LOGITS, .save_bytes = sum->bytes, .at_most = true},
        next_parts(maker), "Logits, the loss over them and their gradients hold %s%s.",
        finding_amount(maker, sum->bytes).text, most->bytes);
}

bool finding_about_resident_data(struct findings_maker *maker, const struct live_sum *sum,
                                 const struct buffer *most)
{
    double share = finding_share(maker, sum->bytes);
    if (share < LEAST_DATA)
        return true;
    return finding_add(
        maker,
        (struct finding){.kind = FINDING_RESIDENT_DATA, .save_bytes = sum->bytes, .at_most = true},
        "If it is the data set or a replay buffer, keep it in host memory, pinned "
        "(tensor.pin_memory()), and copy one batch at a time to the device.",
        "Data that the program makes before training and keeps holds %s%s.",
        finding_amount(maker, sum->bytes).text, most->bytes);
}

bool finding_about_elementwise(struct findings_maker *maker, const struct live_sum *sum,
                               const struct buffer *most)
{
    double share = finding_share(maker, sum->bytes);
    if (share < LEAST_ELEMENTWISE)
        return true;
    return finding_add(
        maker,
        (struct finding){.kind = FINDING_ELEMENTWISE, .save_bytes = sum->bytes, .at_most = true},
        "Use a fused operator there (torch.nn.functional has gelu, silu, rms_norm, layer_norm and "
        "others), or run the function under torch.utils.checkpoint or torch.compile.",
        "Functions that call one elementwise operator after the other keep %s of intermediate "
        "results, %.1f%% of %s, for the backward pass%s.",
        finding_size(maker, sum->bytes).text, share, finding_whole(maker), most->bytes);
}

static bool add_casts(struct findings_maker *maker, const struct live_sum *sum,
                      const struct buffer *most, const char *next)
{
    /* a tensor of half the size would be kept instead of each that is exchanged */
    int64_t save = sum->bytes - maker->exchanged_bytes / 2;
    if (finding_share(maker, save) < LEAST_CASTS)
        return true;
    struct buffer advice = BUFFER_INIT;
    bool is_repeated = maker->repeated_bytes > save / 4;
    if (!is_repeated || maker->repeated_bytes < save / 4 * 3)
        buffer_printf(&advice, is_repeated ? "%s " : "%s", next);
    if (is_repeated)
        buffer_puts(&advice, "Convert a tensor that several layers read once, before them "
                             "(x = x.to(torch.bfloat16)): autocast makes a copy for each layer.");
    bool ok =
        (!advice.failed || error_out_of_memory(maker->err)) &&
        finding_add(maker,
                    (struct finding){.kind = FINDING_CASTS, .save_bytes = save, .at_most = true},
                    advice.bytes,
                    "Of the activations, %s are copies converted to another dtype and kept for the "
                    "backward pass%s.",
                    finding_size(maker, sum->bytes).text, most->bytes);
    buffer_release(&advice);
    return ok;
}

bool finding_about_casts(struct findings_maker *maker, const struct live_sum *sum,
                         const struct buffer *most)
{
    return add_casts(maker, sum, most,
                     "Use one dtype for weights and activations there, or let torch.compile fuse "
                     "the conversion into the operator that uses it.");
}

bool finding_about_widened(struct findings_maker *maker, const struct live_sum *sum,
                           const struct buffer *most)
{
    return add_casts(maker, sum, most,
                     "Autocast computes operators such as pow(), square() and rms_norm() in "
                     "float32, so autograd keeps a float32 copy of what they read. Where the "
                     "smaller dtype is precise enough, call them under torch.autocast(\"cuda\", "
                     "enabled=False), or use operators that keep the dtype, such as x * x. Or let "
                     "torch.compile fuse the conversion into the operator that uses it.");
}

bool finding_about_optimizer_temporaries(struct findings_maker *maker, const struct live_sum *sum,
                                         const struct buffer *most)
{
    const struct evidence_of_all *evidence = maker->evidence;
    int64_t peak = evidence->peak->active_bytes;
    int64_t save = peak - finding_peak(maker, false);
    if (save > sum->bytes)
        save = sum->bytes;
    if (finding_share(maker, save) < LEAST_SHARE)
        return true;
    bool one_is_too_large = sum->bytes / LOOP_TEMPORARIES <= sum->largest_bytes;
    return finding_add(
        maker,
        (struct finding){
            .kind = FINDING_OPTIMIZER_TEMPORARIES, .save_bytes = save, .at_most = true},
        one_is_too_large
            ? "In torch.optim, fused=True in Adam, AdamW and SGD avoids them. foreach=False does "
              "not: one parameter has most of them. In your own optimizer, update in place."
            : "In torch.optim, foreach=False avoids most of them, and fused=True in Adam, AdamW "
              "and SGD all; in your own optimizer, update the parameters one at a time and in "
              "place.",
        "The peak is in the optimizer step, which holds %s of temporaries at that moment%s. "
        "Outside the optimizer step, the peak is %s.",
        finding_size(maker, sum->bytes).text, most->bytes, finding_size(maker, peak - save).text);
}
