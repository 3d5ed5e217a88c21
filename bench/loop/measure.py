"""Applies plans to a model, and measures the peak and the FLOPs of a training step. For prove, which runs it in a dry run.

    measure.py all MODEL BATCH MEMSNAP FOLDER         records, asks for plans, and measures each
    measure.py fairscale MODEL BATCH MEMSNAP FOLDER   measures FairScale's placement, after all
    measure.py fit MODEL BATCH [PLAN]                 runs one step"""
import contextlib
import gc
import io
import json
import math
import os
import re
import subprocess
import sys

import torch
from torch.utils.flop_counter import FlopCounterMode

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../share/record"))
import memsnap_record
from large import MODELS
from loop import python_of

FEW_FLOPS = 0.03  # extra FLOPs, of a plan whose checkpoints keep the results of costly operators
NEAR = 1.01, 1.002, 1.0, 0.998, 0.99, 0.98, 0.96, 0.94  # predictions, relative to a peak, of the plans that are tried for it


class Subject:
    """A fresh model on the GPU, and its step."""

    def __init__(self, name, batch):
        while gc.collect():  # the model before had cycles, some of them through autograd
            pass
        torch.manual_seed(0)
        with torch.device("cuda"):
            self.model, self.loss = MODELS[name].make(batch)
        self.model.train()

    def step(self):
        self.model.zero_grad(set_to_none=True)
        self.loss(self.model).backward()

    def measure(self, most=math.inf):
        """The second step: the first tries parts out, and makes workspaces of libraries. Only the peak if it is more
        than `most`."""
        self.step()
        self.model.zero_grad(set_to_none=True)
        torch.cuda.reset_peak_memory_stats()
        self.step()
        peak = torch.cuda.max_memory_allocated()
        if peak > most:
            return {"peak": peak}
        with FlopCounterMode(display=False) as counter:
            self.step()
        self.model.zero_grad(set_to_none=True)
        with memsnap_record.layers(self.model) as recording:
            self.step()
        time = sum(row.get("forward_us", 0) + row.get("backward_us", 0) for row in recording.traces)
        return {"peak": peak, "flops": counter.get_total_flops(), "time": time}


