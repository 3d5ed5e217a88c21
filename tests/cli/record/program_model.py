"""A small language model."""
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(64)
        self.inner = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64))
        self.scale = nn.Parameter(torch.ones(64))

    def forward(self, x):
        return x + self.inner(self.norm(x)) * self.scale


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(1000, 64)
        self.blocks = nn.ModuleList(Block() for _ in range(3))
        self.head = nn.Linear(64, 1000)

    def forward(self, tokens):
        x = self.words(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(x)
