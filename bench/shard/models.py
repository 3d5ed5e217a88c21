"""The models of bench/shard, and their batches."""
import torch
from torch import nn
from torch.nn import functional as F

from blind_models import BLIND_MODELS
from library_models import LIBRARY_MODELS
from media_models import MEDIA_MODELS
from more_models import MORE_MODELS
from newer_models import NEWER_MODELS


class Attention(nn.Module):
    def __init__(self, width, heads, bias):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=bias)
        self.out = nn.Linear(width, width, bias=bias)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


class GptBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, 8, True)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Gpt(nn.Module):
    def __init__(self, words=16000, width=512, depth=8, length=512):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(GptBlock(width) for _ in range(depth))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.words.weight

    def forward(self, tokens):
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


class LlamaBlock(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.norm1, self.norm2 = RmsNorm(width), RmsNorm(width)
        self.attention = Attention(width, 8, False)
        self.gate, self.up = nn.Linear(width, hidden, bias=False), nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    def __init__(self, words=16000, width=768, hidden=2048, depth=6):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.layers = nn.ModuleList(LlamaBlock(width, hidden) for _ in range(depth))
        self.norm = RmsNorm(width)
        self.head = nn.Linear(width, words, bias=False)

    def forward(self, tokens):
        x = self.words(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


def unbalanced_mlp():
    """One layer has most of the parameters."""
    return nn.Sequential(nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 24000), nn.ReLU(), nn.Linear(24000, 512),
                         nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 1000))


class CrossAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q, self.kv = nn.Linear(width, width, bias=False), nn.Linear(width, 2 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)

    def forward(self, x, context):
        q, k, v = (part.view(*part.shape[:2], self.heads, -1).transpose(1, 2)
                   for part in (self.q(x), *self.kv(context).chunk(2, dim=-1)))
        y = F.scaled_dot_product_attention(q, k, v)
        return self.out(y.transpose(1, 2).reshape(x.shape))


class T5Block(nn.Module):
    def __init__(self, width, hidden, has_context):
        super().__init__()
        self.norms = nn.ModuleList(RmsNorm(width) for _ in range(3 if has_context else 2))
        self.attention = Attention(width, 8, False)
        if has_context:
            self.cross = CrossAttention(width, 8)
        self.up, self.down = nn.Linear(width, hidden, bias=False), nn.Linear(hidden, width, bias=False)
        self.drop = nn.Dropout(0.1)

    def forward(self, x, context=None):
        x = x + self.drop(self.attention(self.norms[0](x)))
        if context is not None:
            x = x + self.drop(self.cross(self.norms[2](x), context))
        return x + self.drop(self.down(self.drop(F.relu(self.up(self.norms[1](x))))))


class T5(nn.Module):
    """An encoder and a decoder that share a table of words with the head."""
    def __init__(self, words=16000, width=512, hidden=2048, depth=4):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.encoder = nn.ModuleList(T5Block(width, hidden, False) for _ in range(depth))
        self.decoder = nn.ModuleList(T5Block(width, hidden, True) for _ in range(depth))
        self.norms = nn.ModuleList(RmsNorm(width) for _ in range(2))
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.words.weight

    def forward(self, tokens):
        context = x = self.words(tokens)
        for block in self.encoder:
            context = block(context)
        context = self.norms[0](context)
        for block in self.decoder:
            x = block(x, context)
        return self.head(self.norms[1](x))


class Convolutions(nn.Module):
    def __init__(self, before, after):
        super().__init__()
        self.first, self.second = nn.Conv2d(before, after, 3, padding=1), nn.Conv2d(after, after, 3, padding=1)
        self.norm1, self.norm2 = nn.BatchNorm2d(after), nn.BatchNorm2d(after)

    def forward(self, x):
        return F.relu(self.norm2(self.second(F.relu(self.norm1(self.first(x))))))


class UNet(nn.Module):
    """Classifies each pixel. What goes down is used again on the way up."""
    def __init__(self, classes=16, widths=(32, 64, 128, 256, 512)):
        super().__init__()
        self.down = nn.ModuleList(Convolutions(a, b) for a, b in zip((3, *widths), widths))
        self.widen = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, stride=2) for a, b in zip(widths[-2::-1], widths[::-1]))
        self.up = nn.ModuleList(Convolutions(2 * a, a) for a in widths[-2::-1])
        self.head = nn.Conv2d(widths[0], classes, 1)

    def forward(self, x):
        skipped = []
        for block in self.down:
            x = block(F.max_pool2d(x, 2) if skipped else x)
            skipped.append(x)
        skipped.pop()
        for widen, block in zip(self.widen, self.up):
            x = block(torch.cat((skipped.pop(), widen(x)), dim=1))
        return self.head(x).permute(0, 2, 3, 1)


