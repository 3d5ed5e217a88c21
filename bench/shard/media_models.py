"""Models of images and text that were measured before any rule was changed for them, and their batches and losses."""
import torch
from torch import nn
from torch.nn import functional as F

from more_models import heads_of


class Mixing(nn.Module):
    """Attention to itself, or to a context."""
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.norm = heads, nn.LayerNorm(width)
        self.q, self.kv, self.out = nn.Linear(width, width), nn.Linear(width, 2 * width), nn.Linear(width, width)

    def forward(self, x, context=None, causal=False):
        y = self.norm(x)
        k, v = self.kv(y if context is None else context).chunk(2, dim=-1)
        y = F.scaled_dot_product_attention(*(heads_of(part, self.heads) for part in (self.q(y), k, v)), is_causal=causal)
        return x + self.out(y.transpose(1, 2).flatten(2))


def feed_forward(width, hidden):
    return nn.Sequential(nn.LayerNorm(width), nn.Linear(width, hidden), nn.GELU(), nn.Dropout(0.1), nn.Linear(hidden, width))


class Viewer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.mix, self.feed = Mixing(width, heads), feed_forward(width, 4 * width)

    def forward(self, x):
        x = self.mix(x)
        return x + self.feed(x)


class Writer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.mix, self.look, self.feed = Mixing(width, heads), Mixing(width, heads), feed_forward(width, 4 * width)

    def forward(self, x, seen):
        x = self.look(self.mix(x, causal=True), seen)
        return x + self.feed(x)


class Captions(nn.Module):
    """A convolutional stem, an encoder of images, and a decoder of text whose embeddings are also its head."""
    def __init__(self, words=28000, width=640, heads=10, layers=5, length=128):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 96, 7, stride=4, padding=3), nn.BatchNorm2d(96), nn.ReLU(),
                                  nn.Conv2d(96, width, 3, stride=4, padding=1))
        self.places = nn.Parameter(torch.randn(1, 196, width) * 0.02)
        self.encoder = nn.ModuleList(Viewer(width, heads) for _ in range(layers))
        self.seen = nn.LayerNorm(width)
        self.words, self.orders = nn.Embedding(words, width), nn.Embedding(length, width)
        self.decoder = nn.ModuleList(Writer(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)
        self.head.weight = self.words.weight

    def forward(self, images, text):
        seen = self.stem(images).flatten(2).transpose(1, 2) + self.places
        for block in self.encoder:
            seen = block(seen)
        seen = self.seen(seen)
        x = self.words(text) + self.orders(torch.arange(text.shape[1], device=text.device))
        for block in self.decoder:
            x = block(x, seen)
        return self.head(self.norm(x))


MEDIA_MODELS = {
    "captions": (Captions, lambda: (torch.randn(8, 3, 224, 224, device="cuda"), torch.randint(28000, (8, 128), device="cuda")), 28000),
}
