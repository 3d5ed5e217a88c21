#include "decode/pickle/decode.h"

#include "decode/pickle/vm.h"

/* The protocol, 0 or 1, by the first opcode: before protocol 2 it is not recorded; binary opcodes
 * came with protocol 1. */
static int protocol_of_first(uint8_t op)
{
    return op == '}' || op == ']' || op == ')' || op == 'X' || op == 'U' ? 1 : 0;
}

bool pickle_snapshot(struct source *source, struct symbols *symbols, const struct row_sink *sink,
                     bool general_only, struct decoded *decoded, struct error *err)
{
    struct pickle_vm vm = {.source = source,
                           .symbols = symbols,
                           .budget = source->budget,
                           .err = err,
                           .general_only = general_only,
                           .memo = memo_empty(sink, source->budget),
                           .protocol = -1};
    value root;
    bool list_only = false;
    values_init(&vm.values, symbols, vm.budget);
    vm.rows =
        (struct row_reader){.values = &vm.values, .sink = sink, .budget = vm.budget, .err = err};
    spans_init(&vm.spans, vm.budget);
    bool ok = rows_begin(&vm.rows) && pickle_need(&vm, 1);
    int fallback = ok ? protocol_of_first(*source->pos) : 0;
    ok = ok && pickle_run(&vm, &root) && pickle_emit_result(&vm, root, &list_only);
    if (ok)
        *decoded = (struct decoded){.encoding = ENCODING_PICKLE,
                                    .protocol = vm.protocol >= 0 ? vm.protocol : fallback,
                                    .list_only = list_only};
    pickle_vm_release(&vm);
    return ok;
}

bool decode_pickle_snapshot(struct source *source, struct symbols *symbols,
                            const struct row_sink *sink, struct decoded *decoded, struct error *err)
{
    return pickle_snapshot(source, symbols, sink, false, decoded, err);
}

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
    return *source->pos == proto ? source->pos[1] : protocol_of_first(*source->pos);
}
