"""Adapters on frozen weights of int8 with scales, under checkpoints; all of it is made on the device.

quantized: --gpu 4GiB --steps 0 -- quantized.py
"""
import math

import torch
import truth
from torch import nn
from torch.nn.functional import linear, scaled_dot_product_attention
from torch.utils.checkpoint import checkpoint


class Quantized(nn.Module):
    def __init__(self, inner, outer, rank=8):
        super().__init__()
        self.register_buffer("weight", torch.randint(-127, 127, (outer, inner), dtype=torch.int8))
        self.register_buffer("scale", torch.ones(outer, 1, dtype=torch.bfloat16))
        self.bias = nn.Parameter(torch.zeros(outer, dtype=torch.bfloat16), requires_grad=False)
        self.a = nn.Parameter(torch.empty(rank, inner))
        self.b = nn.Parameter(torch.zeros(outer, rank))
        nn.init.kaiming_uniform_(self.a, a=math.sqrt(5))

    def forward(self, x):
        base = linear(x, self.weight.to(x.dtype) * self.scale, self.bias)
        return base + linear(linear(x.float(), self.a), self.b).to(x.dtype)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width, dtype=torch.bfloat16), nn.LayerNorm(width, dtype=torch.bfloat16)
        self.qkv, self.out = Quantized(width, 3 * width), Quantized(width, width)
        self.up, self.down = Quantized(width, 4 * width), Quantized(4 * width, width)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (8, -1)).transpose(1, 2) for t in self.qkv(self.norm1(x)).chunk(3, -1))
        x = x + self.out(scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(8000, 512, dtype=torch.bfloat16)
        self.register_buffer("position", torch.zeros(1024, 512, dtype=torch.bfloat16))
        self.register_buffer("mask", torch.ones(1024, 1024, dtype=torch.bool).tril())
        self.blocks = nn.ModuleList(Block(512) for _ in range(6))
        self.head = nn.Linear(512, 8000, bias=False, dtype=torch.bfloat16)

    def forward(self, tokens):
        x = self.embed(tokens) + self.position[:tokens.shape[1]]
        x.requires_grad_()
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return self.head(x)


with torch.device("cuda"):
    model = Model()
for name, p in model.named_parameters():
    p.requires_grad_(name.endswith((".a", ".b")))
truth.model(model)
trained = [p for p in model.parameters() if p.requires_grad]
optimizer = torch.optim.AdamW(trained, lr=2e-4)
truth.optimizer(optimizer)
for _ in range(4):
    truth.phase("data")
    batch = torch.randint(0, 8000, (4, 256)).cuda()
    truth.batch(batch)
    truth.phase("forward")
    with truth.saving():
        logits = model(batch)
        loss = nn.functional.cross_entropy(logits[:, :-1].float().flatten(0, 1), batch[:, 1:].flatten())
    truth.phase("backward")
    loss.backward()
    truth.phase("optimizer_step")
    nn.utils.clip_grad_norm_(trained, 0.3)
    optimizer.step()
    optimizer.zero_grad()
