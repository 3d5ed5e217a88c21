#include "analysis/phase/runs.h"

const char *phase_name(enum phase phase)
{
    static const char *const names[] = {
        [PHASE_UNKNOWN] = "unknown",   [PHASE_OTHER] = "other",
        [PHASE_DATA] = "data_loading", [PHASE_FORWARD] = "forward",
        [PHASE_BACKWARD] = "backward", [PHASE_OPTIMIZER] = "optimizer_step",
    };
    return names[phase];
}

bool phases_append(struct phases *phases, uint32_t item, enum phase phase,
                   enum phase_evidence evidence, struct error *err)
{
    struct phase_run *last = phases->count > 0 ? &phases->runs[phases->count - 1] : NULL;
    if (last && last->first == item) {
        phases->count--;
        last = phases->count > 0 ? last - 1 : NULL;
    }
    if (last && last->phase == phase)
        return true;
    return vec_push(
        phases->runs, phases->count, phases->runs_capacity, phases->budget, err,
        (struct phase_run){.first = item, .phase = (uint16_t)phase, .evidence = (uint8_t)evidence});
}

void phases_release(struct phases *phases)
{
    vec_free(phases->runs, phases->runs_capacity, sizeof(*phases->runs), phases->budget);
    vec_free(phases->of_lifetime, phases->lifetime_capacity, sizeof(*phases->of_lifetime),
             phases->budget);
    vec_free(phases->outliving, phases->outliving_capacity, sizeof(*phases->outliving),
             phases->budget);
    vec_free(phases->guide, phases->guide_capacity, sizeof(*phases->guide), phases->budget);
    *phases = (struct phases){0};
}
