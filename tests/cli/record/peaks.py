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


class Tables(nn.Module):
    """Operators whose arguments have the same shapes. In the backward pass that of the large table needs more memory, and
    runs last."""

    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList(nn.EmbeddingBag(rows, 64, mode="sum") for rows in (200000, 500))

    def forward(self, indices):
        return sum(table(indices) for table in self.tables)


def check_blocks():
    """The allocator's blocks are larger than the tensors."""
    model = nn.Sequential(*(nn.Sequential(nn.Linear(1024, 1024, bias=False), nn.Tanh()) for _ in range(8))).cuda()
    check_rows(model, torch.zeros(1000, 1024, device="cuda"))


def check_rows(model, batch):
    """One of the rows has the peak of the step, but for the workspaces."""
    step(model, batch)
    torch.cuda.reset_peak_memory_stats()
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


def check_old_gradients():
    """A program that frees gradients between the passes has those of the step before in the forward pass, and makes new
    ones in the backward pass."""
    model = nn.Sequential(*(nn.Sequential(nn.Linear(2048, 2048), nn.Tanh()) for _ in range(4))).cuda()
    batch = torch.zeros(64, 2048, device="cuda")

    def run():
        loss = model(batch).sum()
        model.zero_grad(set_to_none=True)
        loss.backward()

    memsnap_record.free_workspaces()  # of the models before
    step(model, batch)
    torch.cuda.reset_peak_memory_stats()
    run()
    peak = torch.cuda.max_memory_allocated()
    for is_first in (False, True):
        if is_first:
            torch.cuda.reset_peak_memory_stats()
        memsnap_record.free_workspaces()
        before = torch.cuda.memory_allocated()
        with memsnap_record.layers(model) as recording:
            run()
        trace = recording.trace
        forward = [row for row in trace["traces"] if row["is_forward"]]
        assert abs(trace["peak_bytes"] / peak - 1) < 0.01, (is_first, trace["peak_bytes"], peak)
        assert sum(row["gradient_bytes"] for row in forward) == trace["parameter_bytes"]
        assert {row.get("old_gradient_bytes") for row in forward if row["depth"] == 2} == {trace["parameter_bytes"]}
        assert before - trace["before_bytes"] == trace["parameter_bytes"], (before, trace["before_bytes"])
    with memsnap_record.layers(model) as recording:
        step(model, batch)
    assert not any("old_gradient_bytes" in row for row in recording.trace["traces"])


def check_discriminator():
    """The step of a discriminator between the passes of a generator does not end the generator's."""
    generator, judge = (nn.Sequential(nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 64)).cuda() for _ in range(2))
    optimizers = [torch.optim.SGD(model.parameters(), 0.1) for model in (generator, judge)]
    with memsnap_record.layers(generator) as recording:
        made = generator(torch.zeros(8, 64, device="cuda"))
        judge(made.detach()).sum().backward()
        optimizers[1].step()
        judge(made).sum().backward()
        optimizers[0].step()
    assert {row["module_name"] for row in recording.backward_traces} >= {"0", "1", "2"}


def workspaces_of(model, batch):
    """What the row of the backward pass with most limited bytes says of its workspaces."""
    step(model, batch)
    memsnap_record.free_workspaces()
    with memsnap_record.layers(model) as recording:
        step(model, batch)
    row = max(recording.backward_traces, key=lambda row: row.get("limited_bytes", 0))
    return [row.get(name, 0) for name in ("workspace_bytes", "limited_bytes", "limit_bytes")]


def check_growth():
    """Workspaces of cuBLAS are the same with a larger batch, and those of reductions and tables grow to a limit."""
    def rows(count):
        return torch.zeros(count, 1024, device="cuda")

    def indices(count):
        return torch.zeros(count, dtype=torch.int64, device="cuda")

    tables = [kind(20000, 64) for kind in (nn.Embedding, nn.EmbeddingBag)]
    for model, make, counts in ((nn.Linear(1024, 1024), rows, (4096, 1 << 17)),
                                *((table, lambda count: indices(count).view(-1, 4), (4096, 1 << 18)) for table in tables)):
        small, large = (workspaces_of(nn.Sequential(model, nn.Tanh()).cuda(), make(count)) for count in counts)
        assert 0 < small[1] < large[1], (model, small, large)
        for _fixed, limited, limit in (small, large):
            assert limited <= limit and abs(limit / large[1] - 1) < 0.02, (model, small, large)
    linear = nn.Sequential(nn.Linear(1024, 1024, bias=False)).cuda()
    step(linear, rows(64))
    if memsnap_record.free_workspaces():  # cuBLAS keeps them from step to step
        return
    found = []
    for count in (64, 640):
        with memsnap_record.layers(linear) as recording:
            step(linear, rows(count))
        found.append([row["workspace_bytes"] for row in recording.trace["traces"] if row["is_forward"] and row["is_leaf"]])
    assert found[0] == found[1] and found[0][0] >= 1 << 20, found


def check_convolutions():
    """A convolution's backward pass first needs memory for the gradient of its input, then for that of its weight. Here a
    later one, with the gradients of those before, has the peak of the step."""
    model = nn.Sequential(*(nn.Conv2d(*channels, 3, padding=1) for channels in ((3, 512), (512, 1024), (1024, 512)))).cuda()
    batch, found = torch.zeros(16, 3, 8, 8, device="cuda"), []
    step(model, batch)
    model.zero_grad(set_to_none=True)
    inputs = model[:2](batch)
    outputs = model[2](inputs)
    outputs.register_hook(lambda gradient: torch.cuda.reset_peak_memory_stats())
    inputs.register_hook(lambda gradient: found.append(torch.cuda.max_memory_allocated()))
    loss = outputs.sum()
    del inputs, outputs  # as in step()
    loss.backward()
    model.zero_grad(set_to_none=True)
    with memsnap_record.layers(model) as recording:
        step(model, batch)
    row = next(row for row in recording.backward_traces if row["module_name"] == "2")
    assert abs(row["peak_bytes"] / found[0] - 1) < 0.01, (row, found)


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
    check_old_gradients()
    check_discriminator()
    check_growth()
    check_convolutions()
    check_rows(Tables().cuda(), torch.randint(500, (16384, 20), device="cuda"))
    print("all is right")


main()
