/* The finding on gradients that no optimizer uses. */
#include "analysis/findings/findings_internal.h"

static bool has_passes(const struct findings_maker *maker, const struct idle_gradients *idle)
{
    return finding_share(maker, idle->pass_bytes) >= LEAST_SHARE;
}

/* Adds what forward passes save for the gradients alone, and where the model is called. */
static bool add_idle_passes(const struct findings_maker *maker, const struct idle_gradients *idle,
                            struct site_table *sites, struct buffer *line, struct buffer *text)
{
    buffer_puts(text, "");
    if (!has_passes(maker, idle))
        return !text->failed || error_out_of_memory(maker->err);
    static const char *const places[] = {
        [IDLE_PASS_CALL] = "most of it where the model is called at",
        [IDLE_PASS_WITHIN] = "most of it in code such as",
        [IDLE_PASS_AMONG] = "most of it in one of the calls at",
    };
    site_label(sites, idle->pass_stack, &idle->pass_call, line);
    buffer_printf(text, " For them alone, forward passes keep %s at the peak, %s %s",
                  finding_size(maker, idle->pass_bytes).text, places[idle->pass_place],
                  line->bytes);
    struct site caller = idle->pass_call;
    if (site_at_caller(sites, idle->pass_stack, &caller)) {
        buffer_puts(text, ", called at ");
        site_label(sites, idle->pass_stack, &caller, text);
    }
    buffer_puts(text, ".");
    return (!line->failed && !text->failed) || error_out_of_memory(maker->err);
}

static bool about_untrained(struct findings_maker *maker, const struct idle_gradients *idle)
{
    struct buffer line = BUFFER_INIT, passes = BUFFER_INIT;
    struct site_table *sites = maker->evidence->sites;
    bool ok = add_idle_passes(maker, idle, sites, &line, &passes);
    ok = ok &&
         finding_add(
             maker,
             (struct finding){.kind = FINDING_IDLE_GRADIENTS,
                              .save_bytes = idle->save_bytes,
                              .at_least = true,
                              .where = line.bytes},
             has_passes(maker, idle)
                 ? "Call requires_grad_(False) on the parameters that are not trained, "
                   "before the first forward pass, or run these passes under "
                   "torch.no_grad(): then nothing is kept for their gradients, and they are "
                   "not computed at all."
                 : "Call requires_grad_(False) on the parameters that are not trained, "
                   "before the first forward pass: their gradients are then not computed "
                   "at all.",
             "%llu gradients (%s) belong to parameters that the optimizer does not have: it "
             "keeps no state for them, and its zero_grad() does not free their gradients.%s",
             (unsigned long long)idle->count, finding_size(maker, idle->bytes).text, passes.bytes);
    buffer_release(&line);
    buffer_release(&passes);
    return ok;
}

/* Only the passes are a mistake: each loss of adversarial training makes gradients that zero_grad()
 * discards. */
static bool about_discarded(struct findings_maker *maker, const struct idle_gradients *idle)
{
    struct buffer line = BUFFER_INIT, passes = BUFFER_INIT;
    if (!has_passes(maker, idle))
        return true;
    bool ok = add_idle_passes(maker, idle, maker->evidence->sites, &line, &passes) &&
              finding_add(maker,
                          (struct finding){.kind = FINDING_IDLE_GRADIENTS,
                                           .save_bytes = idle->save_bytes,
                                           .at_least = true,
                                           .where = line.bytes,
                                           .remedy = "keep only the detached result of a "
                                                     "model that is not trained then"},
                          "Run these passes under torch.no_grad(), or keep only their detached "
                          "result, as in fake = generator(noise).detach(): then nothing is kept "
                          "for the gradients, and they are not computed at all. A variable that "
                          "holds the result itself would keep its graph.",
                          "zero_grad() frees %llu gradients (%s) before their optimizer uses them, "
                          "such as those that the loss of a critic makes for a generator.%s",
                          (unsigned long long)idle->count, finding_size(maker, idle->bytes).text,
                          passes.bytes);
    buffer_release(&line);
    buffer_release(&passes);
    return ok;
}

static bool about_earlier_model(struct findings_maker *maker, const struct idle_gradients *idle)
{
    struct buffer what = {0}, next = {0};
    bool has_state = idle->state_bytes > 0, several = idle->earlier_models > 1;
    buffer_printf(&what, "The gradients of %s (%s)",
                  several ? "earlier models" : "an earlier model",
                  finding_size(maker, idle->bytes).text);
    if (has_state)
        buffer_printf(&what, " and the state of %s (%s)",
                      several ? "their optimizers" : "its optimizer",
                      finding_size(maker, idle->state_bytes).text);
    buffer_printf(&next,
                  "Before the next model is made, call zero_grad(set_to_none=True) on the earlier "
                  "one%s.",
                  has_state ? " and delete its optimizer" : "");
    if (idle->parameter_bytes > 0)
        buffer_printf(&next,
                      " If nothing uses %s any more, delete %s instead, which also frees "
                      "%s parameters (%s).",
                      several ? "those models" : "that model", several ? "them" : "it",
                      several ? "their" : "its", finding_size(maker, idle->parameter_bytes).text);
    bool ok = !what.failed && !next.failed;
    ok = ok ? finding_add(maker,
                          (struct finding){.kind = FINDING_IDLE_GRADIENTS,
                                           .save_bytes = idle->save_bytes,
                                           .at_least = true,
                                           .remedy = "free what the training of an earlier model "
                                                     "has left"},
                          next.bytes, "%s stay allocated while another model is trained.",
                          what.bytes)
            : error_out_of_memory(maker->err);
    buffer_release(&what);
    buffer_release(&next);
    return ok;
}

/* The recording began after the gradients were made, so that nothing shows who should free them. */
static bool about_summed(struct findings_maker *maker)
{
    const struct summed_gradients *summed = &maker->evidence->growth->summed;
    if (finding_share(maker, summed->bytes) < LEAST_SHARE)
        return true;
    return finding_add(
        maker,
        (struct finding){
            .kind = FINDING_IDLE_GRADIENTS, .save_bytes = summed->bytes, .at_least = true},
        "If no optimizer has their parameters, such as those of a teacher, a reference model or a "
        "backbone, call requires_grad_(False) on these before the first forward pass, or run the "
        "passes that serve them alone under torch.no_grad(): nothing is then kept or computed for "
        "their gradients. If an optimizer has them, call its zero_grad(set_to_none=True).",
        "Each step adds to %llu gradient%s (%s) that nothing has freed since the recording began, "
        "while it makes others anew.",
        (unsigned long long)summed->count, summed->count == 1 ? "" : "s",
        finding_size(maker, summed->bytes).text);
}

bool finding_of_idle_gradients(struct findings_maker *maker)
{
    const struct idle_gradients *idle = &maker->evidence->growth->idle;
    if (idle->reason == IDLE_UNKNOWN)
        return about_summed(maker);
    if (finding_share(maker, idle->save_bytes) < LEAST_SHARE)
        return true;
    return idle->reason == IDLE_UNTRAINED   ? about_untrained(maker, idle)
           : idle->reason == IDLE_DISCARDED ? about_discarded(maker, idle)
                                            : about_earlier_model(maker, idle);
}