class Bench:
    def __init__(self, name, batch, memsnap, folder):
        self.name, self.batch, self.memsnap, self.folder = name, batch, memsnap, folder
        self.trace = os.path.join(folder, name + ".layers.json")
        self.plain = None
        self.rows = []

    def record(self):
        subject = Subject(self.name, self.batch)
        self.plain = subject.measure()
        blocks = MODELS[self.name].blocks
        self.plain["blocks"] = blocks if isinstance(blocks, list) else [
            [name] for name, _ in subject.model.named_modules() if re.fullmatch(blocks, name)]
        with memsnap_record.layers(subject.model, self.trace):
            subject.step()

    def suggest(self, *arguments):
        result = subprocess.run([self.memsnap, "suggest", *arguments, self.trace], capture_output=True, text=True)
        return result.stdout if result.returncode == 0 else None

    def measure(self, apply, most=math.inf):
        """What a step with a plan takes, relative to a step without; only its peak if that is more than `most`."""
        subject = Subject(self.name, self.batch)
        told = io.StringIO()
        with contextlib.redirect_stderr(told):
            try:
                apply(subject.model)
                found = subject.measure(most)
            except Exception as error:
                return {"error": "%s: %s" % (type(error).__name__, (str(error).splitlines() or [""])[0])}
        for key in found.keys() & {"flops", "time"}:
            found["extra_" + key] = found[key] / self.plain[key] - 1
        found["not_chains"] = told.getvalue().count("not a chain")
        return found

    def add(self, kind, request):
        """Measures one plan, as printed and by apply()."""
        text, content = self.suggest(*request), self.suggest(*request, "--format", "json")
        row = {"request": kind, "arguments": request}
        self.rows.append(row)
        code = text and python_of(text)
        if not code or not content:
            row["error"] = "no plan"
            return
        plan = json.loads(content)
        plan_of = plan.get("best", plan)
        row["predicted"] = {key: plan_of.get(key) for key in ("peak_bytes", "total_peak_bytes", "extra_time_share", "extra_flops_share")}
        row["without"] = plan["no_checkpoint_total_peak_bytes"]
        row["printed"] = self.measure(lambda model: exec(code, {"model": model}))
        if "apply" in plan:
            row["applied"] = self.measure(lambda model: memsnap_record.apply(model, plan), 0)

    def selective(self):
        """The request for the plan that takes the least memory among the selective ones with few extra FLOPs, or None."""
        front = json.loads(self.suggest("--format", "json") or "{}")
        for point in sorted(front.get("points", []), key=lambda point: point["peak_bytes"]):
            request = ["--budget", str(point["peak_bytes"])]
            plan = json.loads(self.suggest(*request, "--format", "json"))
            if plan["extra_flops_share"] <= FEW_FLOPS:
                return request if any("keep_operators" in segment for segment in plan["segments"]) else None
        return None

    def add_by_hand(self, kind, parts):
        """Measures checkpoints that are not memsnap's, and the plan that memsnap has for the same peak."""
        found = self.measure(lambda model: memsnap_record.checkpoint_modules(model, parts))
        row = {"by_hand": kind, "found": found}
        self.rows.append(row)
        if "peak" in found:
            row["same_peak"] = self.plan_within(found["peak"])

    def plan_within(self, peak):
        """Measures the plan with the least extra time whose peak, as measured, is no higher."""
        front = json.loads(self.suggest("--format", "json") or "{}")
        points = [(point["total_peak_bytes"], point["extra_time_share"], str(point["peak_bytes"]))
                  for point in front.get("points", [])]
        if "least" in front:
            points.append((front["least"]["total_peak_bytes"], front["least"]["extra_time_share"], "least"))
        tried = []
        for near in NEAR:
            within = [(extra, budget) for total, extra, budget in points if total <= near * peak]
            tried += [min(within)[1]] if within else []
        for budget in dict.fromkeys([*tried, "least"]):
            code = python_of(self.suggest("--budget", budget))
            found = self.measure(lambda model: exec(code, {"model": model}), peak) if code else {
                "peak": self.plain["peak"], "extra_flops": 0.0, "extra_time": 0.0}
            if found.get("peak", math.inf) <= peak:
                return found
        return None

    def fairscale_parts(self, checkpoints):
        """FairScale's placement, with each cut moved to the beginning of the block that it is in."""
        split = json.loads(self.suggest("--checkpoints", str(checkpoints), "--format", "json"))["split_modules"]
        blocks = self.plain["blocks"]
        cuts = sorted({at for at, names in enumerate(blocks) for name in names for module in split
                       if module == name or module.startswith(name + ".")} | {0, len(blocks)})
        return [sum(blocks[first:end], []) for first, end in zip(cuts, cuts[1:])]

    def add_fairscale(self):
        with open(os.path.join(self.folder, self.name + ".json")) as file:
            content = json.load(file)
        self.plain = content["plain"]
        self.rows = [row for row in content["rows"] if row.get("by_hand") != "FairScale"]
        self.add_by_hand("FairScale", self.fairscale_parts(math.isqrt(len(self.plain["blocks"]))))
        self.write()

    def run(self):
        self.record()
        for kind, request in (("K = 2", ["--checkpoints", "2"]), ("60 %", ["--budget", "60%"]),
                              ("35 %", ["--budget", "35%"]), ("least", ["--budget", "least"])):
            self.add(kind, request)
        selective = self.selective()
        if selective:
            self.add("selective", selective)
        blocks = self.plain["blocks"]
        if not blocks:
            self.write()
            return
        every = math.isqrt(len(blocks) - 1) + 1
        self.add_by_hand("every block", blocks)
        self.add_by_hand("sqrt(n)", [sum(blocks[at:at + every], []) for at in range(0, len(blocks), every)])
        self.add_by_hand("FairScale", self.fairscale_parts(math.isqrt(len(blocks))))
        self.write()

    def write(self):
        with open(os.path.join(self.folder, self.name + ".json"), "w") as file:
            json.dump({"model": self.name, "batch": self.batch, "plain": self.plain, "rows": self.rows}, file, indent=1)


def main():
    command, name, batch, *rest = sys.argv[1:]
    if command == "all":
        Bench(name, int(batch), *rest).run()
        return
    if command == "fairscale":
        Bench(name, int(batch), *rest).add_fairscale()
        return
    subject = Subject(name, int(batch))
    if rest:
        memsnap_record.apply(subject.model, rest[0])
    optimizer = torch.optim.SGD(subject.model.parameters())
    for _ in range(2):
        subject.step()
        optimizer.step()


if __name__ == "__main__":
    main()
