/* The states that optimizers of torch.optim keep, by the names in annotations. */
#include <string.h>

#include "analysis/category/roles.h"

/* The states of "Optimizer.step#AdamW.step"; 0 of a class that is not in torch.optim. */
static uint32_t states_of_optimizer(struct text name)
{
    static const struct {
        const char *prefix;
        uint32_t states;
    } optimizers[] = {
        {"SGD", 1},       {"RMSprop", 2},  {"Adagrad", 1}, {"ASGD", 1},       {"Lion", 1},
        {"Adafactor", 1}, {"Muon", 1},     {"Adam", 2},    {"SparseAdam", 2}, {"NAdam", 2},
        {"RAdam", 2},     {"Adadelta", 2}, {"Rprop", 2},
    };
    const char *hash = memchr(name.bytes, '#', name.size);
    if (!hash)
        return 0;
    struct text class = {hash + 1, name.size - (size_t)(hash + 1 - name.bytes)};
    for (size_t i = 0; i < sizeof(optimizers) / sizeof(optimizers[0]); i++) {
        size_t size = strlen(optimizers[i].prefix);
        if (class.size >= size && memcmp(class.bytes, optimizers[i].prefix, size) == 0)
            return optimizers[i].states;
    }
    return 0;
}

bool roles_find_optimizers(const struct timeline *timeline, struct optimizers *optimizers,
                           struct error *err)
{
    const struct snapshot *snapshot = timeline->snapshot;
    struct annotation_range range;
    string_id last = STRING_EMPTY;
    *optimizers = (struct optimizers){0};
    if (!annotations_like(&snapshot->annotation_index, timeline->device, "Optimizer.step#", false,
                          snapshot->symbols, &range, err))
        return false;
    for (size_t i = 0; i < range.count; i++) {
        string_id name = snapshot->annotations[range.items[i].index].name;
        if (name == last)
            continue;
        last = name;
        uint32_t states = states_of_optimizer(symbols_text(snapshot->symbols, name));
        optimizers->any_other = optimizers->any_other || states == 0;
        if (states > optimizers->most_states)
            optimizers->most_states = states;
    }
    return true;
}
