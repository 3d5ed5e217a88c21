"""Times of layers by CUDA's events, as without a dry run: of models that return their loss and of others."""
import os
import time

import memsnap_record
import torch
from torch import nn

del os.environ["MEMSNAP_DRYRUN"]  # or its times are estimated


class Waits(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, forward, backward):
        ctx.seconds = backward
        time.sleep(forward)
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        time.sleep(ctx.seconds)
        return gradient.clone(), None, None


class Layer(nn.Module):
    def __init__(self, *seconds):
        super().__init__()
        self.inner, self.seconds = nn.Linear(8, 8), seconds

    def forward(self, x):
        return Waits.apply(self.inner(x), *self.seconds)


class WithLoss(nn.Sequential):
    def forward(self, x):
        return super().forward(x).square().sum()


def time_of(rows, name, key):
    return sum(row[key] for row in rows if row["module_name"] == name) / 1e6


def main():
    for model in nn.Sequential(Layer(0, 0), Layer(0.1, 0.5), Layer(0, 0)), WithLoss(Layer(0, 0), Layer(0.1, 0.5)):
        model = model.cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        with memsnap_record.layers(model) as recording:
            for _ in range(3):
                model(torch.zeros(4, 8, device="cuda")).sum().backward()
                optimizer.step()
                optimizer.zero_grad()
        assert recording.trace["time"] == "events"
        forward, backward = recording.forward_traces, recording.backward_traces
        assert 0.1 < time_of(forward, "1", "forward_us") < 0.5, forward
        assert 0.5 < sum(row["backward_us"] for row in backward) / 1e6, backward
        assert sum(row["forward_us"] for row in forward) / 1e6 < 0.5, forward  # the loss has no part of the other's time
    print("all is right")


main()
