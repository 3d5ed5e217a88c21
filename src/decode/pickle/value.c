#include "decode/pickle/value.h"

#include "decode/pickle/vm.h"

bool decode_pickle_value(struct source *source, struct symbols *symbols, struct values *values,
                         value *root, struct error *err)
{
    struct pickle_vm vm = {.source = source,
                           .symbols = symbols,
                           .budget = source->budget,
                           .err = err,
                           .memo = memo_empty(NULL, source->budget)};
    values_init(&vm.values, symbols, vm.budget);
    spans_init(&vm.spans, vm.budget);
    bool ok = pickle_run(&vm, root);
    if (ok) {
        *values = vm.values;
        values_init(&vm.values, symbols, vm.budget);
    }
    pickle_vm_release(&vm);
    return ok;
}

int pickle_protocol(const struct source *source)
{
    static const uint8_t proto = 0x80;
    return *source->pos == proto ? source->pos[1] : pickle_protocol_of_first(*source->pos);
}
