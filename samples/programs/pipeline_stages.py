"""Eight ranks of a decoder in two stages, four copies of each; rank 5 keeps its outputs.

../record_ranks.py records all ranks.
"""
import os

import torch
import torch.distributed as dist
from torch import nn

dist.init_process_group("nccl")
rank, world = dist.get_rank(), dist.get_world_size()
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
first = rank < world // 2


class Stage(nn.Module):
    def __init__(self, width=256, words=8192, layers=3):
        super().__init__()
        self.embedding = nn.Embedding(words, width) if first else None
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(width, 4, 4 * width, batch_first=True) for _ in range(layers))
        self.head = None if first else nn.Linear(width, words)

    def forward(self, x):
        if first:
            x = self.embedding(x)
        for block in self.blocks:
            x = block(x)
        return x if first else self.head(x)


def batch():
    if first:
        return torch.randint(0, 8192, (8, 128), device="cuda")
    return torch.randn(8, 128, 256, device="cuda")


model = nn.parallel.DistributedDataParallel(Stage().cuda())
optimizer = torch.optim.AdamW(model.parameters())
kept = []
while True:
    output = model(batch())
    output.float().pow(2).mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    if rank == 5:
        kept.append(output.detach())
