"""Records one step of a small model: program.py cuda|cpu|fake FILE. The hooks must be gone at the end."""
import contextlib
import sys

import memsnap_record
import program_model
import torch
from torch import nn
from torch._subclasses import FakeTensorMode


def count_hooks(model):
    return sum(len(module._forward_hooks) + len(module._forward_pre_hooks) for module in model.modules())


def main():
    device, path = sys.argv[1:]
    with FakeTensorMode() if device == "fake" else contextlib.nullcontext():
        with torch.device("cuda" if device == "cuda" else "cpu"):
            model, tokens = program_model.Model(), torch.zeros(8, 32, dtype=torch.long)
        with memsnap_record.layers(model, path):
            nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten()).backward()
        assert count_hooks(model) == 0

        with contextlib.suppress(ZeroDivisionError), memsnap_record.layers(model):
            model(tokens)
            raise ZeroDivisionError
        assert count_hooks(model) == 0

        decorated = memsnap_record.layers(model, path + "-again", warmup=1)
        with decorated:
            for _ in range(3):
                model(tokens).sum().backward()
        names = [row["module_name"] for row in decorated.forward_traces if row["is_leaf"]]
        assert names == ["words", *("blocks.%d.%s" % (block, name) for block in range(3)
                                   for name in ("norm", "inner.0", "inner.1", "inner.2")), "head"], names
        assert decorated.summary["top_forward_activation_producers"][0]["module_name"] == "head"

        # of several steps, the one with the highest peak is kept
        peaks = []
        for batches in (2, 8, 4), (2, 4, 8), (8, 4, 2):
            with memsnap_record.layers(model, warmup=1, iterations=2) as recording:
                for batch in batches:
                    model(tokens[:batch]).sum().backward()
                    model.zero_grad()
            peaks.append(recording.trace["peak_bytes"])
        assert peaks[0] == peaks[1] > peaks[2] + 1000000, peaks
        assert count_hooks(model) == 0

        # a module that changes its input in place has its own part of the backward pass
        in_place = nn.Sequential(nn.Linear(8, 8), nn.ReLU(inplace=True), nn.Linear(8, 8), nn.ReLU(inplace=True))
        with memsnap_record.layers(in_place) as recording:
            in_place(torch.zeros(4, 8)).sum().backward()
        names = [row["module_name"] for row in recording.backward_traces]
        assert names == ["", "3", "2", "1", "0"], names

        # the other model on the device is there, too: its bytes are beside those of this one
        small = nn.Linear(8, 8, device=tokens.device)
        with memsnap_record.layers(small) as recording:
            small(torch.zeros(4, 8, device=tokens.device)).sum().backward()
        other = sum(tensor.nbytes for module in (model, in_place) for tensor in [*module.parameters(), *module.buffers()]
                    if tensor.device == tokens.device)
        assert other <= recording.trace["beside_bytes"] < other + 512 * 64, (other, recording.trace["beside_bytes"])
    print("all is right")


main()
