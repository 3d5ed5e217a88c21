"""Measures the plans of PyTorch's AutoSAC and memsnap's plans with the same peak.

    memsnap dryrun --gpu 80GiB -- python autosac.py MODEL BATCH MEMSNAP FOLDER

writes FOLDER/MODEL.autosac.json.

AutoSAC (torch.distributed._tools) chooses modules to checkpoint and, in each, the calls of operators whose results are
kept, with an integer program for a budget of memory. It chooses among the blocks (ac_units): with all
modules to choose from the program takes minutes. Its figures and its decisions may take MOST_MINUTES each; what takes
longer is an error in the file. Needs pulp, pwlf and scipy."""
import contextlib
import itertools
import json
import os
import signal
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
MOST_MINUTES = 10
SHARES = 0.7, 0.4  # of the way from the parameters to the peak without checkpoints, by AutoSAC's own estimate


@contextlib.contextmanager
def time_limit(what):
    """Raises TimeoutError within the block after MOST_MINUTES. An operator or a wait that runs then ends first."""
    def stop(_signal, _frame):
        raise TimeoutError("%s took more than %d minutes" % (what, MOST_MINUTES))

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(60 * MOST_MINUTES)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


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


def decide(graph, share, blocks):
    """AutoSAC's decisions by module, and its own estimate of the peak in bytes; negative if it has no plan."""
    peak, _ = get_peak_memory_runtime_baseline(graph)
    parameters = graph.nodes[0]["param_per_module"]
    budget = parameters + share * (peak - parameters)
    with time_limit("the integer program"):
        decisions, _, estimated = sac_milp(graph, budget / GIB, ac_units=blocks)
    return decisions, estimated


def add_plan(bench, graph, operators, share):
    """Measures AutoSAC's plan for a share of the memory, and memsnap's for the same peak."""
    root = graph.nodes[0]["fqn"]
    blocks = ["%s.%s" % (root, block) for blocks in bench.plain["blocks"] for block in blocks]
    row = {"share": share}
    bench.rows.append(row)
    try:
        row["modules"], row["estimated"] = decide(graph, share, blocks)
    except TimeoutError as error:
        row["found"] = {"error": str(error)}
        return
    if row["estimated"] < 0:
        row["found"] = {"error": "no plan"}
        return
    row["found"] = bench.measure(lambda model: apply_decisions(model, row["modules"], operators))
    if "peak" in row["found"]:
        row["same_peak"] = bench.plan_within(row["found"]["peak"])


def main():
    name, batch, memsnap, folder = sys.argv[1:]
    bench = Bench(name, int(batch), memsnap, folder)
    bench.record()
    try:
        with time_limit("the estimators"):
            graph, operators = estimate(name, int(batch))
    except TimeoutError as error:
        bench.rows.append({"found": {"error": str(error)}})
    else:
        for share in SHARES:
            add_plan(bench, graph, operators, share)
    with open(os.path.join(folder, name + ".autosac.json"), "w") as file:
        json.dump({"model": name, "batch": int(batch), "plain": bench.plain, "rows": bench.rows}, file, indent=1)


if __name__ == "__main__":
    main()
