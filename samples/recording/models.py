"""The models that are recorded: small, but made of the parts of real ones."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint


class ConvBlock(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(outputs)

    def forward(self, x):
        return F.relu(self.norm(self.conv(x)))


class Cnn(nn.Module):
    def __init__(self, width=32, classes=100):
        super().__init__()
        self.stem = ConvBlock(3, width, 1)
        self.blocks = nn.ModuleList(
            [ConvBlock(width, width, 1), ConvBlock(width, 4 * width, 2), ConvBlock(4 * width, 4 * width, 1)])
        self.head = nn.Linear(4 * width, classes)

    def forward(self, images):
        x = self.stem(images)
        x = x + self.blocks[0](x)
        x = F.max_pool2d(x, 2)
        for block in self.blocks[1:]:
            x = block(x)
        return self.head(x.mean(dim=(2, 3)))


class Attention(nn.Module):
    """Explicit attention, as in a course or an older code base; `fused` uses torch's own kernel."""

    def __init__(self, width, heads, fused):
        super().__init__()
        self.heads, self.fused = heads, fused
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        if self.fused:
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            scores = torch.matmul(q, k.transpose(-2, -1)) / (width // self.heads) ** 0.5
            hidden = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)
            scores = scores.masked_fill(hidden, float("-inf"))
            mixed = torch.matmul(torch.softmax(scores, dim=-1), v)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width, heads, fused, dropout):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads, fused)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.dropout(self.down(F.gelu(self.up(self.norm2(x)))))


class Transformer(nn.Module):
    def __init__(self, vocabulary=1000, width=128, layers=3, heads=4, length=64, fused=True, dropout=0.1,
                 checkpointed=False, reentrant=False):
        super().__init__()
        self.checkpointed, self.reentrant = checkpointed, reentrant
        self.tokens = nn.Embedding(vocabulary, width)
        self.places = nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads, fused, dropout) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.tokens(tokens) + self.places(places)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=self.reentrant) if self.checkpointed else block(x)
        return self.head(self.norm(x))


class Generator(nn.Module):
    def __init__(self, noise=64, width=64):
        super().__init__()
        self.width = width
        self.start = nn.Linear(noise, 4 * width * 8 * 8)
        self.layers = nn.Sequential(
            nn.ConvTranspose2d(4 * width, width, 4, 2, padding=1), nn.GroupNorm(8, width), nn.LeakyReLU(0.2),
            nn.ConvTranspose2d(width, 3, 4, 2, padding=1), nn.Tanh())

    def forward(self, noise):
        return self.layers(self.start(noise).view(-1, 4 * self.width, 8, 8))


class Critic(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, width, 4, 2, padding=1), nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(width, 2 * width, 4, 2, padding=1), nn.LeakyReLU(0.2, inplace=True), nn.Flatten(),
            nn.Linear(2 * width * 8 * 8, 1))

    def forward(self, images):
        return self.layers(images)


class Recurrent(nn.Module):
    def __init__(self, vocabulary=1000, width=128):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.cells = nn.LSTM(width, width, num_layers=2, batch_first=True)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens):
        states, _ = self.cells(self.tokens(tokens))
        return self.head(states)
