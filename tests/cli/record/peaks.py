"""The recorded peak is that of a step that nothing watches, whether or not such a step ran before."""
import memsnap_record
import torch
from torch import nn


class Sum(nn.Module):
    """Autograd adds three pairs of gradients."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1 << 20))

    def forward(self):
        x = 1 * self.weight
        return sum((k * x).sum() for k in range(4))


class Rows(nn.Module):
    """The backward pass of an index fills in zeros."""

    def forward(self, x):
        return x[torch.arange(len(x), device=x.device)]


class Cell(nn.Module):
    """A fused operator, which needs memory for itself."""

    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(256, 256)

    def forward(self, x):
        return self.cell(x, x)


def check_blocks():
    """The allocator's blocks are larger than the tensors, and rows have what is of blocks."""
    model = nn.Sequential(*(nn.Sequential(nn.Linear(1024, 1024, bias=False), nn.Tanh()) for _ in range(8))).cuda()
    batch = torch.zeros(1000, 1024, device="cuda")
    step(model, batch)
    with memsnap_record.layers(model) as recording:
        step(model, batch)
    step(model, batch)
    workspaces = memsnap_record.free_workspaces()
    trace = recording.trace
    seen = max(row["peak_bytes"] for row in trace["traces"])
    assert trace["peak_bytes"] - workspaces <= seen <= trace["peak_bytes"], (seen, workspaces, trace["peak_bytes"])


def check_dropped():
    """What is freed in the step before its peak is not part of the peak."""
    model = nn.Sequential(*(nn.Linear(1024, 1024) for _ in range(4))).cuda()
    batch, other = torch.zeros(1024, 1024, device="cuda"), [torch.zeros(8 << 20, device="cuda")]
    step(model, batch)
    model.zero_grad(set_to_none=True)
    torch.cuda.reset_peak_memory_stats()
    step(model, batch)
    plain = torch.cuda.max_memory_allocated() - (32 << 20)
    hidden = memsnap_record.free_workspaces()  # by what libraries keep from step to step, as with PyTorch 2.8
    model.zero_grad(set_to_none=True)
    with memsnap_record.layers(model) as recording:
        loss = model(batch).sum()
        other.clear()
        loss.backward()
    trace = recording.trace
    assert hidden or abs(trace["peak_bytes"] / plain - 1) < 0.01, (trace["peak_bytes"], plain)
    assert max(row["peak_bytes"] for row in trace["traces"]) <= trace["peak_bytes"]


def step(model, batch):
    model.zero_grad(set_to_none=True)
    model(batch).sum().backward()


def main():
    model = Sum()
    with memsnap_record.layers(model) as recording:
        model().backward()
    used = recording.trace["peak_bytes"] - recording.trace["before_bytes"]
    if hasattr(torch.Tensor, "_use_count"):
        assert abs(used / (2 * (4 << 20)) - 1) < 0.01, used  # x and a product of it, or two gradients
    for last in (Rows, Cell):
        model = nn.Sequential(nn.Linear(256, 256), last()).cuda()
        batch = torch.zeros(16384, 256, device="cuda")
        step(model, batch)
        model.zero_grad(set_to_none=True)
        torch.cuda.reset_peak_memory_stats()
        step(model, batch)
        peak = torch.cuda.max_memory_allocated()
        for is_first in (False, True):
            model.zero_grad(set_to_none=True)
            if is_first:
                torch.cuda.reset_peak_memory_stats()
            with memsnap_record.layers(model) as recording:
                step(model, batch)
            found = recording.trace["peak_bytes"]
            if hasattr(torch.Tensor, "_use_count"):
                assert abs(found / peak - 1) < 0.01, (last, is_first, peak, found)
    check_blocks()
    check_dropped()
    print("all is right")


main()
