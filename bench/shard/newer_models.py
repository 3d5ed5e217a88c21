"""Models that were measured before any rule was changed for them, and their batches and losses."""
import torch
from torch import nn
from torch.nn import functional as F

from more_models import heads_of


def join(x):
    return x.transpose(1, 2).flatten(2)


class TowerLayer(nn.Module):
    def __init__(self, width, heads, causal):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.in_proj, self.out_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.fc, self.proj = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        q, k, v = (heads_of(t, self.heads) for t in self.in_proj(self.norm1(x)).chunk(3, dim=-1))
        x = x + self.out_proj(join(F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)))
        y = self.fc(self.norm2(x))
        return x + self.proj(y * torch.sigmoid(1.702 * y))


class ImageTower(nn.Module):
    def __init__(self, width, depth, out, size=224, patch=32):
        super().__init__()
        self.patch = nn.Conv2d(3, width, patch, stride=patch, bias=False)
        self.class_embedding = nn.Parameter(torch.randn(width) * 0.02)
        self.positional = nn.Parameter(torch.randn((size // patch) ** 2 + 1, width) * 0.02)
        self.ln_pre, self.ln_post = nn.LayerNorm(width), nn.LayerNorm(width)
        self.layers = nn.ModuleList(TowerLayer(width, 8, False) for _ in range(depth))
        self.proj = nn.Parameter(torch.randn(width, out) * 0.02)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat((self.class_embedding.expand(x.shape[0], 1, -1), x), dim=1) + self.positional
        x = self.ln_pre(x)
        for layer in self.layers:
            x = layer(x)
        return self.ln_post(x[:, 0]) @ self.proj


class TextTower(nn.Module):
    def __init__(self, words, width, depth, out, length=77):
        super().__init__()
        self.token_embedding = nn.Embedding(words, width)
        self.positional = nn.Parameter(torch.randn(length, width) * 0.02)
        self.layers = nn.ModuleList(TowerLayer(width, 8, True) for _ in range(depth))
        self.ln_final, self.proj = nn.LayerNorm(width), nn.Linear(width, out, bias=False)

    def forward(self, tokens):
        x = self.token_embedding(tokens) + self.positional
        for layer in self.layers:
            x = layer(x)
        return self.proj(self.ln_final(x)[:, -1])


class SoundTower(nn.Module):
    def __init__(self, bands, width, out):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv1d(bands, width, 5, padding=2), nn.BatchNorm1d(width), nn.ReLU(), nn.MaxPool1d(2))
        self.rnn = nn.GRU(width, width, num_layers=2, batch_first=True, bidirectional=True)
        self.proj = nn.Linear(2 * width, out)

    def forward(self, x):
        x, _ = self.rnn(self.conv(x).transpose(1, 2))
        return self.proj(x.mean(dim=1))


class Towers(nn.Module):
    """Three towers with a contrastive loss, and a scalar parameter."""
    def __init__(self, out=512):
        super().__init__()
        self.visual, self.text, self.audio = ImageTower(640, 8, out), TextTower(20000, 512, 6, out), SoundTower(64, 256, out)
        self.logit_scale = nn.Parameter(torch.tensor(2.6))

    def forward(self, image, text, sound):
        found = [F.normalize(x, dim=-1) for x in (self.visual(image), self.text(text), self.audio(sound))]
        scale = self.logit_scale.exp()
        return [scale * found[i] @ found[j].T for i, j in ((0, 1), (0, 2), (1, 2))]


def contrast(outputs):
    labels = torch.arange(outputs[0].shape[0], device="cuda")
    return sum(F.cross_entropy(x, labels) + F.cross_entropy(x.T, labels) for x in outputs) / 6


class Expert(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.w1, self.w2 = nn.Linear(width, hidden, bias=False), nn.Linear(hidden, width, bias=False)
        self.w3 = nn.Linear(width, hidden, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class SmallExperts(nn.Module):
    def __init__(self, width, hidden, count, used=2):
        super().__init__()
        self.count, self.used = count, used
        self.gate = nn.Linear(width, count, bias=False)
        self.experts = nn.ModuleList(Expert(width, hidden) for _ in range(count))

    def forward(self, x):
        shape, x = x.shape, x.flatten(0, 1)
        share = self.gate(x).softmax(dim=-1)
        found = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            rows = share[:, i].topk(x.shape[0] * self.used // self.count).indices
            found = found.index_add(0, rows, expert(x[rows]) * share[rows, i, None])
        return found.view(shape)


class SmallExpertLayer(nn.Module):
    def __init__(self, width, hidden, count, heads=8):
        super().__init__()
        self.heads = heads
        self.input_norm, self.post_norm = nn.RMSNorm(width), nn.RMSNorm(width)
        self.q, self.k = nn.Linear(width, width, bias=False), nn.Linear(width, width // 4, bias=False)
        self.v, self.o = nn.Linear(width, width // 4, bias=False), nn.Linear(width, width, bias=False)
        self.moe = SmallExperts(width, hidden, count)

    def forward(self, x):
        y = self.input_norm(x)
        q, k, v = heads_of(self.q(y), self.heads), heads_of(self.k(y), self.heads // 4), heads_of(self.v(y), self.heads // 4)
        x = x + self.o(join(F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)))
        return x + self.moe(self.post_norm(x))


class ManyExperts(nn.Module):
    """Many small experts, each a module of its own, which take the tokens that want them most."""
    def __init__(self, words=16000, width=512, depth=6, hidden=256, count=24):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.layers = nn.ModuleList(SmallExpertLayer(width, hidden, count) for _ in range(depth))
        self.norm, self.lm_head = nn.RMSNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.lm_head(self.norm(x))


def double(before, after):
    return nn.Sequential(nn.Conv2d(before, after, 3, padding=1, bias=False), nn.BatchNorm2d(after), nn.ReLU(inplace=True),
                         nn.Conv2d(after, after, 3, padding=1, bias=False), nn.BatchNorm2d(after), nn.ReLU(inplace=True))


class Gate(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.of_skip, self.of_deep = nn.Conv2d(width, hidden, 1), nn.Conv2d(width, hidden, 1)
        self.psi = nn.Conv2d(hidden, 1, 1)

    def forward(self, skip, deep):
        return skip * torch.sigmoid(self.psi(F.relu(self.of_skip(skip) + self.of_deep(deep))))


class Rise(nn.Module):
    def __init__(self, before, after):
        super().__init__()
        self.up = nn.ConvTranspose2d(before, after, 2, stride=2)
        self.gate, self.conv = Gate(after, after // 2), double(2 * after, after)

    def forward(self, x, skip):
        x = self.up(x)
        return self.conv(torch.cat((self.gate(skip, x), x), dim=1))


class GatedUNet(nn.Module):
    """A U-Net whose levels are attributes, with gates at the skips and outputs of several levels."""
    def __init__(self, width=48, classes=12):
        super().__init__()
        self.down1, self.down2 = double(3, width), double(width, 2 * width)
        self.down3, self.down4 = double(2 * width, 4 * width), double(4 * width, 8 * width)
        self.bottom = double(8 * width, 16 * width)
        self.up4, self.up3 = Rise(16 * width, 8 * width), Rise(8 * width, 4 * width)
        self.up2, self.up1 = Rise(4 * width, 2 * width), Rise(2 * width, width)
        self.pool = nn.MaxPool2d(2)
        self.out1, self.out2 = nn.Conv2d(width, classes, 1), nn.Conv2d(2 * width, classes, 1)
        self.out3 = nn.Conv2d(4 * width, classes, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(self.pool(a))
        c = self.down3(self.pool(b))
        d = self.down4(self.pool(c))
        e = self.bottom(self.pool(d))
        d = self.up4(e, d)
        c = self.up3(d, c)
        b = self.up2(c, b)
        a = self.up1(b, a)
        return self.out1(a), self.out2(b), self.out3(c)


def deep_loss(outputs):
    loss = 0
    for i, x in enumerate(outputs):
        labels = torch.zeros(x.shape[0], *x.shape[2:], dtype=torch.long, device="cuda")
        loss = loss + F.cross_entropy(x, labels) * 0.5 ** i
    return loss


class SelfOrCross(nn.Module):
    def __init__(self, width, inner, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v = (nn.Linear(width, inner, bias=False) for _ in range(3))
        self.o = nn.Linear(inner, width, bias=False)

    def forward(self, x, memory, bias):
        q, k, v = heads_of(self.q(x), self.heads), heads_of(self.k(memory), self.heads), heads_of(self.v(memory), self.heads)
        scores = torch.matmul(q, k.transpose(2, 3))
        if bias is not None:
            scores = scores + bias
        return self.o(join(torch.matmul(F.dropout(scores.float().softmax(dim=-1), 0.1), v)))


class SharedLayer(nn.Module):
    def __init__(self, width, inner, hidden, heads, has_cross):
        super().__init__()
        self.attention, self.norm1 = SelfOrCross(width, inner, heads), nn.RMSNorm(width)
        if has_cross:
            self.cross, self.norm2 = SelfOrCross(width, inner, heads), nn.RMSNorm(width)
        self.wi, self.wo, self.norm3 = nn.Linear(width, hidden, bias=False), nn.Linear(hidden, width, bias=False), nn.RMSNorm(width)

    def forward(self, x, memory, bias):
        y = self.norm1(x)
        x = x + F.dropout(self.attention(y, y, bias), 0.1)
        if memory is not None:
            x = x + F.dropout(self.cross(self.norm2(x), memory, None), 0.1)
        return x + F.dropout(self.wo(F.dropout(F.relu(self.wi(self.norm3(x))), 0.1)), 0.1)


class Stack(nn.Module):
    def __init__(self, table, width, depth, has_cross, heads=8, buckets=32):
        super().__init__()
        self.embed_tokens, self.distances = table, nn.Embedding(buckets, heads)
        self.block = nn.ModuleList(SharedLayer(width, width, 4 * width, heads, has_cross) for _ in range(depth))
        self.final_norm, self.buckets = nn.RMSNorm(width), buckets

    def forward(self, tokens, memory=None):
        x = F.dropout(self.embed_tokens(tokens), 0.1)
        places = torch.arange(tokens.shape[1], device=x.device)
        bias = self.distances((places[:, None] - places[None]).abs().clamp(max=self.buckets - 1)).permute(2, 0, 1).unsqueeze(0)
        for layer in self.block:
            x = layer(x, memory, bias)
        return F.dropout(self.final_norm(x), 0.1)


class EncoderDecoder(nn.Module):
    """An encoder and a decoder that share one table with the head, each with one bias for all its layers."""
    def __init__(self, words=24000, width=512, depth=5):
        super().__init__()
        self.shared = nn.Embedding(words, width)
        self.encoder, self.decoder = Stack(self.shared, width, depth, False), Stack(self.shared, width, depth, True)
        self.lm_head = nn.Linear(width, words, bias=False)
        self.lm_head.weight = self.shared.weight
        self.width = width

    def forward(self, tokens):
        memory = self.encoder(tokens[:, :192])
        return self.lm_head(self.decoder(tokens[:, 192:], memory) * self.width ** -0.5)


class TableOnly(nn.Module):
    """A table, norms and nothing else."""
    def __init__(self, words=300000, width=128):
        super().__init__()
        self.table, self.norm1, self.norm2 = nn.Embedding(words, width), nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, tokens):
        x = self.norm1(self.table(tokens))
        return self.norm2(x.mean(dim=1)) @ self.norm1(self.table.weight[:4096]).T


class Lora(nn.Module):
    def __init__(self, base, rank=16):
        super().__init__()
        self.base = base
        self.lora_a = nn.Linear(base.in_features, rank, bias=False)
        self.lora_b = nn.Linear(rank, base.out_features, bias=False)
        self.dropout = nn.Dropout(0.05)

    def forward(self, x):
        return self.base(x) + self.lora_b(self.lora_a(self.dropout(x.float()))).to(x.dtype)


class BackboneLayer(nn.Module):
    def __init__(self, width, heads=8):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.RMSNorm(width), nn.RMSNorm(width)
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(width, width, bias=False) for _ in range(4))
        self.gate_proj, self.up_proj = (nn.Linear(width, 3 * width, bias=False) for _ in range(2))
        self.down_proj = nn.Linear(3 * width, width, bias=False)

    def forward(self, x):
        y = self.norm1(x)
        q, k, v = (heads_of(p(y), self.heads) for p in (self.q_proj, self.k_proj, self.v_proj))
        x = x + self.o_proj(join(F.scaled_dot_product_attention(q, k, v, is_causal=True)))
        y = self.norm2(x)
        return x + self.down_proj(F.silu(self.gate_proj(y)) * self.up_proj(y))


class Backbone(nn.Module):
    def __init__(self, words=20000, width=768, depth=10):
        super().__init__()
        self.embed_tokens = nn.Embedding(words, width)
        self.layers = nn.ModuleList(BackboneLayer(width) for _ in range(depth))
        self.norm, self.lm_head = nn.RMSNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, tokens):
        x = self.embed_tokens(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.lm_head(self.norm(x))


def adapters():
    """A frozen backbone in bfloat16, and adapters in float32 beside its layers."""
    model = Backbone().bfloat16().requires_grad_(False)
    for layer in model.layers:
        for name in ("q_proj", "v_proj", "up_proj"):
            setattr(layer, name, Lora(getattr(layer, name)))
    return model


def of_words(outputs):
    return F.cross_entropy(outputs.flatten(0, 1).float(), torch.zeros(outputs.shape[:-1].numel(), dtype=torch.long, device="cuda"))


NEWER_MODELS = {
    "towers": (Towers, lambda: (torch.randn(32, 3, 224, 224, device="cuda"), torch.randint(20000, (32, 77), device="cuda"),
                                torch.randn(32, 64, 200, device="cuda")), contrast),
    "experts": (ManyExperts, lambda: torch.randint(16000, (4, 384), device="cuda"), 16000),
    "gates": (GatedUNet, lambda: torch.randn(6, 3, 160, 160, device="cuda"), deep_loss),
    "shared": (EncoderDecoder, lambda: torch.randint(24000, (6, 320), device="cuda"), 24000),
    "table": (TableOnly, lambda: torch.randint(300000, (64, 64), device="cuda"), 4096),
    "adapters": (adapters, lambda: torch.randint(20000, (4, 320), device="cuda"), of_words),
}
