#include <inttypes.h>

#include "render/layers/layers.h"

static const char *type_text(uint64_t percent)
{
    return percent == 50
               ? "half as large as what was allocated, as for float64: FairScale takes it "
                 "for 4 bytes; the true size is twice that"
           : percent == 200 ? "twice what was allocated, as for bfloat16: FairScale takes it for 4 "
                              "bytes; the true size is half of that"
                            : "four times what was allocated, as for 8-bit types: FairScale takes "
                              "them for 4 bytes; the true size is a quarter of that";
}

bool layers_notice_text(const struct layers_report *report, enum layers_notice notice,
                        char out[LAYERS_NOTICE_SIZE])
{
    uint64_t number = report->notices[notice];
    if (number == 0)
        return false;
    switch (notice) {
    case LAYERS_EMPTY:
        snprintf(out, LAYERS_NOTICE_SIZE,
                 "no traces in it: did the model run between monitor() and "
                 "save_traces()?");
        return true;
    case LAYERS_NO_FORWARD:
        snprintf(out, LAYERS_NOTICE_SIZE, "no forward traces: activations are unknown");
        return true;
    case LAYERS_NO_BACKWARD:
        snprintf(out, LAYERS_NOTICE_SIZE,
                 "no backward traces: the peak of a training step may be higher");
        return true;
    case LAYERS_REPEATED:
        snprintf(out, LAYERS_NOTICE_SIZE,
                 "%" PRIu64 " module%s ran forward more than once: several steps, or "
                 "checkpointing; record one step without it to have each counted once",
                 number, number == 1 ? "" : "s");
        return true;
    default:
        snprintf(out, LAYERS_NOTICE_SIZE, "most activations are %s", type_text(number));
        return true;
    }
}
