/* Findings on weights that are on the device twice at the peak. */
#include "analysis/findings/earlier_model.h"
#include "analysis/findings/findings_internal.h"
#include "analysis/findings/recast_weights.h"
#include "analysis/findings/weight_copies.h"

bool finding_of_loaded_weights(struct findings_maker *maker)
{
    struct weight_copies loaded;
    struct buffer line = BUFFER_INIT;
    if (!weight_copies_find(&loaded, maker->evidence->at_peak, maker->evidence->phases,
                            WEIGHTS_LOADED, maker->err))
        return false;
    if (finding_share(maker, loaded.save_bytes) < LEAST_SHARE)
        return true;
    bool ok = finding_line(maker, loaded.stack, &line) &&
              finding_add(
                  maker,
                  (struct finding){.kind = FINDING_LOADED_WEIGHTS,
                                   .save_bytes = loaded.save_bytes,
                                   .at_most = loaded.has_more,
                                   .where = finding_where(&line)},
                  "Load them with map_location=\"cpu\", or delete what was loaded (del NAME) once "
                  "load_state_dict() has copied it.",
                  loaded.has_more
                      ? "What was read from a file%s holds %s, several tensors for each parameter "
                        "of the model: the weights, and perhaps states, which "
                        "optimizer.load_state_dict() keeps."
                      : "Weights read from a file%s hold %s, although the model has parameters of "
                        "its own with the same sizes.",
                  line.bytes, finding_size(maker, loaded.bytes).text);
    buffer_release(&line);
    return ok;
}

bool finding_of_copied_weights(struct findings_maker *maker)
{
    const struct weight_copies *copied = &maker->copied;
    struct buffer line = BUFFER_INIT;
    if (maker->grows_copied || finding_share(maker, copied->save_bytes) < LEAST_SHARE)
        return true;
    const struct live_set *set = maker->evidence->at_peak;
    const struct stack_facts *facts = site_stack_facts(set->sites, copied->stack, maker->err);
    bool ok =
        facts && finding_line(maker, copied->stack, &line) &&
        finding_add(
            maker,
            (struct finding){.kind = FINDING_COPIED_WEIGHTS,
                             .save_bytes = copied->save_bytes,
                             .at_most = copied->may_be_used,
                             .where = finding_where(&line)},
            "If the program only saves it or loads it again, keep it in host memory: " KEEP_ON_HOST,
            "A copy of %s%s, made%s by deepcopy() or clone(), holds %s.",
            copied->of_module ? "the model" : "the weights",
            copied->of_states                           ? " and of the optimizer's state"
            : facts->copies_tensor || copied->of_module ? ""
                                                        : ", or of their gradients",
            line.bytes, finding_size(maker, copied->bytes).text);
    buffer_release(&line);
    return ok;
}

bool finding_of_recast_weights(struct findings_maker *maker)
{
    struct recast_weights recast;
    struct buffer line = BUFFER_INIT;
    if (!recast_weights_find(&recast, maker->evidence->at_peak, maker->err))
        return false;
    if (recast.bytes == 0 || finding_share(maker, recast.save_bytes) < LEAST_SHARE)
        return true;
    /* what else makes a model on the device would have the last dtype, too */
    bool ok =
        finding_line(maker, recast.stack, &line) &&
        finding_add(
            maker,
            (struct finding){.kind = FINDING_RECAST_WEIGHTS,
                             .save_bytes = recast.save_bytes,
                             .at_least = recast.made_there,
                             .where = finding_where(&line)},
            "Convert the model before it is moved, as in model.to(torch.bfloat16).to(device), "
            "or do both in one call: model.to(device, torch.bfloat16). A model that is made "
            "on the device can be made in that dtype: torch.set_default_dtype().",
            "Weights are on the device in one dtype, and are converted to another there%s. "
            "At the peak, %s of the former are left.",
            line.bytes, finding_size(maker, recast.bytes).text);
    buffer_release(&line);
    return ok;
}

bool finding_of_earlier_model(struct findings_maker *maker)
{
    struct earlier_model earlier;
    struct buffer line = BUFFER_INIT;
    if (!earlier_model_find(&earlier, maker->evidence->at_peak, maker->evidence->phases,
                            maker->err))
        return false;
    if (earlier.bytes == 0 || finding_share(maker, earlier.save_bytes) < LEAST_SHARE)
        return true;
    bool ok = finding_line(maker, earlier.stack, &line) &&
              finding_add(
                  maker,
                  (struct finding){.kind = FINDING_EARLIER_MODEL,
                                   .save_bytes = earlier.save_bytes,
                                   .where = finding_where(&line)},
                  "Delete the earlier model, and what refers to it, before the next one is made: "
                  "model = build() frees the old model only once the new one is complete, and an "
                  "optimizer keeps its parameters.",
                  "An earlier model, and what is freed with it (%s), stays on the device while the "
                  "next one is made%s.",
                  finding_size(maker, earlier.bytes).text, line.bytes);
    buffer_release(&line);
    return ok;
}
