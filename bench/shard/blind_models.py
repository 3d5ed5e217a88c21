"""Models that were measured before any rule was changed for them: shared and nested modules, scans, masks and adapters."""
import torch
from torch import nn
from torch.nn import functional as F

from more_models import heads_of
from newer_models import join


class Reading(nn.Module):
    """Attention of latents to what is read, or to themselves."""
    def __init__(self, width, read, heads):
        super().__init__()
        self.heads = heads
        self.norm, self.norm_read = nn.LayerNorm(width), nn.LayerNorm(read)
        self.q, self.kv, self.out = nn.Linear(width, width), nn.Linear(read, 2 * width), nn.Linear(width, width)
        self.feed = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x, read=None):
        y = self.norm(x)
        k, v = self.kv(y if read is None else self.norm_read(read)).chunk(2, dim=-1)
        x = x + self.out(join(F.scaled_dot_product_attention(*(heads_of(t, self.heads) for t in (self.q(y), k, v)))))
        return x + self.feed(x)


class Perceiver(nn.Module):
    """Latents that read an image three times with the same weights, and process it in between with those of a list."""
    def __init__(self, width=512, read=256, latents=256, depth=4, classes=200):
        super().__init__()
        self.stem = nn.Conv2d(3, read, 4, stride=4)
        self.places = nn.Parameter(torch.randn(56 * 56, read) * 0.02)
        self.latents = nn.Parameter(torch.randn(latents, width) * 0.02)
        self.reader = Reading(width, read, 8)
        self.layers = nn.ModuleList(Reading(width, width, 8) for _ in range(depth))
        self.head = nn.Linear(width, classes)

    def forward(self, images):
        read = self.stem(images).flatten(2).transpose(1, 2) + self.places
        x = self.latents.expand(images.shape[0], -1, -1)
        for _ in range(3):
            x = self.reader(x, read)
            for layer in self.layers:
                x = layer(x)
        return self.head(x.mean(dim=1))


class Filter(nn.Module):
    """A gated convolution with a residual and a skip connection."""
    def __init__(self, width, skip, dilation):
        super().__init__()
        self.dilation = dilation
        self.conv = nn.Conv1d(width, 2 * width, 2, dilation=dilation)
        self.out, self.skip = nn.Conv1d(width, width, 1), nn.Conv1d(width, skip, 1)

    def forward(self, x):
        a, b = self.conv(F.pad(x, (self.dilation, 0))).chunk(2, dim=1)
        y = torch.tanh(a) * torch.sigmoid(b)
        return x + self.out(y), self.skip(y)


class Wave(nn.Module):
    """Dilated convolutions over sound, the sum of whose skips makes the output."""
    def __init__(self, levels=256, width=128, skip=256, cycles=2, depth=8):
        super().__init__()
        self.levels = nn.Embedding(levels, width)
        self.layers = nn.ModuleList(Filter(width, skip, 2 ** i) for _ in range(cycles) for i in range(depth))
        self.end1, self.end2 = nn.Conv1d(skip, skip, 1), nn.Conv1d(skip, levels, 1)

    def forward(self, sound):
        x, total = self.levels(sound).transpose(1, 2), 0
        for layer in self.layers:
            x, skip = layer(x)
            total = total + skip
        return self.end2(F.relu(self.end1(F.relu(total)))).transpose(1, 2)


