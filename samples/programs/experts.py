"""A mixture of experts: each token goes to two of eight, and each expert has a fixed number of places.

experts: --gpu 4GiB --steps 4 -- experts.py
"""
import torch
import truth
from blocks import Decoder, next_token_loss, tokens
from torch import nn

EXPERTS, CHOSEN = 8, 2


class Experts(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.router = nn.Linear(width, EXPERTS, bias=False)
        self.up = nn.Parameter(torch.randn(EXPERTS, width, 2 * width) * 0.02)
        self.down = nn.Parameter(torch.randn(EXPERTS, 2 * width, width) * 0.02)

    def forward(self, x):
        flat = x.flatten(0, 1)
        weights, experts = self.router(flat).softmax(-1).topk(CHOSEN)
        room = CHOSEN * len(flat) // EXPERTS
        # a place for each token in its expert's batch; the order within an expert does not matter here
        places = torch.arange(CHOSEN * len(flat), device=x.device) % (EXPERTS * room)
        owners = torch.arange(len(flat), device=x.device).repeat_interleave(CHOSEN)
        batches = flat.new_zeros(EXPERTS * room, flat.shape[-1]).index_add(0, places, flat[owners])
        hidden = torch.bmm(batches.unflatten(0, (EXPERTS, room)), self.up).relu()
        outputs = torch.bmm(hidden, self.down).flatten(0, 1)[places] * weights.flatten()[:, None]
        return torch.zeros_like(flat).index_add(0, owners, outputs).unflatten(0, x.shape[:2])


model = Decoder(layers=2)
for block in model.blocks:
    experts = Experts(256)
    block.gate, block.up, block.down = nn.Identity(), nn.Identity(), experts
model.cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
truth.model(model)
truth.optimizer(optimizer)
while True:
    truth.phase("data")
    batch = tokens()
    truth.batch(batch)
    truth.phase("forward")
    with truth.saving():
        loss = next_token_loss(model(batch), batch)
    truth.phase("backward")
    loss.backward()
    truth.phase("optimizer_step")
    optimizer.step()
    optimizer.zero_grad()
