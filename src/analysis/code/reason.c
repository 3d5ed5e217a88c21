#include "analysis/code/reason.h"

static const struct {
    const char *name, *sentence;
    enum category category;
    enum confidence confidence;
} reasons[REASON_COUNT] = {
    [REASON_NONE] = {"undecided", "nothing in the file shows its purpose", CATEGORY_UNKNOWN,
                     CONFIDENCE_LOW},
    [REASON_FILE] = {"file", "the file itself says so", CATEGORY_UNKNOWN, CONFIDENCE_HIGH},
    [REASON_RULE] = {"own-rule", "a rule of the user names a frame of its stack", CATEGORY_UNKNOWN,
                     CONFIDENCE_HIGH},
    [REASON_ANNOTATED] = {"annotated",
                          "its annotation names the category or matches a rule of the user",
                          CATEGORY_UNKNOWN, CONFIDENCE_HIGH},
    [REASON_WORKSPACE] = {"workspace", "a library allocated it as scratch space that it keeps",
                          CATEGORY_WORKSPACE, CONFIDENCE_HIGH},
    [REASON_WORKSPACE_SIZE] = {"workspace-size",
                               "as large as a workspace of cuBLAS: never freed, or made by a"
                               " matrix product right after its result",
                               CATEGORY_WORKSPACE, CONFIDENCE_MEDIUM},
    [REASON_BENCHMARK] = {"benchmark", "torch.compile or Triton allocated it to time kernels",
                          CATEGORY_TEMPORARY, CONFIDENCE_HIGH},
    [REASON_COMMUNICATION] = {"communication", "torch.distributed allocated it",
                              CATEGORY_COMMUNICATION, CONFIDENCE_HIGH},
    [REASON_STEP_FREED] = {"step-freed", "made in the optimizer step and freed in it",
                           CATEGORY_TEMPORARY, CONFIDENCE_HIGH},
    [REASON_STEP_KEPT] = {"step-kept", "made in the optimizer step and kept after it",
                          CATEGORY_OPTIMIZER_STATE, CONFIDENCE_HIGH},
    [REASON_STEP_REPLACED] = {"step-replaced",
                              "freed in an optimizer step that makes and keeps as many "
                              "blocks of its size",
                              CATEGORY_OPTIMIZER_STATE, CONFIDENCE_MEDIUM},
    [REASON_BACKWARD_ACCUMULATED] = {"accumulate-grad", "AccumulateGrad made it", CATEGORY_GRADIENT,
                                     CONFIDENCE_HIGH},
    [REASON_PASS_STATE] = {"pass-state",
                           "never freed, made in what looks like a backward pass, with a"
                           " size of which gradients come and go",
                           CATEGORY_OPTIMIZER_STATE, CONFIDENCE_LOW},
    [REASON_FIRST_PASS_STATE] =
        {"first-pass-state",
         "never freed, and made in the first step, while later ones keep nothing of its size: a "
         "hook or a script may update the weights",
         CATEGORY_OPTIMIZER_STATE, CONFIDENCE_LOW},
    [REASON_HOOK_STATE] = {"hook-state",
                           "zeros made and kept by a hook on gradients, which updates "
                           "the weight",
                           CATEGORY_OPTIMIZER_STATE, CONFIDENCE_MEDIUM},
    [REASON_BACKWARD_KEPT] = {"backward-kept", "made in the backward pass and kept after it",
                              CATEGORY_GRADIENT, CONFIDENCE_HIGH},
    [REASON_BACKWARD_SAVED] = {"backward-saved",
                               "made in a backward pass that was itself recorded, and saved "
                               "for a later one",
                               CATEGORY_ACTIVATION, CONFIDENCE_MEDIUM},
    [REASON_BACKWARD_SCRATCH] = {"backward-scratch",
                                 "made and freed inside one operator of the backward pass",
                                 CATEGORY_TEMPORARY, CONFIDENCE_HIGH},
    [REASON_BACKWARD_PASSED_ON] = {"backward-passed-on",
                                   "made in the backward pass and used up in it",
                                   CATEGORY_AUTOGRAD_DETAIL, CONFIDENCE_HIGH},
    [REASON_UNFINISHED_GRADIENT] = {"backward-unfinished-weight",
                                    "made in a backward pass that had not ended when the trace "
                                    "ended, with the size of a weight",
                                    CATEGORY_GRADIENT, CONFIDENCE_MEDIUM},
    [REASON_UNFINISHED_BACKWARD] = {"backward-unfinished",
                                    "made in a backward pass that had not ended when the trace "
                                    "ended, and still in use then",
                                    CATEGORY_AUTOGRAD_DETAIL, CONFIDENCE_MEDIUM},
    [REASON_ZERO_GRAD_FREED] = {"zero-grad-freed", "freed by zero_grad", CATEGORY_GRADIENT,
                                CONFIDENCE_HIGH},
    [REASON_GRADIENT_REPLACED] = {"gradient-replaced",
                                  "made between passes, right before a gradient of its size is "
                                  "freed, whose place it takes",
                                  CATEGORY_GRADIENT, CONFIDENCE_MEDIUM},
    [REASON_RECOMPUTED] = {"recomputed", "made when checkpointing recomputed a forward pass",
                           CATEGORY_ACTIVATION, CONFIDENCE_MEDIUM},
    [REASON_RECOMPUTED_SCRATCH] =
        {"recomputed-scratch", "made and freed inside one operator of a recomputed forward pass",
         CATEGORY_TEMPORARY, CONFIDENCE_HIGH},
    [REASON_FORWARD_KEPT] = {"forward-kept", "made in a forward pass and kept after it",
                             CATEGORY_ACTIVATION, CONFIDENCE_HIGH},
    [REASON_WEIGHT_REPLACED] = {"weight-replaced",
                                "made in a forward pass and kept until a later one, with the size "
                                "of a weight that a forward pass freed",
                                CATEGORY_PARAMETER, CONFIDENCE_MEDIUM},
    [REASON_WEIGHT_SWAPPED] = {"weight-swapped",
                               "made by an optimizer with the size of a weight, and takes "
                               "the place of that weight when it is freed",
                               CATEGORY_PARAMETER, CONFIDENCE_MEDIUM},
    [REASON_FORWARD_PASSED_ON] = {"forward-passed-on", "made in a forward pass and used up in it",
                                  CATEGORY_ACTIVATION, CONFIDENCE_HIGH},
    [REASON_FORWARD_RESULT] = {"forward-result",
                               "made in a forward pass without a backward pass, and kept after it: "
                               "a result, or a cache such as keys and values",
                               CATEGORY_ACTIVATION, CONFIDENCE_LOW},
    [REASON_FORWARD_SCRATCH] = {"forward-scratch",
                                "made and freed inside one operator of a forward pass",
                                CATEGORY_TEMPORARY, CONFIDENCE_HIGH},
    [REASON_GRAPH_DROPPED] = {"graph-dropped",
                              "made in a forward pass and freed with its autograd graph, which no "
                              "backward pass used",
                              CATEGORY_ACTIVATION, CONFIDENCE_HIGH},
    [REASON_MODEL_MADE] = {"model-made", "made while a model was built, loaded or moved",
                           CATEGORY_PARAMETER, CONFIDENCE_HIGH},
    [REASON_MODEL_MADE_FREED] = {"model-made-freed",
                                 "made and freed while a model was built, loaded or moved",
                                 CATEGORY_TEMPORARY, CONFIDENCE_MEDIUM},
    [REASON_BACKWARD_FREES] = {"backward-frees", "allocated before the backward pass that freed it",
                               CATEGORY_ACTIVATION, CONFIDENCE_MEDIUM},
    [REASON_LOSS] = {"loss", "made between a forward pass and its backward pass",
                     CATEGORY_ACTIVATION, CONFIDENCE_MEDIUM},
    [REASON_AFTER_FORWARD] =
        {"after-forward",
         "made right after a forward pass, and kept: a loss or another result; or made "
         "empty or as zeros before several passes without gradients: a buffer "
         "for their results",
         CATEGORY_ACTIVATION, CONFIDENCE_LOW},
    [REASON_BATCH] =
        {"batch",
         "copied to the device or generated there before a forward pass in which it is still live",
         CATEGORY_INPUT, CONFIDENCE_MEDIUM},
    [REASON_BEFORE_FORWARD] = {"before-forward",
                               "made before a forward pass in which it is still live",
                               CATEGORY_INPUT, CONFIDENCE_MEDIUM},
    [REASON_BEFORE_MODULES] = {"before-modules",
                               "computed by plain code before the first module; the backward pass "
                               "makes gradients of its size after those of the modules",
                               CATEGORY_ACTIVATION, CONFIDENCE_MEDIUM},
    [REASON_PLAIN_WEIGHT] = {"plain-weight",
                             "made by other code, with the size of a gradient, and live over "
                             "backward passes",
                             CATEGORY_PARAMETER, CONFIDENCE_LOW},
    [REASON_PLAIN_STATE] = {"plain-state",
                            "made by other code, with the size of a gradient, and live "
                            "over backward passes in addition to the weight of this size",
                            CATEGORY_OPTIMIZER_STATE, CONFIDENCE_LOW},
    [REASON_PLAIN_ZEROS] = {"plain-zeros",
                            "zeros made by other code, with the size of a weight, in "
                            "addition to the weights of this size",
                            CATEGORY_OPTIMIZER_STATE, CONFIDENCE_MEDIUM},
    [REASON_WEIGHT_LIST] = {"weight-list",
                            "in a list that other code makes, with a tensor of the size "
                            "of each weight: a copy of the model",
                            CATEGORY_PARAMETER, CONFIDENCE_LOW},
    [REASON_STATE_COPY] = {"state-copy",
                           "copied by copy.deepcopy() within the dictionaries of an "
                           "optimizer: a copy of its states",
                           CATEGORY_OPTIMIZER_STATE, CONFIDENCE_MEDIUM},
    [REASON_STATE_ORDER] = {"state-order",
                            "in a list that other code makes, with the sizes of the "
                            "optimizer's states in the same order: a copy of the states",
                            CATEGORY_OPTIMIZER_STATE, CONFIDENCE_MEDIUM},
    [REASON_GRADIENT_LIST] = {"gradient-list",
                              "in a list that other code makes, with a tensor of the size "
                              "of each weight, in the order in which backward passes make "
                              "gradients",
                              CATEGORY_GRADIENT, CONFIDENCE_LOW},
    [REASON_COPIED] = {"copied",
                       "copied to the device or generated there after a model was made, in a trace "
                       "that shows no backward pass",
                       CATEGORY_INPUT, CONFIDENCE_LOW},
    [REASON_FIRST_BATCH] = {"first-batch",
                            "made before the first forward pass by the code that makes the batches "
                            "of later ones",
                            CATEGORY_INPUT, CONFIDENCE_MEDIUM},
    [REASON_PREPARED] = {"prepared",
                         "made by plain code before the first step and kept, with no gradient of "
                         "its size, or as zeros of the sizes of few weights: data, or a buffer "
                         "that is filled in later",
                         CATEGORY_INPUT, CONFIDENCE_LOW},
    [REASON_CONSTRUCTED] = {"constructed",
                            "made in the constructor of a model, which made weights as well, and "
                            "kept: a buffer",
                            CATEGORY_PARAMETER, CONFIDENCE_MEDIUM},
    [REASON_MAIN_GRADIENT] =
        {"before-step",
         "made after a backward pass and before the optimizer step that uses it, with the size of "
         "a gradient, twice that, or that of several gradients together",
         CATEGORY_GRADIENT, CONFIDENCE_MEDIUM},
    [REASON_PLAIN_FREED] = {"plain-freed", "made and freed between the phases of a step",
                            CATEGORY_TEMPORARY, CONFIDENCE_MEDIUM},
    [REASON_GRADIENT_SIZES] = {"gradient-sizes",
                               "never freed, and as many blocks have its size as a backward pass "
                               "leaves gradients of that size",
                               CATEGORY_PARAMETER, CONFIDENCE_MEDIUM},
    [REASON_FIRST_OF_SIZE] = {"first-of-size",
                              "never freed, and among the first of its size: as many as there are "
                              "gradients count as parameters",
                              CATEGORY_PARAMETER, CONFIDENCE_LOW},
    [REASON_WEIGHT_VECTOR] = {"weight-vector",
                              "made by plain code after an optimizer step, and as large as several "
                              "gradients together: the weights joined in one vector, or computed "
                              "of it",
                              CATEGORY_PARAMETER, CONFIDENCE_LOW},
    [REASON_MODEL_COPY] = {"model-copy",
                           "never freed, and of a size that has more blocks than weights and "
                           "states need: an averaged model, a teacher, or another copy",
                           CATEGORY_PARAMETER, CONFIDENCE_LOW},
    [REASON_STATE_SIZES] = {"state-sizes",
                            "never freed, and several blocks for each gradient have its size, or "
                            "half or a quarter of that",
                            CATEGORY_OPTIMIZER_STATE, CONFIDENCE_LOW},
    [REASON_STATE_BYTES] =
        {"state-bytes",
         "never freed, and one of the blocks that add up to the states of the flat weights",
         CATEGORY_OPTIMIZER_STATE, CONFIDENCE_LOW},
    [REASON_STATE_FACTORS] =
        {"state-factors",
         "lives over passes, and the square of a weight's size is the product of this size and "
         "another: Kronecker factors, as Shampoo keeps",
         CATEGORY_OPTIMIZER_STATE, CONFIDENCE_LOW},
    [REASON_MASTER_SIZES] =
        {"master-sizes",
         "never freed, and twice the size of as many gradients: a copy in a wider type",
         CATEGORY_OPTIMIZER_STATE, CONFIDENCE_LOW},
    [REASON_MAIN_SIZES] =
        {"main-sizes",
         "never freed, and twice the size of as many gradients, beside a copy in a wider type: the "
         "gradients of that",
         CATEGORY_GRADIENT, CONFIDENCE_LOW},
    [REASON_FLAT_WEIGHTS] = {"flat-weights",
                             "never freed, and as large as the weights together: one buffer that "
                             "holds all of them",
                             CATEGORY_PARAMETER, CONFIDENCE_LOW},
    [REASON_FLAT_GRADIENTS] = {"flat-gradients",
                               "never freed, and as large as the gradients of a backward pass "
                               "together: one buffer that holds all of them, or one of a few "
                               "buckets that do",
                               CATEGORY_GRADIENT, CONFIDENCE_LOW},
    [REASON_GRADIENTS_STAY] =
        {"gradients-stay", "never freed, and of the size of gradients that AccumulateGrad adds to",
         CATEGORY_GRADIENT, CONFIDENCE_LOW},
    [REASON_GRADIENT_BEFORE] =
        {"gradient-before",
         "freed before the first backward pass, which leaves gradients of its size",
         CATEGORY_GRADIENT, CONFIDENCE_MEDIUM},
    [REASON_TWIN_INPUT] = {"like-input",
                           "freed where an input of its size is freed in a later step, or "
                           "elsewhere if all others of its size are inputs",
                           CATEGORY_INPUT, CONFIDENCE_LOW},
    [REASON_TWIN_ACTIVATION] =
        {"like-activation",
         "freed where a later step frees an activation of its size, or freed in "
         "a pass or after one although no weight has its size",
         CATEGORY_ACTIVATION, CONFIDENCE_MEDIUM},
    [REASON_TWIN_GRADIENT] = {"like-gradient",
                              "freed where a gradient of its size is freed in a later step",
                              CATEGORY_GRADIENT, CONFIDENCE_LOW},
    [REASON_LEAKED_INPUT] = {"like-kept-input",
                             "never freed, and of the size of inputs that several later steps keep",
                             CATEGORY_INPUT, CONFIDENCE_MEDIUM},
    [REASON_LEAKED_ACTIVATION] =
        {"like-kept-activation",
         "never freed, and of the size of activations that several later steps keep",
         CATEGORY_ACTIVATION, CONFIDENCE_MEDIUM},
    [REASON_INFERENCE] = {"no-backward",
                          "allocated before the first forward pass and never freed, in a trace "
                          "without a backward pass",
                          CATEGORY_PARAMETER, CONFIDENCE_MEDIUM},
    [REASON_PERSISTENT] = {"no-gradient",
                           "live from the start and never freed, with no gradient of its size: a "
                           "frozen weight or a buffer",
                           CATEGORY_PARAMETER, CONFIDENCE_LOW},
    [REASON_PERSISTENT_DATA] = {"data-sizes",
                                "live from the start and never freed, and one of a few blocks that "
                                "have no gradient of their sizes: data rather than a model",
                                CATEGORY_INPUT, CONFIDENCE_LOW},
    [REASON_RELEASED_DATA] = {"released",
                              "live from the start until the end of the program, which frees it "
                              "but not the model",
                              CATEGORY_INPUT, CONFIDENCE_LOW},
    [REASON_KV_CACHE_CODE] = {"kv-cache", "a library's own cache of keys and values allocated it",
                              CATEGORY_KV_CACHE, CONFIDENCE_HIGH},
    [REASON_KV_CACHE_GROWS] = {"kv-cache-grows",
                               "concatenated to a larger block in each forward pass by the same "
                               "line, and kept for the next pass",
                               CATEGORY_KV_CACHE, CONFIDENCE_MEDIUM},
    [REASON_KV_CACHE_FIRST] = {"kv-cache-first",
                               "kept for the next forward pass, and freed by the line that frees a "
                               "cache which grows",
                               CATEGORY_KV_CACHE, CONFIDENCE_MEDIUM},
    [REASON_KV_CACHE_POOL] = {"kv-cache-pool",
                              "one of a row of equal blocks that are live through every forward "
                              "pass, in a trace without a backward pass",
                              CATEGORY_KV_CACHE, CONFIDENCE_LOW},
    [REASON_KV_CACHE_HELD] = {"kv-cache-held",
                              "made in equal blocks by one line, and live over forward passes, "
                              "with no backward pass meanwhile",
                              CATEGORY_KV_CACHE, CONFIDENCE_LOW},
    [REASON_KV_CACHE_CHAIN] = {"kv-cache-chain",
                               "replaced, together with others of its size, by larger blocks or in "
                               "another order, again and again in a trace without stacks",
                               CATEGORY_KV_CACHE, CONFIDENCE_MEDIUM},
    [REASON_KV_CACHE_BESIDE] =
        {"kv-cache-beside",
         "one of several equal blocks that are live while a cache grows, and "
         "are freed with it",
         CATEGORY_KV_CACHE, CONFIDENCE_LOW},
    [REASON_CAST_CACHED] = {"cast-cached",
                            "cast by autocast in a forward pass, and freed when autocast's region "
                            "ended",
                            CATEGORY_CAST_CACHE, CONFIDENCE_HIGH},
    [REASON_CAST_WEIGHT] = {"cast-weight",
                            "cast by autocast in a forward pass, and half as large as a parameter",
                            CATEGORY_CAST_CACHE, CONFIDENCE_MEDIUM},
    [REASON_BEFORE_PROFILE] =
        {"before-profile",
         "the sum of all that was made before the profile and is never freed in it: usually "
         "parameters, optimizer states and inputs",
         CATEGORY_UNKNOWN, CONFIDENCE_LOW},
};

_Static_assert(REASON_COUNT <= REASON_LIMIT, "a reason byte holds every reason");

const char *reason_name(uint8_t byte)
{
    return reasons[reason_of(byte)].name;
}

const char *reason_sentence(uint8_t byte)
{
    return reasons[reason_of(byte)].sentence;
}

enum category reason_category(enum reason reason)
{
    return reasons[reason].category;
}

enum confidence reason_confidence(uint8_t byte)
{
    enum confidence confidence = reasons[reason_of(byte)].confidence;
    if (byte / REASON_LIMIT == DOUBT_GUESS)
        return CONFIDENCE_LOW;
    bool doubtful = byte / REASON_LIMIT == DOUBT_INFERRED && confidence > CONFIDENCE_LOW;
    return doubtful ? confidence - 1 : confidence;
}