class GatedFeed(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.gate_up, self.down = nn.Linear(width, 2 * hidden, bias=False), nn.Linear(hidden, width, bias=False)

    def forward(self, x):
        gate, up = self.gate_up(x).chunk(2, dim=-1)
        return self.down(F.silu(gate) * up)


class CausalAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(width, width, bias=False) for _ in range(4))

    def forward(self, x):
        q, k, v = (heads_of(project(x), self.heads) for project in (self.q, self.k, self.v))
        return self.o(join(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


class SharedExperts(nn.Module):
    """Experts in a list, each with the tokens that chose it, beside one that all tokens pass."""
    def __init__(self, width, hidden, count):
        super().__init__()
        self.router, self.shared = nn.Linear(width, count, bias=False), GatedFeed(width, 2 * hidden)
        self.experts = nn.ModuleList(GatedFeed(width, hidden) for _ in range(count))

    def forward(self, x):
        rows = x.reshape(-1, x.shape[-1])
        weights = self.router(rows).softmax(dim=-1)
        out, share = self.shared(rows), rows.shape[0] // len(self.experts)
        for i, expert in enumerate(self.experts):
            best = weights[:, i].topk(2 * share)
            out = out.index_add(0, best.indices, expert(rows[best.indices]) * best.values[:, None])
        return out.view_as(x)


class SharedMoeBlock(nn.Module):
    def __init__(self, width, hidden, count):
        super().__init__()
        self.norm1, self.norm2 = nn.RMSNorm(width), nn.RMSNorm(width)
        self.attention, self.feed = CausalAttention(width, 8), SharedExperts(width, hidden, count)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.feed(self.norm2(x))


class SharedMoe(nn.Module):
    def __init__(self, words=12000, width=512, hidden=512, count=8, depth=5):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.blocks = nn.ModuleList(SharedMoeBlock(width, hidden, count) for _ in range(depth))
        self.norm, self.head = nn.RMSNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, tokens):
        x = self.words(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class Adapter(nn.Module):
    """A frozen layer with two small matrices that are trained."""
    def __init__(self, base, rank=8):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.a, self.b = nn.Linear(base.in_features, rank, bias=False), nn.Linear(rank, base.out_features, bias=False)

    def forward(self, x):
        return self.base(x) + 2 * self.b(self.a(x))


def adapted_moe():
    """Experts and tables are frozen, attention has adapters, norms and routers are trained."""
    model = SharedMoe().requires_grad_(False)
    for block in model.blocks:
        attention = block.attention
        for name in ("q", "v", "o"):
            setattr(attention, name, Adapter(getattr(attention, name)))
        for module in (block.norm1, block.norm2, block.feed.router):
            module.requires_grad_(True)
    return model


class Selective(nn.Module):
    """A state space whose step depends on the input, computed chunk by chunk."""
    def __init__(self, width, state=16, chunk=64):
        super().__init__()
        inner, self.state, self.chunk = 2 * width, state, chunk
        self.rank = width // 16
        self.norm = nn.RMSNorm(width)
        self.into = nn.Linear(width, 2 * inner, bias=False)
        self.conv = nn.Conv1d(inner, inner, 4, groups=inner, padding=3)
        self.parts, self.step = nn.Linear(inner, self.rank + 2 * state, bias=False), nn.Linear(self.rank, inner)
        self.log_a = nn.Parameter(torch.log(torch.arange(1, state + 1).float()).repeat(inner, 1))
        self.d, self.out = nn.Parameter(torch.ones(inner)), nn.Linear(inner, width, bias=False)

    def scan(self, x):
        step, b, c = self.parts(x).split((self.rank, self.state, self.state), dim=-1)
        step, a = F.softplus(self.step(step)), -self.log_a.exp()
        held, found = x.new_zeros(x.shape[0], x.shape[2], self.state), []
        for part in range(0, x.shape[1], self.chunk):
            rows = slice(part, part + self.chunk)
            decay = torch.cumsum(step[:, rows, :, None] * a, dim=1)
            added = (step[:, rows] * x[:, rows])[..., None] * b[:, rows, None]
            states = decay.exp() * (held[:, None] + torch.cumsum(added * (-decay).exp(), dim=1))
            found.append(torch.einsum("blds,bls->bld", states, c[:, rows]))
            held = states[:, -1]
        return torch.cat(found, dim=1) + x * self.d

    def forward(self, x):
        y, gate = self.into(self.norm(x)).chunk(2, dim=-1)
        y = F.silu(self.conv(y.transpose(1, 2))[..., :x.shape[1]].transpose(1, 2))
        return x + self.out(self.scan(y) * F.silu(gate))


class SelectiveTexts(nn.Module):
    def __init__(self, words=16000, width=384, depth=6):
        super().__init__()
        self.backbone = nn.ModuleDict(dict(embeddings=nn.Embedding(words, width), norm_f=nn.RMSNorm(width),
                                           layers=nn.ModuleList(Selective(width) for _ in range(depth))))
        self.lm_head = nn.Linear(width, words, bias=False)
        self.lm_head.weight = self.backbone.embeddings.weight

    def forward(self, tokens):
        x = self.backbone["embeddings"](tokens)
        for layer in self.backbone["layers"]:
            x = layer(x)
        return self.lm_head(self.backbone["norm_f"](x))


class Tower(nn.Module):
    def __init__(self, sizes, width, hidden):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(size, width) for size in sizes)
        self.dense = nn.Sequential(nn.Linear(len(sizes) * width, hidden), nn.ReLU(), nn.Dropout(0.1), nn.Linear(hidden, width))

    def forward(self, features):
        found = [table(features[:, i]) for i, table in enumerate(self.tables)]
        return self.dense(torch.cat(found, dim=-1))


class Retrieval(nn.Module):
    """Two towers. The softmax over all items is by the table of items."""
    def __init__(self, users=(120000, 5000, 300), items=(60000, 2000), width=128):
        super().__init__()
        self.user, self.item = Tower(users, width, 512), Tower(items, width, 512)
        self.history = nn.EmbeddingBag(items[0], width, mode="mean")
        self.history.weight = self.item.tables[0].weight
        self.mix = nn.Linear(2 * width, width)
        self.temperature = nn.Parameter(torch.tensor([3.0]))

    def forward(self, users, items, history):
        query = self.mix(torch.cat((self.user(users), self.history(history)), dim=-1))
        item = F.normalize(self.item(items), dim=-1)
        return F.normalize(query, dim=-1) @ item.T * self.temperature, query @ self.item.tables[0].weight.T


def retrieve(outputs):
    pairs, scores = outputs
    rows = torch.arange(pairs.shape[0], device="cuda")
    return F.cross_entropy(pairs, rows) + F.cross_entropy(scores, rows)


class WindowBlock(nn.Module):
    """Attention within windows, with a learned bias of distances."""
    def __init__(self, width, heads, window, shift):
        super().__init__()
        self.heads, self.window, self.shift = heads, window, shift
        self.norm1, self.qkv, self.proj = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.bias = nn.Parameter(torch.zeros((2 * window - 1) ** 2, heads))
        self.norm2, self.fc1, self.fc2 = nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        one = torch.stack(torch.meshgrid(torch.arange(window), torch.arange(window), indexing="ij")).flatten(1)
        near = (one[:, :, None] - one[:, None] + window - 1).permute(1, 2, 0)
        self.register_buffer("near", near[..., 0] * (2 * window - 1) + near[..., 1])

    def attend(self, x):
        b, h, w, c = x.shape
        n = self.window
        if self.shift:
            x = torch.roll(x, (-self.shift, -self.shift), dims=(1, 2))
        x = x.view(b, h // n, n, w // n, n, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, n * n, c)
        q, k, v = (heads_of(t, self.heads) for t in self.qkv(x).chunk(3, dim=-1))
        scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
        scores = scores + self.bias[self.near.view(-1)].view(n * n, n * n, -1).permute(2, 0, 1)
        x = self.proj(join(scores.softmax(dim=-1) @ v))
        x = x.view(b, h // n, w // n, n, n, c).permute(0, 1, 3, 2, 4, 5).reshape(b, h, w, c)
        return torch.roll(x, (self.shift, self.shift), dims=(1, 2)) if self.shift else x

    def forward(self, x):
        x = x + self.attend(self.norm1(x))
        return x + self.fc2(F.gelu(self.fc1(self.norm2(x))))


class Merge(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.reduce = nn.LayerNorm(4 * width), nn.Linear(4 * width, 2 * width, bias=False)

    def forward(self, x):
        parts = [x[:, i::2, j::2] for j in (0, 1) for i in (0, 1)]
        return self.reduce(self.norm(torch.cat(parts, dim=-1)))


class Stage(nn.Module):
    def __init__(self, width, depth, heads, window, merges):
        super().__init__()
        self.merge = Merge(width // 2) if merges else nn.Identity()
        self.blocks = nn.ModuleList(WindowBlock(width, heads, window, (i % 2) * (window // 2)) for i in range(depth))

    def forward(self, x):
        x = self.merge(x)
        for block in self.blocks:
            x = block(x)
        return x


class Pyramid(nn.Module):
    """Stages of window attention, each half as wide and high as the one before."""
    def __init__(self, width=96, depths=(2, 2, 4, 2), classes=300):
        super().__init__()
        self.patch = nn.Sequential(nn.Conv2d(3, width, 4, stride=4), nn.GroupNorm(1, width))
        self.stages = nn.Sequential(*(Stage(width * 2 ** i, depth, 3 * 2 ** i, 7, i > 0) for i, depth in enumerate(depths)))
        self.norm, self.head = nn.LayerNorm(8 * width), nn.Linear(8 * width, classes)

    def forward(self, images):
        x = self.stages(self.patch(images).permute(0, 2, 3, 1))
        return self.head(self.norm(x).mean(dim=(1, 2)))


class Listener(nn.Module):
    """Convolutions over spectra, an encoder of torch.nn with a list of its own, and a decoder whose table is the head."""
    def __init__(self, bands=80, width=384, heads=6, depth=5, words=9000):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, 64, 3, stride=2, padding=1), nn.ReLU(),
                                  nn.Conv2d(64, 64, 3, stride=2, padding=1), nn.ReLU())
        self.enter, self.drop = nn.Linear(64 * bands // 4, width), nn.Dropout(0.1)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(width, heads, 4 * width, batch_first=True,
                                                                        norm_first=True), depth, enable_nested_tensor=False)
        self.words = nn.Embedding(words, width)
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(width, heads, 4 * width, batch_first=True), 3)
        self.ctc = nn.Linear(width, words)

    def forward(self, sound, text):
        x = self.stem(sound.unsqueeze(1)).permute(0, 2, 1, 3).flatten(2)
        seen = self.encoder(self.drop(self.enter(x)))
        mask = nn.Transformer.generate_square_subsequent_mask(text.shape[1], device=text.device)
        y = self.decoder(self.words(text), seen, tgt_mask=mask, tgt_is_causal=True)
        return self.ctc(seen), F.linear(y, self.words.weight)


def listen(outputs):
    heard, written = (x.flatten(0, 1) for x in outputs)
    return sum(F.cross_entropy(x, torch.zeros(x.shape[0], dtype=torch.long, device="cuda")) for x in (heard, written))


class Sight(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.ln1, self.attn = nn.LayerNorm(width), nn.MultiheadAttention(width, heads, batch_first=True)
        self.ln2, self.mlp = nn.LayerNorm(width), nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        y = self.ln1(x)
        x = x + self.attn(y, y, y, need_weights=False)[0]
        return x + self.mlp(self.ln2(x))


class Masked(nn.Module):
    """An encoder that sees a quarter of the patches, and a decoder that fills in the others. Places are not trained."""
    def __init__(self, width=512, depth=8, narrow=256, shallow=3, patch=16, size=224):
        super().__init__()
        self.patch, count = patch, (size // patch) ** 2
        self.embed = nn.Conv2d(3, width, patch, stride=patch)
        self.places = nn.Parameter(torch.randn(1, count, width) * 0.02, requires_grad=False)
        self.encoder, self.norm = nn.Sequential(*(Sight(width, 8) for _ in range(depth))), nn.LayerNorm(width)
        self.bridge, self.mask = nn.Linear(width, narrow), nn.Parameter(torch.zeros(1, 1, narrow))
        self.decoder_places = nn.Parameter(torch.randn(1, count, narrow) * 0.02, requires_grad=False)
        self.decoder, self.decoder_norm = nn.ModuleList(Sight(narrow, 8) for _ in range(shallow)), nn.LayerNorm(narrow)
        self.paint = nn.Linear(narrow, 3 * patch ** 2)

    def forward(self, images):
        x = self.embed(images).flatten(2).transpose(1, 2) + self.places
        order = torch.rand(x.shape[:2], device=x.device).argsort(dim=1)
        kept = order[:, :x.shape[1] // 4]
        y = torch.gather(x, 1, kept[..., None].expand(-1, -1, x.shape[2]))
        y = self.bridge(self.norm(self.encoder(y)))
        y = torch.cat((y, self.mask.expand(y.shape[0], x.shape[1] - y.shape[1], -1)), dim=1)
        y = torch.gather(y, 1, order.argsort(dim=1)[..., None].expand(-1, -1, y.shape[2])) + self.decoder_places
        for block in self.decoder:
            y = block(y)
        return self.paint(self.decoder_norm(y)), images


def fill_in(outputs):
    painted, images = outputs
    wanted = F.pixel_unshuffle(images, 16).flatten(2).transpose(1, 2)
    return ((painted - wanted) ** 2).mean()


class Pair(nn.Module):
    """Blocks as pairs in a list: attention and a feed-forward layer, whose results the model's loop adds."""
    def __init__(self, words=10000, width=512, depth=6):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.layers = nn.ModuleList(nn.ModuleList([Sight(width, 8), self.feed(width)]) for _ in range(depth))
        self.head = nn.Linear(width, words)

    @staticmethod
    def feed(width):
        return nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, tokens):
        x = self.words(tokens)
        for attention, feed in self.layers:
            x = attention(x) + x
            x = feed(x) + x
        return self.head(x)


class Level(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.blocks, self.norm = nn.ModuleList(Sight(width, 8) for _ in range(depth)), nn.LayerNorm(width)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.norm(x)


class Levels(nn.Module):
    """A list of modules that have lists of blocks of their own."""
    def __init__(self, words=10000, width=384, levels=3, depth=4):
        super().__init__()
        self.words, self.head = nn.Embedding(words, width), nn.Linear(width, words)
        self.levels = nn.ModuleList(Level(width, depth) for _ in range(levels))

    def forward(self, tokens):
        x = self.words(tokens)
        for level in self.levels:
            x = level(x)
        return self.head(x)


class Recurring(nn.Module):
    """One block that runs several times, and lists of its own in it."""
    def __init__(self, words=10000, width=512, turns=4):
        super().__init__()
        self.words, self.head = nn.Embedding(words, width), nn.Linear(width, words)
        self.block, self.turns = Level(width, 3), turns

    def forward(self, tokens):
        x = self.words(tokens)
        for _ in range(self.turns):
            x = self.block(x)
        return self.head(x)


def random_tokens(words, *shape):
    return lambda: torch.randint(words, shape, device="cuda")


def users_and_items():
    return (torch.randint(300, (2048, 3), device="cuda"), torch.randint(2000, (2048, 2), device="cuda"),
            torch.randint(60000, (2048, 20), device="cuda"))


def sound_and_text():
    return torch.randn(8, 800, 80, device="cuda"), torch.randint(9000, (8, 60), device="cuda")


def pictures(count, size):
    return lambda: torch.randn(count, 3, size, size, device="cuda")


BLIND_MODELS = {
    "perceiver": (Perceiver, pictures(8, 224), 200),
    "wave": (Wave, random_tokens(256, 4, 4000), 256),
    "sharedmoe": (SharedMoe, random_tokens(12000, 4, 384), 12000),
    "adaptedmoe": (adapted_moe, random_tokens(12000, 4, 384), 12000),
    "selective": (SelectiveTexts, random_tokens(16000, 2, 256), 16000),
    "retrieval": (Retrieval, users_and_items, retrieve),
    "pyramid": (Pyramid, pictures(8, 224), 300),
    "listener": (Listener, sound_and_text, listen),
    "pair": (Pair, random_tokens(10000, 4, 256), 10000),
    "levels": (Levels, random_tokens(10000, 4, 256), 10000),
    "recurring": (Recurring, random_tokens(10000, 4, 256), 10000),
    "masked": (Masked, pictures(16, 224), fill_in),
}