class QwenBlock(nn.Module):
    """Fewer heads of keys and values than of queries, and biases on those three alone."""
    def __init__(self, width, heads, groups, hidden):
        super().__init__()
        self.heads, self.groups, size = heads, groups, width // heads
        self.input_norm, self.post_norm = RmsNorm(width), RmsNorm(width)
        self.q, self.k, self.v = nn.Linear(width, width), nn.Linear(width, groups * size), nn.Linear(width, groups * size)
        self.o = nn.Linear(width, width, bias=False)
        self.gate, self.up = nn.Linear(width, hidden, bias=False), nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def attend(self, x):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, -1, width // self.heads).transpose(1, 2) for part in (self.q(x), self.k(x), self.v(x)))
        k, v = (part.repeat_interleave(self.heads // self.groups, dim=1) for part in (k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(y.transpose(1, 2).reshape(batch, length, width))

    def forward(self, x):
        x = x + self.attend(self.input_norm(x))
        y = self.post_norm(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Qwen(nn.Module):
    def __init__(self, words=24000, width=640, hidden=1728, depth=7):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.layers = nn.ModuleList(QwenBlock(width, 10, 2, hidden) for _ in range(depth))
        self.norm = RmsNorm(width)
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


class Experts(nn.Module):
    """A mixture of experts. Each expert gets the same number of tokens, so that sizes do not depend on values."""
    def __init__(self, width, hidden, count):
        super().__init__()
        self.router = nn.Linear(width, count, bias=False)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, width))
                                     for _ in range(count))

    def forward(self, x):
        flat = x.reshape(-1, x.shape[-1])
        weights = self.router(flat).softmax(dim=-1)
        best, rows = weights.topk(flat.shape[0] * 2 // len(self.experts), dim=0)
        result = torch.zeros_like(flat)
        for i, expert in enumerate(self.experts):
            result = result.index_add(0, rows[:, i], expert(flat[rows[:, i]]) * best[:, i:i + 1])
        return result.view(x.shape)


class MoeBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention, self.experts = Attention(width, 8, True), Experts(width, 2 * width, 8)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.experts(self.norm2(x))


class Moe(nn.Module):
    def __init__(self, words=16000, width=512, depth=4):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.blocks = nn.ModuleList(MoeBlock(width) for _ in range(depth))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words)

    def forward(self, tokens):
        x = self.words(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def resnet50():
    import torchvision
    return torchvision.models.resnet50()


def vit():
    import torchvision
    return torchvision.models.VisionTransformer(image_size=224, patch_size=16, num_layers=8, num_heads=8, hidden_dim=512,
                                                mlp_dim=2048)


def convnext():
    import torchvision
    return torchvision.models.convnext_tiny()


def mobilenet():
    import torchvision
    return torchvision.models.mobilenet_v3_large()


def swin():
    import torchvision
    return torchvision.models.swin_t()


class Bert(nn.Module):
    """The embeddings are frozen."""
    def __init__(self, words=30000, width=512, depth=6, length=512):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.norm = nn.LayerNorm(width)
        for frozen in (self.words, self.places, self.norm):
            frozen.requires_grad_(False)
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(width, 8, 4 * width, batch_first=True) for _ in range(depth))
        self.head = nn.Linear(width, 64)

    def forward(self, tokens):
        x = self.norm(self.words(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device)))
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


class Recurrent(nn.Module):
    def __init__(self, words=12000, width=384, hidden=512, depth=3):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.layers = nn.ModuleList(nn.LSTM(width if i == 0 else hidden, hidden, batch_first=True) for i in range(depth))
        self.head = nn.Linear(hidden, words)

    def forward(self, tokens):
        x = self.words(tokens)
        for layer in self.layers:
            x = layer(x)[0]
        return self.head(x)


class Uneven(nn.Module):
    """A mixture of experts of different sizes, which all see all tokens."""
    def __init__(self, width=512, depth=4, classes=1000):
        super().__init__()
        self.first = nn.Linear(256, width)
        self.layers = nn.ModuleList(nn.ModuleList(
            nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, width)) for hidden in (256, 1024, 4096 + 1000 * i))
            for i in range(depth))
        self.gates = nn.ModuleList(nn.Linear(width, 3) for _ in range(depth))
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        x = self.first(x)
        for gate, experts in zip(self.gates, self.layers):
            weights = gate(x).softmax(dim=-1)
            x = x + sum(expert(x) * weights[:, i:i + 1] for i, expert in enumerate(experts))
        return self.head(x)


