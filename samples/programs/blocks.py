"""A small decoder with grouped-query attention and rotary positions, for programs whose subject is another."""
import torch
from torch import nn
from torch.nn.functional import cross_entropy, scaled_dot_product_attention, silu


def rotated(x, start):
    """Rotary position embedding of (batch, heads, length, size), the first position being start."""
    half = x.shape[-1] // 2
    positions = torch.arange(start, start + x.shape[-2], device=x.device)
    angles = positions[:, None] * 10000 ** (-torch.arange(half, device=x.device) / half)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    first, second = x.chunk(2, -1)
    return torch.cat((first * cos - second * sin, first * sin + second * cos), -1)


class Attention(nn.Module):
    def __init__(self, width, heads, kv_heads):
        super().__init__()
        self.size = width // heads
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, kv_heads * self.size, bias=False)
        self.value = nn.Linear(width, kv_heads * self.size, bias=False)
        self.out = nn.Linear(width, width, bias=False)

    def split(self, x):
        return x.unflatten(-1, (-1, self.size)).transpose(1, 2)

    def forward(self, x, cache=None):
        """cache: a list that holds the keys and values so far, or nothing yet."""
        start = cache[0].shape[-2] if cache else 0
        query, key = rotated(self.split(self.query(x)), start), rotated(self.split(self.key(x)), start)
        value = self.split(self.value(x))
        if cache is not None:
            if cache:
                key, value = torch.cat((cache[0], key), -2), torch.cat((cache[1], value), -2)
            cache[:] = key, value
        mixed = scaled_dot_product_attention(query, key, value, is_causal=x.shape[1] > 1, enable_gqa=True)
        return self.out(mixed.transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, width, heads, kv_heads):
        super().__init__()
        self.norm1, self.norm2 = nn.RMSNorm(width), nn.RMSNorm(width)
        self.attention = Attention(width, heads, kv_heads)
        self.gate = nn.Linear(width, 3 * width, bias=False)
        self.up = nn.Linear(width, 3 * width, bias=False)
        self.down = nn.Linear(3 * width, width, bias=False)

    def forward(self, x, cache=None):
        x = x + self.attention(self.norm1(x), cache)
        hidden = self.norm2(x)
        return x + self.down(silu(self.gate(hidden)) * self.up(hidden))


class Decoder(nn.Module):
    def __init__(self, vocabulary=4096, width=256, layers=3, heads=8, kv_heads=2):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList(Block(width, heads, kv_heads) for _ in range(layers))
        self.norm = nn.RMSNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens, caches=None):
        x = self.embedding(tokens)
        for number, block in enumerate(self.blocks):
            x = block(x, caches[number] if caches else None)
        return self.head(self.norm(x))


def next_token_loss(logits, tokens):
    return cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())


def tokens(batch=4, length=256, vocabulary=4096):
    return torch.randint(vocabulary, (batch, length), device="cuda")
