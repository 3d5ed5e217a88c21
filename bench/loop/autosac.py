"""Measures the plans of PyTorch's AutoSAC and memsnap's plans with the same peak.

    memsnap dryrun --gpu 80GiB -- python autosac.py MODEL BATCH MEMSNAP FOLDER

writes FOLDER/MODEL.autosac.json.

AutoSAC (torch.distributed._tools) chooses modules to checkpoint and, in each, the calls of operators whose results are
kept, with an integer program for a budget of memory. It chooses among the blocks (ac_units): with all
modules to choose from the program takes minutes. Needs pulp, pwlf and scipy."""
import itertools
import json
import os
import sys

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed._tools.ilp_utils import aggregate_stats, get_peak_memory_runtime_baseline, parse_module_info
from torch.distributed._tools.mem_tracker import MemTracker
from torch.distributed._tools.runtime_estimator import RuntimeEstimator
from torch.distributed._tools.sac_estimator import OPS_TO_ALWAYS_SKIP, SACEstimator
from torch.distributed._tools.sac_ilp import get_optimal_checkpointing_policy_per_module, sac_milp
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

from large import MODELS
from measure import Bench

GPU = "NVIDIA H100"
MODE = "operator-level-cost-model"
GIB = 1 << 30
SHARES = 0.7, 0.4  # of the way from the parameters to the peak without checkpoints, by AutoSAC's own estimate


def fake(model, mode):
    """Replaces the tensors of a model by ones without memory. Tied ones stay tied."""
    made = {}
    for module in model.modules():
        for tensors in (module._parameters, module._buffers):
            for key, tensor in tensors.items():
                if tensor is not None:
                    tensors[key] = made.setdefault(id(tensor), mode.from_tensor(tensor))


def estimate(name, batch):
    """AutoSAC's figures of the modules, and the operators of each."""
    device = torch.device("cuda:0")
    torch.nn.CrossEntropyLoss.__call__ = torch.nn.CrossEntropyLoss.forward  # not a module of the model, so not tracked
    with torch.device(device):
        model, loss = MODELS[name].make(batch)
    model.train()
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        fake(model, mode)
        memory, runtime, operators = MemTracker(), RuntimeEstimator(GPU), SACEstimator(GPU)
        memory.track_external(model)
        with memory:
            for _ in range(2):
                memory.reset_mod_stats()
                loss(model).backward()
                model.zero_grad()
        with runtime(estimate_mode_type=MODE):
            loss(model).backward()
        with operators(estimate_mode_type=MODE):
            result = loss(model)
        result.backward()
        return parse_module_info(aggregate_stats(model, memory, runtime, operators, device)), operators.sac_mod_stats


def by_call(keeps):
    """Keeps the results of calls of operators by their number in the module."""
    def contexts():
        count = {False: itertools.count(), True: itertools.count()}

        def choose(context, function, *_args, **_kwargs):
            if function in OPS_TO_ALWAYS_SKIP:
                return CheckpointPolicy.PREFER_RECOMPUTE
            is_kept = keeps[next(count[context.is_recompute])]
            return CheckpointPolicy.MUST_SAVE if is_kept else CheckpointPolicy.PREFER_RECOMPUTE

        return create_selective_checkpoint_contexts(choose)
    return contexts


def wrap(module, keeps):
    forward = module.forward
    more = {"context_fn": by_call(keeps)} if any(keeps) else {}
    module.forward = lambda *args, **kwargs: checkpoint(forward, *args, use_reentrant=False, **more, **kwargs)


def apply_decisions(model, decisions, operators):
    for name, discarded in decisions.items():
        keeps = get_optimal_checkpointing_policy_per_module(operators[name], 1 - discarded)
        wrap(model.get_submodule(name.partition(".")[2]), keeps)


def main():
    name, batch, memsnap, folder = sys.argv[1:]
    bench = Bench(name, int(batch), memsnap, folder)
    bench.record()
    graph, operators = estimate(name, int(batch))
    peak, _ = get_peak_memory_runtime_baseline(graph)
    parameters, root = graph.nodes[0]["param_per_module"], graph.nodes[0]["fqn"]
    blocks = ["%s.%s" % (root, block) for blocks in bench.plain["blocks"] for block in blocks]
    for share in SHARES:
        budget = parameters + share * (peak - parameters)
        decisions, _, estimated = sac_milp(graph, budget / GIB, ac_units=blocks)
        row = {"share": share, "estimated": estimated, "modules": decisions}
        bench.rows.append(row)
        if estimated < 0:
            row["found"] = {"error": "no plan"}
            continue
        row["found"] = bench.measure(lambda model: apply_decisions(model, decisions, operators))
        if "peak" in row["found"]:
            row["same_peak"] = bench.plan_within(row["found"]["peak"])
    with open(os.path.join(folder, name + ".autosac.json"), "w") as file:
        json.dump({"model": name, "batch": int(batch), "plain": bench.plain, "rows": bench.rows}, file, indent=1)


if __name__ == "__main__":
    main()
