#!/usr/bin/env python3
"""Write the sample layer traces: make_layers.py OUTDIR

The traces that FairScale's LayerwiseMemoryTracker and PyTorch's MemoryTracker would record of one training step
of a small language model: sizes follow from its shapes, times from its multiplications. Needs neither library;
the result is deterministic, byte for byte.
"""
import collections
import gzip
import json
import pickle
import sys
import types
from pathlib import Path

BATCH, LENGTH, WIDTH, HEADS, HIDDEN, WORDS, BLOCKS = 8, 512, 512, 8, 2048, 16000, 6
FLOAT = 4
SEGMENT = 2 << 20  # what the allocator takes from the device at a time
FLOPS_PER_US = 8_000_000
MIB = 1 << 20


class Layer:
    def __init__(self, name, params, output, saved, flops):
        self.name, self.params, self.output, self.saved = name, params * FLOAT, output * FLOAT, saved * FLOAT
        self.us = round(flops / FLOPS_PER_US, 1) or 2.5


def layers():
    rows = BATCH * LENGTH

    def linear(name, inner, outer):
        return Layer(name, inner * outer + outer, rows * outer, rows * outer, 2 * rows * inner * outer)

    yield Layer("embed", WORDS * WIDTH, rows * WIDTH, rows * WIDTH, 0)
    for block in range(BLOCKS):
        name = f"blocks.{block}."
        yield Layer(name + "norm1", 2 * WIDTH, rows * WIDTH, rows * WIDTH, 0)
        yield linear(name + "attn.qkv", WIDTH, 3 * WIDTH)
        # the weights of the attention are computed outside of any leaf module, and kept
        yield Layer(name + "attn.drop", 0, BATCH * HEADS * LENGTH * LENGTH, 5 * BATCH * HEADS * LENGTH * LENGTH // 4, 0)
        yield linear(name + "attn.proj", WIDTH, WIDTH)
        yield Layer(name + "norm2", 2 * WIDTH, rows * WIDTH, rows * WIDTH, 0)
        yield linear(name + "mlp.up", WIDTH, HIDDEN)
        yield Layer(name + "mlp.act", 0, rows * HIDDEN, rows * HIDDEN, 0)
        yield linear(name + "mlp.down", HIDDEN, WIDTH)
    yield Layer("norm", 2 * WIDTH, rows * WIDTH, rows * WIDTH, 0)
    yield linear("head", WIDTH, WORDS)


def row(layer, allocated, forward, **more):
    event = {"memory_activations": layer.output}
    if forward:
        event = {"memory_diff": layer.output, **event}
    return {"module_name": layer.name, "module_params": layer.params, "allocated": allocated,
            "reserved": -(-allocated // SEGMENT) * SEGMENT, "is_forward": forward, "all_gathered": 0,
            "cumul_all_gathered": 0, **more, "event": event}


def whole():
    """Without sharding: the parameters and the two states of Adam exist from the beginning."""
    model = list(layers())
    allocated = 3 * sum(layer.params for layer in model)
    traces = []
    for layer in model:
        allocated += layer.saved
        traces.append(row(layer, allocated, True, forward_us=layer.us, backward_us=2 * layer.us,
                          depth=layer.name.count(".") + 1, saved_activations=layer.saved))
    for layer in reversed(model):
        allocated += layer.params - layer.saved
        traces.append(row(layer, allocated, False))
    return traces


def unit_of(name):
    return ".".join(name.split(".")[:2]) if name.startswith("blocks.") else ""


def sharded(ranks=4):
    """FSDP with one unit per block, and one for everything else: a unit's first layer waits for its parameters,
    which are freed after its last. A module's size is that of its shard before it runs, and full while it runs."""
    model = list(layers())
    units = collections.Counter()
    for layer in model:
        units[unit_of(layer.name)] += layer.params
    allocated = 3 * sum(units.values()) // ranks
    traces = []
    gathered = {}
    for layer in model:
        unit = unit_of(layer.name)
        new = 0
        if unit not in gathered:
            gathered = {key: size for key, size in gathered.items() if key == ""}
            gathered[unit] = new = units[unit]
        allocated += layer.saved
        traces.append(row(layer, allocated + sum(gathered.values()), True, all_gathered=new,
                          cumul_all_gathered=sum(gathered.values())))
    gathered = {"": units[""]}
    for layer in reversed(model):
        unit = unit_of(layer.name)
        new = 0
        if unit not in gathered:
            gathered = {"": units[""], unit: units[unit]}
            new = units[unit]
        allocated += layer.params // ranks - layer.saved
        traces.append(row(layer, allocated + sum(gathered.values()), False, all_gathered=new))
    return traces


def named_tuples(traces):
    """As FairScale's classes, which need not be installed: a pickle only names them."""
    module = types.ModuleType("fairscale.experimental.tooling.layer_memory_tracker")
    for name in (module.__name__[:module.__name__.rfind(".", 0, end)] for end in (10, 23, 31)):
        sys.modules.setdefault(name, types.ModuleType(name))
    sys.modules[module.__name__] = module
    for name, fields in (("TraceForwardEvent", "memory_diff memory_activations"),
                         ("TraceBackwardEvent", "memory_activations"),
                         ("LayerMemoryTrace", "module_name module_params allocated reserved is_forward all_gathered "
                                              "cumul_all_gathered event")):
        setattr(module, name, collections.namedtuple(name, fields, module=module.__name__))
    events = {True: module.TraceForwardEvent, False: module.TraceBackwardEvent}
    return [module.LayerMemoryTrace(**{**trace, "event": events[trace["is_forward"]](**trace["event"])})
            for trace in traces]


def operators():
    """The contents of a MemoryTracker.save_stats() pickle: curves in MiB over the operators that ran."""
    curves = {name: collections.defaultdict() for name in ("allocated", "active", "reserved")}
    markers = collections.defaultdict(int, fw_start=0)
    counts = collections.Counter()
    model = list(layers())
    allocated = 3 * sum(layer.params for layer in model)

    def record(module, operator, phase):
        name = f"{module}.{phase}.{operator}_{counts[operator]}"
        counts[operator] += 1
        index = len(curves["allocated"])
        curves["allocated"][index] = name, allocated / MIB
        curves["active"][index] = name, (allocated + 512) / MIB
        curves["reserved"][index] = name, -(-allocated // SEGMENT) * SEGMENT / MIB

    for layer in model:
        allocated += layer.saved
        record(layer.name, "addmm.default" if layer.params > 4096 else "native_layer_norm.default", "forward")
        record(layer.name, "view.default", "forward")
    markers["fw_bw_boundary"] = len(curves["allocated"])
    for layer in reversed(model):
        allocated += layer.params
        # hooks on the way back are off in MemoryTracker: the last module's name stays
        record("head", "mm.default", "forward")
        allocated -= layer.saved
        record("head", "add.Tensor", "forward")
    return {"memories_allocated": curves["allocated"], "memories_active": curves["active"],
            "memories_reserved": curves["reserved"], "markers": markers, "num_alloc_retries": 1}


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    text = json.dumps({"traces": whole()}).encode()
    (folder / "decoder.layers.json.gz").write_bytes(gzip.compress(text, 9, mtime=0))
    (folder / "fsdp.layers.pickle").write_bytes(pickle.dumps(named_tuples(sharded()), 4))
    packed = gzip.compress(pickle.dumps(operators(), 5), 9, mtime=0)
    (folder / "decoder.operators.pickle.gz").write_bytes(packed)


if __name__ == "__main__":
    main()