class Adapted(nn.Module):
    """A linear layer that is frozen, and a low rank that is not."""
    def __init__(self, base, rank=16):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down, self.up = nn.Linear(base.in_features, rank, bias=False), nn.Linear(rank, base.out_features, bias=False)

    def forward(self, x):
        return self.base(x) + self.up(self.down(x))


def lora():
    model = Llama(depth=8).requires_grad_(False)
    for layer in model.layers:
        layer.attention.qkv, layer.attention.out = Adapted(layer.attention.qkv), Adapted(layer.attention.out)
    return model


class Giant(nn.Module):
    """Nearly all parameters are in one embedding."""
    def __init__(self, words=200000, width=256, classes=100):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.layers = nn.ModuleList(nn.Sequential(nn.Linear(width, width), nn.ReLU()) for _ in range(3))
        self.head = nn.Linear(width, classes)

    def forward(self, tokens):
        x = self.words(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


class Recommender(nn.Module):
    """Tables in a list, which run one by one, after layers that come before them. Numbers come first in the batch, then indices."""
    def __init__(self, rows=(200000, 90000, 40000, 1000, 300000), width=64, numbers=16, classes=100):
        super().__init__()
        self.numbers = numbers
        self.tables = nn.ModuleList(nn.EmbeddingBag(count, width, mode="sum") for count in rows)
        self.bottom = nn.Sequential(nn.Linear(numbers, 512), nn.ReLU(), nn.Linear(512, width), nn.ReLU())
        self.top = nn.Sequential(nn.Linear((len(rows) + 1) * width, 1024), nn.ReLU(), nn.Linear(1024, classes))
        self.scale = nn.Parameter(torch.tensor(1.0))

    def forward(self, x):
        parts = [self.bottom(x[:, :self.numbers])]
        for table, indices in zip(self.tables, x[:, self.numbers:].long().chunk(len(self.tables), dim=1)):
            parts.append(table(indices))
        return self.top(torch.cat(parts, dim=1)) * self.scale.exp()


def tuned():
    """Three blocks and the head of a transformer are trained; all else is frozen."""
    model = vit().requires_grad_(False)
    for part in (*model.encoder.layers[-3:], model.encoder.ln, model.heads):
        part.requires_grad_(True)
    return model


class Tiny(nn.Module):
    """Hundreds of small parameters."""
    def __init__(self, width=96, depth=150, classes=10):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.Tanh()) for _ in range(depth))
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        for block in self.blocks:
            x = x + block(x)
        return self.head(x)


class DeepNet(nn.Module):
    """Stages of blocks, with what halves the image between them."""
    def __init__(self, classes=100, widths=(48, 96, 192), depths=(2, 3, 2)):
        super().__init__()
        self.stem = nn.Conv2d(3, widths[0], 4, stride=4)
        self.stages = nn.ModuleList(nn.Sequential(*(Convolutions(width, width) for _ in range(depth)))
                                    for width, depth in zip(widths, depths))
        self.shrink = nn.ModuleList(nn.Conv2d(a, b, 2, stride=2) for a, b in zip(widths, widths[1:]))
        self.head = nn.Linear(widths[-1], classes)

    def forward(self, x):
        x = self.stem(x)
        for i, stage in enumerate(self.stages):
            x = stage(x if i == 0 else self.shrink[i - 1](x))
        return self.head(x.mean(dim=(2, 3)))


class Perception(nn.Module):
    """A transformer on the features of a frozen CNN, which runs without gradients."""
    def __init__(self, classes=100, width=384, depth=4):
        super().__init__()
        self.cnn = nn.Sequential(*list(resnet50().children())[:-2]).requires_grad_(False)
        self.project = nn.Linear(2048, width)
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(width, 6, 4 * width, batch_first=True) for _ in range(depth))
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        with torch.no_grad():
            features = self.cnn(x)
        x = self.project(features.flatten(2).transpose(1, 2))
        for layer in self.layers:
            x = layer(x)
        return self.head(x.mean(dim=1))


class Patches(nn.Module):
    def __init__(self, width=512, depth=6, classes=1000):
        super().__init__()
        self.patch = nn.Conv2d(3, width, 16, stride=16)
        self.blocks = nn.ModuleList(GptBlock(width) for _ in range(depth))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, classes)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x).mean(dim=1))


