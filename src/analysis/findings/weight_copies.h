/* Second copies of the weights that stay on the device beside the parameters of a model. */
#ifndef MEMSNAP_ANALYSIS_FINDINGS_WEIGHT_COPIES_H
#define MEMSNAP_ANALYSIS_FINDINGS_WEIGHT_COPIES_H

#include "analysis/live/source.h"
#include "analysis/phase/phases.h"

enum weight_origin {
    WEIGHTS_LOADED, /* torch.load() or safetensors read them, and load_state_dict() copied them */
    WEIGHTS_COPIED, /* copy.deepcopy(model.state_dict()), or clone() of each tensor in it, as for
                     * the best weights so far. The copy of a module counts only if the same code
                     * copies it again later: else it may run */
};

struct weight_copies {
    int64_t bytes;      /* live at the peak */
    int64_t save_bytes; /* how much lower the active peak would be if they had never been made */
    stack_id stack;     /* the stack that made most of them */
    bool has_more;      /* they hold more than one copy of each parameter: states, perhaps */
    bool of_module;     /* some are of a module that copy.deepcopy() copied */
    bool may_be_used; /* the program may need them on the device: they are of a module, or were all
                         made before the first backward pass, as an average of weights is */
    bool of_states;   /* the program also copied the states of an optimizer */
};

/* `set` is live at the peak. Finds copies only if, for most parameters, there is one copy of the
 * same size. Parameters of a copied module do not count as parameters: with WEIGHTS_LOADED, the
 * model itself may be what was loaded. Needs Python frames; clone() is recognised by C++ frames. */
bool weight_copies_find(struct weight_copies *copies, const struct live_set *set,
                        const struct phases *phases, enum weight_origin origin, struct error *err);

#endif
