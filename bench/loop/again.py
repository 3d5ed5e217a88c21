"""Models for measure.py in which modules run several times in a step."""
import torch
import torch.nn.functional as F
import transformers as hf
from torch import nn


def albert(batch):
    model = hf.AlbertForMaskedLM(hf.AlbertConfig(
        hidden_size=512, num_hidden_layers=8, num_attention_heads=8, intermediate_size=2048, embedding_size=128,
        vocab_size=8000))
    tokens = torch.randint(2, 8000, (batch, 256))
    return model, lambda model: model(input_ids=tokens, labels=tokens).loss


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        return x + self.drop(self.down(F.gelu(self.up(self.norm(x)))))


class Universal(nn.Module):
    """Blocks of which some are the same module."""

    def __init__(self, numbers, width=512):
        super().__init__()
        blocks = [Block(width) for _ in range(max(numbers) + 1)]
        self.enter, self.leave = nn.Linear(64, width), nn.Linear(width, 10)
        self.blocks = nn.ModuleList(blocks[number] for number in numbers)

    def forward(self, x):
        x = self.enter(x)
        for block in self.blocks:
            x = block(x)
        return self.leave(x.mean(1))


def universal(*numbers):
    def build(batch):
        x, wanted = torch.randn(batch, 256, 64), torch.zeros(batch, dtype=torch.long)
        return Universal(numbers), lambda model: F.cross_entropy(model(x), wanted)
    return build


class Pyramid(nn.Module):
    """The head of a detector, which runs on the features of each level."""

    def __init__(self, width=64, levels=4, depth=4):
        super().__init__()
        self.levels = nn.ModuleList(nn.Conv2d(3, width, 3, 2 ** level, 1) for level in range(levels))
        self.head = nn.Sequential(*(
            nn.Sequential(nn.Conv2d(width, width, 3, 1, 1), nn.GroupNorm(8, width), nn.ReLU(inplace=True))
            for _ in range(depth)))
        self.out = nn.Conv2d(width, 4, 1)

    def forward(self, x):
        return [self.out(self.head(level(x))) for level in self.levels]


def pyramid(batch):
    images = torch.randn(batch, 3, 256, 256)
    return Pyramid(), lambda model: sum(result.square().mean() for result in model(images))


class Twins(nn.Module):
    """An encoder of two views."""

    def __init__(self):
        super().__init__()
        self.encoder = Universal(range(4))

    def forward(self, one, two):
        return -F.cosine_similarity(self.encoder(one), self.encoder(two)).mean()


def twins(batch):
    one, two = torch.randn(batch, 256, 64), torch.randn(batch, 256, 64)
    return Twins(), lambda model: model(one, two)


def siamese(batch):
    """The model itself runs twice before the backward pass."""
    one, two = torch.randn(batch, 256, 64), torch.randn(batch, 256, 64)
    return Universal(range(4)), lambda model: -F.cosine_similarity(model(one), model(two)).mean()


BUILDERS = {
    "albert": (16, [], albert),
    "universal": (32, [], universal(*[0] * 6)),
    "shared": (32, [], universal(0, 1, 0, 2, 1, 0)),
    "pyramid": (8, [], pyramid),
    "twins": (32, r"encoder\.blocks\.\d+", twins),
    "siamese": (32, r"blocks\.\d+", siamese),
}
