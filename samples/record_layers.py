#!/usr/bin/env python3
"""Records the layers of two models: record_layers.py OUTDIR

Needs PyTorch 2.15 with CUDA, and share/record on PYTHONPATH. No GPU is needed under memsnap dryrun; times then follow
from operations and bytes.
"""
import gzip
import json
import sys
from pathlib import Path

import memsnap_record
import torch
from torch import nn
from torch.nn import functional


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        parts = [part.view(batch, length, self.heads, -1).transpose(1, 2) for part in self.qkv(x).chunk(3, -1)]
        y = functional.scaled_dot_product_attention(*parts, is_causal=True)
        return self.proj(y.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = Attention(width, heads)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(0.1))

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, width=256, heads=4, blocks=6, words=4000, length=256):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(blocks))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)

    def forward(self, tokens):
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class Convolutions(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True),
            nn.Conv2d(outputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))

    def forward(self, x):
        return self.net(x)


class UNet(nn.Module):
    def __init__(self, width=16, levels=3):
        super().__init__()
        widths = [width << level for level in range(levels + 1)]
        pairs = list(zip(widths, widths[1:]))
        self.first = Convolutions(3, width)
        self.down = nn.ModuleList(Convolutions(a, b) for a, b in pairs)
        self.pool = nn.MaxPool2d(2)
        self.up = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, 2) for a, b in reversed(pairs))
        self.join = nn.ModuleList(Convolutions(2 * a, a) for a, b in reversed(pairs))
        self.out = nn.Conv2d(width, 4, 1)

    def forward(self, x):
        skipped = []
        x = self.first(x)
        for down in self.down:
            skipped.append(x)
            x = down(self.pool(x))
        for up, join in zip(self.up, self.join):
            x = join(torch.cat([up(x), skipped.pop()], 1))
        return self.out(x)


def record(model, inputs, targets, path):
    recording = memsnap_record.layers(model)
    with recording:
        outputs = model(inputs)
        functional.cross_entropy(outputs if outputs.dim() == 4 else outputs.flatten(0, 1), targets).backward()
    trace = {**recording.trace, "host_bytes": 0}  # the rest is the same each time
    path.write_bytes(gzip.compress(json.dumps(trace).encode(), mtime=0))


def main():
    folder = Path(sys.argv[1])
    with torch.device("cuda"):
        tokens = torch.zeros(8, 256, dtype=torch.long)
        record(GPT(), tokens, tokens.flatten(), folder / "gpt.layers.json.gz")
        pictures, classes = torch.zeros(4, 3, 128, 128), torch.zeros(4, 128, 128, dtype=torch.long)
        record(UNet(), pictures, classes, folder / "unet.layers.json.gz")


main()
