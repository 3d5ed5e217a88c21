#include "analysis/reason.h"

static const char *const names[] = {
    [CATEGORY_PARAMETER] = "parameter",
    [CATEGORY_GRADIENT] = "gradient",
    [CATEGORY_OPTIMIZER_STATE] = "optimizer_state",
    [CATEGORY_ACTIVATION] = "activation",
    [CATEGORY_INPUT] = "input",
    [CATEGORY_TEMPORARY] = "temporary",
    [CATEGORY_AUTOGRAD_DETAIL] = "autograd_detail",
    [CATEGORY_COMMUNICATION] = "communication",
    [CATEGORY_WORKSPACE] = "workspace",
    [CATEGORY_UNKNOWN] = "unknown",
    [CATEGORY_COUNT] = "unexplained",
};

const char *category_name(enum category category)
{
    return names[category];
}

const char *confidence_name(enum confidence confidence)
{
    static const char *const words[] = {"low", "medium", "high"};
    return words[confidence];
}

static const struct {
    const char *name, *sentence;
    enum category category;
    enum confidence confidence;
} reasons[REASON_COUNT] = {
    [REASON_NONE] = {"undecided", "nothing in the file decides what it is for", CATEGORY_UNKNOWN,
                     CONFIDENCE_LOW},
    [REASON_FILE] = {"file", "the file itself says so", CATEGORY_UNKNOWN, CONFIDENCE_HIGH},
    [REASON_WORKSPACE] = {"workspace", "a library allocated it as scratch space that it keeps",
                          CATEGORY_WORKSPACE, CONFIDENCE_HIGH},
    [REASON_COMMUNICATION] = {"communication", "torch.distributed allocated it",
                              CATEGORY_COMMUNICATION, CONFIDENCE_HIGH},
    [REASON_STEP_FREED] = {"step-freed", "made and freed within one optimizer step",
                           CATEGORY_TEMPORARY, CONFIDENCE_HIGH},
    [REASON_STEP_KEPT] = {"step-kept", "made in the optimizer step and kept",
                          CATEGORY_OPTIMIZER_STATE, CONFIDENCE_HIGH},
    [REASON_STEP_REPLACED] = {"step-replaced",
                              "freed in the optimizer step, which makes as many of its size",
                              CATEGORY_OPTIMIZER_STATE, CONFIDENCE_MEDIUM},
    [REASON_BACKWARD_ACCUMULATED] = {"accumulate-grad", "AccumulateGrad made it",
                                     CATEGORY_GRADIENT, CONFIDENCE_HIGH},
    [REASON_BACKWARD_KEPT] = {"backward-kept", "made in the backward pass, which it outlives",
                              CATEGORY_GRADIENT, CONFIDENCE_HIGH},
    [REASON_BACKWARD_IN_OPERATOR] = {"backward-in-operator",
                                     "made and freed inside one operator of the backward pass",
                                     CATEGORY_TEMPORARY, CONFIDENCE_HIGH},
    [REASON_BACKWARD_PASSED_ON] = {"backward-passed-on",
                                   "made in the backward pass and used up in it",
                                   CATEGORY_AUTOGRAD_DETAIL, CONFIDENCE_HIGH},
    [REASON_ZERO_GRAD_FREED] = {"zero-grad-freed", "freed by zero_grad", CATEGORY_GRADIENT,
                                CONFIDENCE_HIGH},
    [REASON_RECOMPUTED] = {"recomputed", "made when checkpointing computed the forward again",
                           CATEGORY_ACTIVATION, CONFIDENCE_HIGH},
    [REASON_RECOMPUTED_FREED] = {"recomputed-freed",
                                 "made and freed when checkpointing computed the forward again",
                                 CATEGORY_TEMPORARY, CONFIDENCE_HIGH},
    [REASON_FORWARD_KEPT] = {"forward-kept", "made in the forward pass, which it outlives",
                             CATEGORY_ACTIVATION, CONFIDENCE_HIGH},
    [REASON_FORWARD_FREED] = {"forward-freed", "made and freed within one forward pass",
                              CATEGORY_TEMPORARY, CONFIDENCE_HIGH},
    [REASON_MODEL_MADE] = {"model-made", "made while a model was built, loaded or moved",
                           CATEGORY_PARAMETER, CONFIDENCE_HIGH},
    [REASON_MODEL_MADE_FREED] = {"model-made-freed",
                                 "made and freed while a model was built, loaded or moved",
                                 CATEGORY_TEMPORARY, CONFIDENCE_HIGH},
    [REASON_BACKWARD_FREES] = {"backward-frees", "there before the backward pass, which freed it",
                               CATEGORY_ACTIVATION, CONFIDENCE_MEDIUM},
    [REASON_LOSS] = {"loss", "made between a forward pass and its backward pass",
                     CATEGORY_ACTIVATION, CONFIDENCE_MEDIUM},
    [REASON_BATCH] = {"batch", "copied to the device or drawn there before a forward pass",
                      CATEGORY_INPUT, CONFIDENCE_MEDIUM},
    [REASON_PLAIN_FREED] = {"plain-freed", "made and freed before the next phase of the step",
                            CATEGORY_TEMPORARY, CONFIDENCE_MEDIUM},
    [REASON_GRADIENT_SIZES] = {"gradient-sizes",
                               "never freed, and as many of its size as there are gradients",
                               CATEGORY_PARAMETER, CONFIDENCE_MEDIUM},
};

const char *reason_name(enum reason reason)
{
    return reasons[reason].name;
}

const char *reason_sentence(enum reason reason)
{
    return reasons[reason].sentence;
}

enum category reason_category(enum reason reason)
{
    return reasons[reason].category;
}

enum confidence reason_confidence(enum reason reason)
{
    return reasons[reason].confidence;
}
