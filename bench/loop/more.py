"""More models for measure.py: architectures that the advice was tried on only after it worked on those of large.py."""
import torch
import torch.nn.functional as F
import torchvision.models as vision
import transformers as hf
from torch import nn


class Tied(nn.Module):
    """A GPT whose last layer has the weights of the embedding."""

    def __init__(self, width=512, layers=8, heads=8, words=32000, length=512):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(width, heads, 4 * width, 0.1, "gelu", batch_first=True, norm_first=True)
            for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)
        self.head.weight = self.words.weight

    def forward(self, tokens):
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1], device=tokens.device)
        for block in self.blocks:
            x = block(x, src_mask=mask, is_causal=True)
        return self.head(self.norm(x))


class Scan(nn.Module):
    """A selective state space (Gu and Dao, 2023), one step of the sequence at a time."""

    def __init__(self, width, states=8):
        super().__init__()
        self.norm, self.enter, self.leave = nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.Linear(2 * width, width)
        self.mix = nn.Conv1d(2 * width, 2 * width, 4, padding=3, groups=2 * width)
        self.select = nn.Linear(2 * width, 2 * states + 1)
        self.rate = nn.Parameter(torch.randn(2 * width, states))

    def forward(self, x):
        value, gate = self.enter(self.norm(x)).chunk(2, -1)
        value = F.silu(self.mix(value.transpose(1, 2))[..., :x.shape[1]].transpose(1, 2))
        read, write, step = self.select(value).split([self.rate.shape[1], self.rate.shape[1], 1], -1)
        step = F.softplus(step)
        state, results = torch.zeros_like(self.rate).expand(len(x), -1, -1), []
        for t in range(x.shape[1]):
            decay = torch.exp(-step[:, t, :, None] * self.rate.exp())
            state = decay * state + (step[:, t] * value[:, t])[..., None] * write[:, t, None]
            results.append((state * read[:, t, None]).sum(-1))
        return x + self.leave(torch.stack(results, 1) * F.silu(gate))


class Mamba(nn.Module):
    def __init__(self, width=256, layers=4, words=8000):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.layers = nn.ModuleList(Scan(width) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words)

    def forward(self, tokens):
        x = self.words(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


class Dlrm(nn.Module):
    """Recommendation (Naumov and others, 2019): embeddings, and the products of all pairs of them."""

    def __init__(self, tables=26, rows=20000, width=128):
        super().__init__()
        self.tables = nn.ModuleList(nn.EmbeddingBag(rows, width, mode="sum") for _ in range(tables))
        pairs = (tables + 1) * tables // 2
        self.bottom = self.mlp(13, 512, 256, width)
        self.top = self.mlp(width + pairs, 1024, 1024, 512, 256, 1)
        self.register_buffer("pairs", torch.tril_indices(tables + 1, tables + 1, -1), persistent=False)

    @staticmethod
    def mlp(*widths):
        layers = [layer for sizes in zip(widths, widths[1:]) for layer in (nn.Linear(*sizes), nn.ReLU())]
        return nn.Sequential(*layers[:-1])

    def forward(self, numbers, words):
        x = self.bottom(numbers)
        features = torch.stack([x] + [table(words[:, k]) for k, table in enumerate(self.tables)], 1)
        products = features @ features.transpose(1, 2)
        return self.top(torch.cat([x, products[:, self.pairs[0], self.pairs[1]]], 1))


class Cross(nn.Module):
    def __init__(self, width, inputs, heads):
        super().__init__()
        self.norm, self.norm_inputs, self.norm_mlp = nn.LayerNorm(width), nn.LayerNorm(inputs), nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, kdim=inputs, vdim=inputs, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, latents, inputs):
        inputs = self.norm_inputs(inputs)
        latents = latents + self.attention(self.norm(latents), inputs, inputs, need_weights=False)[0]
        return latents + self.mlp(self.norm_mlp(latents))


class Perceiver(nn.Module):
    """Latents that read a long input again and again (Jaegle and others, 2021)."""

    def __init__(self, width=512, inputs=64, latents=256, rounds=4, depth=4, classes=1000):
        super().__init__()
        self.latents, self.enter = nn.Parameter(torch.randn(latents, width)), nn.Linear(3, inputs)
        self.cross = nn.ModuleList(Cross(width, inputs, 1) for _ in range(rounds))
        self.towers = nn.ModuleList(
            nn.ModuleList(Cross(width, width, 8) for _ in range(depth)) for _ in range(rounds))
        self.head = nn.Linear(width, classes)

    def forward(self, image):
        inputs = self.enter(image.flatten(2).transpose(1, 2))
        x = self.latents.expand(len(image), -1, -1)
        for cross, tower in zip(self.cross, self.towers):
            x = cross(x, inputs)
            for block in tower:
                x = block(x, x)
        return self.head(x.mean(1))


class Messages(nn.Module):
    """Nodes of a graph that update their state with what their neighbours send (Li and others, 2016)."""

    def __init__(self, width):
        super().__init__()
        self.send, self.update = nn.Linear(2 * width, width), nn.GRUCell(width, width)

    def forward(self, x, edges):
        sent = F.relu(self.send(torch.cat([x[edges[0]], x[edges[1]]], 1)))
        return self.update(torch.zeros_like(x).index_add(0, edges[1], sent), x)


class Graph(nn.Module):
    def __init__(self, width=256, rounds=8, classes=16):
        super().__init__()
        self.enter, self.head = nn.Linear(64, width), nn.Linear(width, classes)
        self.rounds = nn.ModuleList(Messages(width) for _ in range(rounds))

    def forward(self, nodes, edges):
        x = self.enter(nodes)
        for messages in self.rounds:
            x = messages(x, edges)
        return self.head(x)


