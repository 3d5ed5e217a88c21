"""Low-rank adapters on a frozen decoder in bfloat16: few gradients and little state, but all the activations.

lora: --gpu 4GiB --steps 4 -- lora.py
"""
import torch
import truth
from blocks import Decoder, next_token_loss, tokens
from torch import nn


class Adapter(nn.Module):
    def __init__(self, linear, rank=8):
        super().__init__()
        self.linear = linear
        self.down = nn.Linear(linear.in_features, rank, bias=False)
        self.up = nn.Linear(rank, linear.out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x):
        return self.linear(x) + self.up(self.down(x.float())).to(x.dtype)


model = Decoder().to(torch.bfloat16).requires_grad_(False)
for block in model.blocks:
    block.attention.query = Adapter(block.attention.query)
    block.attention.value = Adapter(block.attention.value)
model.cuda()
trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
optimizer = torch.optim.AdamW(trained, lr=1e-3)
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
