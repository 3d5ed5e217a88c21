"""Models written by hand, for snapshots: a decoder whose blocks are a plain list of calls, and two towers."""
import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.norm1, self.norm2, self.heads = nn.LayerNorm(width), nn.LayerNorm(width), heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(dropout))

    def forward(self, x):
        q, k, v = (part.unflatten(2, (self.heads, -1)).transpose(1, 2) for part in self.qkv(self.norm1(x)).chunk(3, 2))
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
        return x + self.mlp(self.norm2(x))


class Decoder(nn.Module):
    def __init__(self, width=768, layers=10, words=8000, dropout=0.1):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(512, width)
        self.blocks = nn.ModuleList(Block(width, 12, dropout) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, tokens):
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class Tower(nn.Module):
    def __init__(self, width, layers):
        super().__init__()
        self.layers = nn.ModuleList(Block(width, 8, 0.0) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.norm(x.mean(1))


class TwoTowers(nn.Module):
    """Images and texts, as in CLIP: no chain, but two."""

    def __init__(self):
        super().__init__()
        self.patches, self.words = nn.Conv2d(3, 512, 16, 16), nn.Embedding(8000, 384)
        self.image, self.text = Tower(512, 8), Tower(384, 6)
        self.project = nn.Linear(512, 384)

    def forward(self, images, tokens):
        image = self.project(self.image(self.patches(images).flatten(2).transpose(1, 2)))
        text = self.text(self.words(tokens))
        return F.normalize(image, dim=-1) @ F.normalize(text, dim=-1).T


def decoder(batch):
    tokens = torch.zeros(batch, 512, dtype=torch.long)
    return Decoder(), lambda model: F.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())


def towers(batch):
    images, tokens = torch.randn(batch, 3, 224, 224), torch.zeros(batch, 128, dtype=torch.long)
    return TwoTowers(), lambda model: F.cross_entropy(model(images, tokens), torch.arange(batch, device=images.device))


MODELS = {"decoder": (8, decoder), "towers": (32, towers)}
