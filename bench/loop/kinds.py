"""Models for snapshots, of kinds that the other files lack: the batch and a function that makes the model and a function of it
which computes the loss."""
import torch
import torch.nn.functional as F
import transformers as hf
from torch import nn


class Translator(nn.Module):
    def __init__(self, width=512, words=8000):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(512, width)
        self.transformer = nn.Transformer(width, 8, 6, 6, 2048, 0.1, batch_first=True)
        self.head = nn.Linear(width, words)

    def embed(self, tokens):
        return self.words(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))

    def forward(self, source, target):
        mask = nn.Transformer.generate_square_subsequent_mask(target.shape[1], device=target.device)
        return self.head(self.transformer(self.embed(source), self.embed(target), tgt_mask=mask, tgt_is_causal=True))


class Bottleneck(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(width, inner, 1, bias=False), nn.BatchNorm2d(inner), nn.ReLU(inplace=True),
            nn.Conv2d(inner, inner, 3, padding=1, groups=32, bias=False), nn.BatchNorm2d(inner), nn.ReLU(inplace=True),
            nn.Conv2d(inner, width, 1, bias=False), nn.BatchNorm2d(width))
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        return self.relu(self.body(x) + x)


def resnext():
    stages = []
    for inputs, width, blocks in (64, 256, 3), (256, 512, 4), (512, 1024, 6):
        stages.append(nn.Sequential(nn.Conv2d(inputs, width, 2, 2), *[Bottleneck(width, width // 2) for _ in range(blocks)]))
    return nn.Sequential(nn.Conv2d(3, 64, 4, 4), *stages, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1024, 1000))


class Mix(nn.Module):
    def __init__(self, width, places):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.across = nn.Sequential(nn.Linear(places, 2 * places), nn.GELU(), nn.Linear(2 * places, places))
        self.within = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.across(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.within(self.norm2(x))


class Mixer(nn.Module):
    def __init__(self, width=512, layers=8):
        super().__init__()
        self.patches = nn.Conv2d(3, width, 16, 16)
        self.blocks = nn.Sequential(*[Mix(width, 196) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 1000)

    def forward(self, images):
        x = self.blocks(self.patches(images).flatten(2).transpose(1, 2))
        return self.head(self.norm(x).mean(1))


class Temporal(nn.Module):
    def __init__(self, inputs, outputs, dilation):
        super().__init__()
        self.conv1 = nn.Conv1d(inputs, outputs, 3, padding=2 * dilation, dilation=dilation)
        self.conv2 = nn.Conv1d(outputs, outputs, 3, padding=2 * dilation, dilation=dilation)
        self.dropout = nn.Dropout(0.1)
        self.skip = nn.Conv1d(inputs, outputs, 1) if inputs != outputs else None

    def forward(self, x):
        y = self.dropout(F.relu(self.conv1(x)[..., :x.shape[-1]]))
        y = self.dropout(F.relu(self.conv2(y)[..., :x.shape[-1]]))
        return F.relu(y + (x if self.skip is None else self.skip(x)))


class Tcn(nn.Module):
    def __init__(self, width=256, layers=8):
        super().__init__()
        self.blocks = nn.ModuleList(Temporal(width if k else 32, width, 2 ** k) for k in range(layers))
        self.head = nn.Linear(width, 32)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x.transpose(1, 2))


class Vae(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.encoder = nn.ModuleList(nn.Sequential(nn.Conv2d(i, o, 4, 2, 1), nn.BatchNorm2d(o), nn.LeakyReLU(0.2))
                                     for i, o in ((3, width), (width, 2 * width), (2 * width, 4 * width)))
        self.mean, self.spread = nn.Conv2d(4 * width, 32, 1), nn.Conv2d(4 * width, 32, 1)
        self.enter = nn.Conv2d(32, 4 * width, 1)
        self.decoder = nn.ModuleList(nn.Sequential(nn.ConvTranspose2d(i, o, 4, 2, 1), nn.BatchNorm2d(o), nn.ReLU())
                                     for i, o in ((4 * width, 2 * width), (2 * width, width), (width, width)))
        self.leave = nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, x):
        for layer in self.encoder:
            x = layer(x)
        mean, spread = self.mean(x), self.spread(x)
        x = self.enter(mean + torch.randn_like(mean) * (0.5 * spread).exp())
        for layer in self.decoder:
            x = layer(x)
        return {"image": torch.sigmoid(self.leave(x)), "mean": mean, "spread": spread}


class Neighbours(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.own, self.others, self.norm = nn.Linear(width, width), nn.Linear(width, width), nn.LayerNorm(width)

    def forward(self, x, edges):
        mean = torch.zeros_like(x).index_add(0, edges[1], x[edges[0]]) / 8
        return F.relu(self.norm(self.own(x) + self.others(mean))) + x


class Gnn(nn.Module):
    def __init__(self, width=256, layers=6):
        super().__init__()
        self.enter, self.leave = nn.Linear(64, width), nn.Linear(width, 16)
        self.layers = nn.ModuleList(Neighbours(width) for _ in range(layers))

    def forward(self, nodes, edges):
        x = self.enter(nodes)
        for layer in self.layers:
            x = layer(x, edges)
        return self.leave(x)


class Recurrent(nn.Module):
    """Recurrent layers in a row, without anything between them."""

    def __init__(self, width=512, layers=6, words=8000):
        super().__init__()
        self.words, self.head = nn.Embedding(words, width), nn.Linear(width, words)
        self.layers = nn.ModuleList(nn.GRU(width, width, batch_first=True) for _ in range(layers))

    def forward(self, tokens):
        x = self.words(tokens)
        for layer in self.layers:
            x, _ = layer(x)
        return self.head(x)


class Ensemble(nn.Module):
    """Several models of one input."""

    def __init__(self, models=4, width=512):
        super().__init__()
        self.models = nn.ModuleList(Mixer(width, 3) for _ in range(models))

    def forward(self, images):
        return torch.stack([model(images) for model in self.models]).mean(0)


def pictures(make):
    def build(batch):
        images, labels = torch.randn(batch, 3, 224, 224), torch.zeros(batch, dtype=torch.long)
        return make(), lambda model: F.cross_entropy(model(images), labels)
    return build


def translator(batch):
    tokens = torch.zeros(batch, 128, dtype=torch.long)
    return Translator(), lambda model: F.cross_entropy(model(tokens, tokens).flatten(0, 1), tokens.flatten())


def tcn(batch):
    x = torch.randn(batch, 32, 1024)
    return Tcn(), lambda model: F.mse_loss(model(x), x.transpose(1, 2))


def vae(batch):
    images = torch.rand(batch, 3, 128, 128)

    def loss(model):
        found = model(images)
        return F.mse_loss(found["image"], images) + 0.01 * (found["mean"].square() + found["spread"].square()).mean()
    return Vae(), loss


def gnn(batch):
    nodes, edges = torch.randn(batch * 1000, 64), torch.randint(0, batch * 1000, (2, batch * 8000))
    labels = torch.zeros(len(nodes), dtype=torch.long)
    return Gnn(), lambda model: F.cross_entropy(model(nodes, edges), labels)


def recurrent(batch):
    tokens = torch.zeros(batch, 256, dtype=torch.long)
    return Recurrent(), lambda model: F.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())


def neox(batch):
    model = hf.GPTNeoXForCausalLM(hf.GPTNeoXConfig(vocab_size=8000, hidden_size=512, num_hidden_layers=8, num_attention_heads=8,
                                                   intermediate_size=2048, use_cache=False))
    tokens = torch.zeros(batch, 512, dtype=torch.long)
    return model, lambda model: model(input_ids=tokens, labels=tokens).loss


MODELS = {"seq2seq": (32, translator), "resnext": (16, pictures(resnext)), "mixer": (32, pictures(Mixer)), "tcn": (32, tcn),
          "vae": (32, vae), "gnn": (32, gnn), "recurrent": (32, recurrent), "ensemble": (16, pictures(Ensemble)),
          "neox": (8, neox)}