class Distilled(nn.Module):
    """A student, and a teacher of the same shape, in one module."""
    def __init__(self):
        super().__init__()
        self.student, self.teacher = Patches(), Patches().requires_grad_(False)

    def forward(self, x):
        with torch.no_grad():
            taught = self.teacher(x)
        return self.student(x) + 0.01 * taught


class MixedBlock(GptBlock):
    """Layers in bfloat16 between norms in float32."""
    def __init__(self, width):
        super().__init__(width)
        self.bfloat16()
        self.norm1.float(), self.norm2.float()

    def forward(self, x):
        x = x + self.attention(self.norm1(x.float()).bfloat16())
        return x + self.down(F.gelu(self.up(self.norm2(x.float()).bfloat16())))


class Mixed(nn.Module):
    """A frozen table and blocks in bfloat16, and a head in float32."""
    def __init__(self, words=16000, width=768, depth=8):
        super().__init__()
        self.words = nn.Embedding(words, width, dtype=torch.bfloat16).requires_grad_(False)
        self.blocks = nn.ModuleList(MixedBlock(width) for _ in range(depth))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words)

    def forward(self, tokens):
        x = self.words(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x.float()))


class ChannelsLast(nn.Module):
    def __init__(self, width=512, depth=6, classes=100):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 4, stride=4)
        self.blocks = nn.ModuleList(Convolutions(width, width) for _ in range(depth))
        self.head = nn.Linear(width, classes)
        self.to(memory_format=torch.channels_last)

    def forward(self, x):
        x = self.stem(x.to(memory_format=torch.channels_last))
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean(dim=(2, 3)))


def images(count, size):
    return lambda: torch.randn(count, 3, size, size, device="cuda")


def tokens():
    return torch.randint(16000, (4, 512), device="cuda")


# The model, its batch, and the number of classes.
MODELS = {
    "resnet50": (resnet50, images(16, 224), 1000),
    "gpt": (Gpt, tokens, 16000),
    "llama": (Llama, tokens, 16000),
    "mlp": (unbalanced_mlp, lambda: torch.randn(2048, 1024, device="cuda"), 1000),
    "vit": (vit, images(16, 224), 1000),
    "t5": (T5, tokens, 16000),
    "unet": (UNet, images(4, 192), 16),
    "qwen": (Qwen, lambda: torch.randint(24000, (2, 640), device="cuda"), 24000),
    "short": (Qwen, lambda: torch.randint(24000, (1, 16), device="cuda"), 24000),  # model states make its peaks
    "moe": (Moe, tokens, 16000),
    "convnext": (convnext, images(8, 224), 1000),
    "mobilenet": (mobilenet, images(16, 224), 1000),
    "swin": (swin, images(8, 224), 1000),
    "bert": (Bert, lambda: torch.randint(30000, (4, 384), device="cuda"), 64),
    "lstm": (Recurrent, lambda: torch.randint(12000, (4, 200), device="cuda"), 12000),
    "uneven": (Uneven, lambda: torch.randn(2048, 256, device="cuda"), 1000),
    "lora": (lora, tokens, 16000),
    "giant": (Giant, lambda: torch.randint(200000, (16, 256), device="cuda"), 100),
    "recommender": (Recommender, lambda: torch.cat((torch.randn(4096, 16, device="cuda"),
                                                    torch.randint(1000, (4096, 20), device="cuda")), dim=1), 100),
    "tuned": (tuned, images(16, 224), 1000),
    "tiny": (Tiny, lambda: torch.randn(256, 96, device="cuda"), 10),
    "deep": (DeepNet, images(8, 192), 100),
    "perception": (Perception, images(16, 224), 100),
    "distilled": (Distilled, images(16, 224), 1000),
    "mixed": (Mixed, tokens, 16000),
    "channels": (ChannelsLast, images(4, 128), 100),
    **LIBRARY_MODELS,
    **MORE_MODELS,
    **NEWER_MODELS,
    **MEDIA_MODELS,
    **BLIND_MODELS,
}


def classify(outputs, classes):
    labels = torch.zeros(outputs.shape[:-1], dtype=torch.long, device="cuda")
    return F.cross_entropy(outputs.reshape(-1, classes), labels.view(-1))


def make_model(name):
    """The model, what makes a batch, and the loss of the model's outputs."""
    make, batch, loss = MODELS[name]
    return make(), batch, loss if callable(loss) else lambda outputs: classify(outputs, loss)


def call(model, inputs):
    return model(*inputs) if isinstance(inputs, tuple) else model(inputs)