class Sound(nn.Module):
    """The features of wav2vec 2.0: convolutions over the waveform, then a transformer."""

    def __init__(self, width=512, layers=6, classes=32):
        super().__init__()
        sizes = [(1, 10, 5)] + [(width, 3, 2)] * 4 + [(width, 2, 2)] * 2
        self.convs = nn.ModuleList(
            nn.Sequential(nn.Conv1d(inputs, width, size, stride, bias=False), nn.GroupNorm(1, width), nn.GELU())
            for inputs, size, stride in sizes)
        self.places = nn.Conv1d(width, width, 128, padding=64, groups=16)
        self.blocks = nn.Sequential(*(
            nn.TransformerEncoderLayer(width, 8, 4 * width, 0.1, batch_first=True) for _ in range(layers)))
        self.head = nn.Linear(width, classes)

    def forward(self, sound):
        x = sound[:, None]
        for conv in self.convs:
            x = conv(x)
        x = x + F.gelu(self.places(x)[..., :x.shape[2]])
        return self.head(self.blocks(x.transpose(1, 2)))


class Detection(nn.Module):
    """One of torchvision's detectors, and what it is to find. Its loss is its result."""

    def __init__(self, make, side=320, **more):
        super().__init__()
        self.detector = make(weights=None, weights_backbone=None, num_classes=5, min_size=side, max_size=side, **more)
        self.side = side

    def forward(self, images):
        target = {"boxes": torch.tensor([[10.0, 10.0, 50.0, 50.0]]), "labels": torch.ones(1, dtype=torch.long),
                  "masks": torch.ones(1, self.side, self.side, dtype=torch.uint8)}
        target = {name: value.to(images.device) for name, value in target.items()}
        return sum(self.detector(list(images), [dict(target) for _ in images]).values())


def classify(make, inputs, classes):
    """`inputs` makes the tensors of a batch."""
    def build(batch):
        given = inputs(batch)

        def loss(model):
            scores = model(*given).flatten(0, -2)
            return F.cross_entropy(scores, torch.zeros(len(scores), dtype=torch.long, device=scores.device) % classes)
        return make(), loss
    return build


def words(length):
    return lambda batch: [torch.zeros(batch, length, dtype=torch.long)]


def graph(batch):
    return [torch.randn(2000 * batch, 64), torch.randint(2000 * batch, (2, 8000 * batch))]


def dlrm(batch):
    numbers, sparse = torch.randn(batch, 13), torch.zeros(batch, 26, 1, dtype=torch.long)
    clicks = torch.zeros(batch, 1)
    return Dlrm(), lambda model: F.binary_cross_entropy_with_logits(model(numbers, sparse), clicks)


def detector(make):
    def build(batch):
        images = torch.rand(batch, 3, 320, 320)
        return Detection(make, trainable_backbone_layers=5), lambda model: model(images)
    return build


def bart(batch):
    model = hf.BartForConditionalGeneration(hf.BartConfig(
        d_model=512, encoder_layers=6, decoder_layers=6, encoder_attention_heads=8, decoder_attention_heads=8,
        encoder_ffn_dim=2048, decoder_ffn_dim=2048, vocab_size=16000, use_cache=False))
    tokens = torch.zeros(batch, 256, dtype=torch.long)
    return model, lambda model: model(input_ids=tokens, labels=tokens).loss


def images(make, side=224):
    return classify(make, lambda batch: [torch.randn(batch, 3, side, side)], 1000)


BUILDERS = {
    "densenet169": (16, r"features\.denseblock\d\.denselayer\d+", images(vision.densenet169)),
    "gru_graph": (16, r"rounds\.\d+", classify(Graph, graph, 16)),
    "tied_gpt": (8, r"blocks\.\d+", classify(Tied, words(512), 32000)),
    "bart": (8, r"model\.(en|de)coder\.layers\.\d+", bart),
    "mamba": (8, r"layers\.\d+", classify(Mamba, words(32), 8000)),
    "faster_rcnn": (4, r"detector\.backbone\.body\.layer\d\.\d+", detector(vision.detection.fasterrcnn_resnet50_fpn)),
    "mask_rcnn": (4, r"detector\.backbone\.body\.layer\d\.\d+", detector(vision.detection.maskrcnn_resnet50_fpn)),
    "wav2vec": (8, r"convs\.\d+|blocks\.\d+", classify(Sound, lambda batch: [torch.randn(batch, 40000)], 32)),
    "dlrm": (8192, r"(top|bottom)\.\d+", dlrm),
    "perceiver": (16, r"cross\.\d+|towers\.\d+\.\d+", images(Perceiver, 64)),
}


def small_tokens():
    return torch.randint(0, 100, (2, 16))


# For loop.py: small enough for a CPU.
SMALL = {
    "gru_graph": lambda: (Graph(16, 4, 4), {"nodes": torch.randn(20, 64), "edges": torch.randint(20, (2, 60))}),
    "tied_gpt": lambda: (Tied(32, 4, 2, 100, 16), small_tokens()),
    "selective": lambda: (Mamba(16, 3, 100), small_tokens()),
    "sound": lambda: (Sound(32, 3, 8), torch.randn(2, 6400)),
    "dlrm": lambda: (Dlrm(4, 50, 16), {"numbers": torch.randn(8, 13), "words": torch.randint(50, (8, 4, 1))}),
    "perceiver": lambda: (Perceiver(32, 8, 4, 2, 2, 10), torch.randn(2, 3, 8, 8)),
    "faster_rcnn": lambda: (Detection(vision.detection.fasterrcnn_mobilenet_v3_large_320_fpn, 64), torch.rand(2, 3, 64, 64)),
    "mask_rcnn": lambda: (Detection(vision.detection.maskrcnn_resnet50_fpn, 64), torch.rand(2, 3, 64, 64)),
}
