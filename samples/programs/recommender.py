"""Recommendation: large tables with sparse gradients beside small dense layers; Adagrad by hand, a number for each row.

recommender: --gpu 4GiB --steps 0 -- recommender.py
"""
import torch
import truth
from torch import nn

WIDTH = 64
tables = [nn.EmbeddingBag(rows, WIDTH, mode="sum", sparse=True, device="cuda")
          for rows in (50000, 20000, 8000, 3000, 1000, 100)]
bottom = nn.Sequential(nn.Linear(13, 256), nn.ReLU(), nn.Linear(256, WIDTH), nn.ReLU()).cuda()
top = nn.Sequential(nn.Linear(WIDTH + 21, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 1)).cuda()
truth.model(bottom, top, *tables)
dense = [*bottom.parameters(), *top.parameters()]
row_sums = [torch.zeros(table.num_embeddings, device="cuda") for table in tables]
sums = [torch.zeros_like(weight) for weight in dense]
truth.note("optimizer_state", row_sums, sums)


@torch.no_grad()
def update():
    for table, row_sum in zip(tables, row_sums):
        rows, values = table.weight.grad._indices()[0], table.weight.grad._values()
        row_sum.index_add_(0, rows, values.square().mean(1))
        table.weight.index_add_(0, rows, values / (row_sum[rows].sqrt() + 1e-8)[:, None], alpha=-0.01)
        table.weight.grad = None
    for weight, squares in zip(dense, sums):
        squares.addcmul_(weight.grad, weight.grad)
        weight.addcdiv_(weight.grad, squares.sqrt().add_(1e-8), value=-0.01)
        weight.grad = None


for _ in range(4):
    truth.phase("data")
    numbers, wanted = torch.randn(2048, 13).cuda(), torch.rand(2048, 1).cuda()
    chosen = [torch.randint(table.num_embeddings, (2048, 4)).cuda() for table in tables]
    truth.batch(numbers, wanted, chosen)
    truth.phase("forward")
    with truth.saving():
        low = bottom(numbers)
        features = torch.stack([low, *(table(rows) for table, rows in zip(tables, chosen))], 1)
        products = torch.bmm(features, features.transpose(1, 2))
        first, second = torch.tril_indices(7, 7, -1, device="cuda")
        truth.note("activation|input", first, second)
        loss = nn.functional.binary_cross_entropy_with_logits(
            top(torch.cat((low, products[:, first, second]), 1)), wanted)
    truth.phase("backward")
    loss.backward()
    truth.note("gradient", [table.weight.grad for table in tables])
    truth.phase("optimizer_step")
    update()
