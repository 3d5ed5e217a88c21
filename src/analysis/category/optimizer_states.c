/* The number of states that optimizers of torch.optim keep, by the names in annotations. */
#include <string.h>

#include "analysis/category/roles.h"

/* The number of states of the optimizer in an annotation such as "Optimizer.step#AdamW.step"; 0 if
 * the class is not in torch.optim. *is_fixed: it has that many whatever its options. */
static uint32_t states_of_optimizer(struct text name, bool *is_fixed)
{
    static const struct {
        const char *prefix;
        uint32_t states;
        bool is_fixed;
    } optimizers[] = {
        {"SGD", 1, false},  {"RMSprop", 2, false}, {"Adagrad", 1, true},
        {"ASGD", 1, true},  {"Lion", 1, true},     {"Adafactor", 1, false},
        {"Muon", 1, false}, {"Adam", 2, true},     {"SparseAdam", 2, true},
        {"NAdam", 2, true}, {"RAdam", 2, true},    {"Adadelta", 2, true},
        {"Rprop", 2, true},
    };
    *is_fixed = false;
    const char *hash = memchr(name.bytes, '#', name.size);
    if (!hash)
        return 0;
    struct text class = {hash + 1, name.size - (size_t)(hash + 1 - name.bytes)};
    for (size_t i = 0; i < sizeof(optimizers) / sizeof(optimizers[0]); i++) {
        size_t size = strlen(optimizers[i].prefix);
        if (class.size >= size && memcmp(class.bytes, optimizers[i].prefix, size) == 0) {
            *is_fixed = optimizers[i].is_fixed;
            return optimizers[i].states;
        }
    }
    return 0;
}

bool roles_find_optimizers(const struct timeline *timeline, struct optimizers *optimizers,
                           struct error *err)
{
    const struct snapshot *snapshot = timeline->snapshot;
    struct annotation_range range;
    string_id last = STRING_EMPTY;
    bool any = false;
    *optimizers = (struct optimizers){0};
    if (!annotations_like(&snapshot->annotation_index, timeline->device, "Optimizer.step#", false,
                          snapshot->symbols, &range, err))
        return false;
    for (size_t i = 0; i < range.count; i++) {
        string_id name = snapshot->annotations[range.items[i].index].name;
        if (name == last)
            continue;
        last = name;
        bool is_fixed;
        uint32_t states = states_of_optimizer(symbols_text(snapshot->symbols, name), &is_fixed);
        bool is_like_others = !any || optimizers->fixed_states == states;
        optimizers->fixed_states = is_fixed && is_like_others ? states : 0;
        any = true;
        optimizers->any_other = optimizers->any_other || states == 0;
        if (states > optimizers->most_states)
            optimizers->most_states = states;
    }
    return true;
}
