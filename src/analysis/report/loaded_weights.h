/* Weights that torch.load() or safetensors read onto the device and that stay there beside the
 * parameters of a model, into which load_state_dict() copied them. */
#ifndef MEMSNAP_ANALYSIS_REPORT_LOADED_WEIGHTS_H
#define MEMSNAP_ANALYSIS_REPORT_LOADED_WEIGHTS_H

#include "analysis/live/source.h"

struct loaded_weights {
    int64_t bytes;      /* one copy of the weights, live at the peak */
    int64_t save_bytes; /* how much lower the active peak would be if it had never been made */
};

/* `set` is live at the peak. Finds nothing unless most parameters that were not loaded have a
 * loaded tensor of their size each. Parameters that are copies of others (copy.deepcopy()) do not
 * count: the model itself may be what was loaded. Needs Python frames. */
bool loaded_weights_find(struct loaded_weights *loaded, const struct live_set *set,
                         struct error *err);

#endif
