"""Models that were measured before any rule was changed for them, and their batches and losses."""
import torch
from torch import nn
from torch.nn import functional as F


def heads_of(x, count):
    return x.unflatten(-1, (count, -1)).transpose(1, 2)


class ConformerBlock(nn.Module):
    """Half a feed-forward layer before attention and convolution, and half of one after them."""
    def __init__(self, width, heads=4, kernel=15):
        super().__init__()
        self.heads = heads
        self.first, self.last = (nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.SiLU(), nn.Dropout(0.1),
                                               nn.Linear(4 * width, width), nn.Dropout(0.1)) for _ in range(2))
        self.norm, self.qkv, self.out = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.before, self.widen = nn.LayerNorm(width), nn.Conv1d(width, 2 * width, 1)
        self.depthwise = nn.Conv1d(width, width, kernel, padding=kernel // 2, groups=width, bias=False)
        self.batch_norm, self.point = nn.BatchNorm1d(width), nn.Conv1d(width, width, 1)
        self.after = nn.LayerNorm(width)

    def convolve(self, x):
        x = F.glu(self.widen(self.before(x).transpose(1, 2)), dim=1)
        return self.point(F.silu(self.batch_norm(self.depthwise(x)))).transpose(1, 2)

    def forward(self, x):
        x = x + 0.5 * self.first(x)
        q, k, v = (heads_of(part, self.heads) for part in self.qkv(self.norm(x)).chunk(3, dim=-1))
        x = x + self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))
        x = x + self.convolve(x)
        return self.after(x + 0.5 * self.last(x))


class Conformer(nn.Module):
    """An encoder of sounds, of which only every fourth frame is kept, with a loss over all alignments."""
    def __init__(self, bands=80, width=256, depth=8, words=1000):
        super().__init__()
        self.shrink = nn.Sequential(nn.Conv2d(1, width, 3, stride=2, padding=1), nn.ReLU(),
                                    nn.Conv2d(width, width, 3, stride=2, padding=1), nn.ReLU())
        self.project = nn.Linear(width * bands // 4, width)
        self.encoder = nn.ModuleList(ConformerBlock(width) for _ in range(depth))
        self.words = nn.Linear(width, words)

    def forward(self, x):
        x = self.shrink(x.unsqueeze(1))
        x = self.project(x.transpose(1, 2).flatten(2))
        for block in self.encoder:
            x = block(x)
        return self.words(x).log_softmax(dim=-1)


def align(outputs):
    count, frames, _ = outputs.shape
    labels = torch.ones(count, 20, dtype=torch.long, device="cuda")
    lengths = torch.full((count,), frames), torch.full((count,), 20)
    return F.ctc_loss(outputs.transpose(0, 1), labels, *lengths)


class TimedConvolutions(nn.Module):
    def __init__(self, before, after, width):
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(8, before), nn.Conv2d(before, after, 3, padding=1)
        self.time = nn.Linear(width, after)
        self.norm2, self.conv2 = nn.GroupNorm(8, after), nn.Conv2d(after, after, 3, padding=1)
        self.skip = nn.Conv2d(before, after, 1) if before != after else nn.Identity()

    def forward(self, x, time):
        y = self.conv1(F.silu(self.norm1(x))) + self.time(F.silu(time))[:, :, None, None]
        return self.skip(x) + self.conv2(F.silu(self.norm2(y)))


class PixelAttention(nn.Module):
    def __init__(self, width, heads=4):
        super().__init__()
        self.heads, self.norm = heads, nn.GroupNorm(8, width)
        self.qkv, self.out = nn.Conv2d(width, 3 * width, 1), nn.Conv2d(width, width, 1)

    def forward(self, x):
        q, k, v = (heads_of(part.flatten(2).transpose(1, 2), self.heads) for part in self.qkv(self.norm(x)).chunk(3, dim=1))
        y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        return x + self.out(y.transpose(1, 2).unflatten(2, x.shape[2:]))


class Diffusion(nn.Module):
    """A U-Net that finds the noise in an image: levels with lists of their own, and skips between them."""
    def __init__(self, widths=(64, 128, 256), depth=2, time=256):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(64, time), nn.SiLU(), nn.Linear(time, time))
        self.stem = nn.Conv2d(3, widths[0], 3, padding=1)
        self.downs, skips, last = nn.ModuleList(), [widths[0]], widths[0]
        for i, width in enumerate(widths):
            level = nn.Module()
            level.convolutions = nn.ModuleList(TimedConvolutions(last if j == 0 else width, width, time) for j in range(depth))
            level.attentions = nn.ModuleList(PixelAttention(width) for _ in range(depth)) if i > 0 else None
            level.shrink = nn.Conv2d(width, width, 3, stride=2, padding=1) if i + 1 < len(widths) else None
            skips += [width] * (depth + (level.shrink is not None))
            last = width
            self.downs.append(level)
        self.middle = nn.ModuleList((TimedConvolutions(last, last, time), PixelAttention(last), TimedConvolutions(last, last, time)))
        self.ups = nn.ModuleList()
        for i, width in reversed(list(enumerate(widths))):
            level = nn.Module()
            level.convolutions = nn.ModuleList()
            for _ in range(depth + 1):
                level.convolutions.append(TimedConvolutions(last + skips.pop(), width, time))
                last = width
            level.widen = nn.Conv2d(width, width, 3, padding=1) if i > 0 else None
            self.ups.append(level)
        self.norm, self.out = nn.GroupNorm(8, last), nn.Conv2d(last, 3, 3, padding=1)

    def forward(self, x, moments):
        rates = torch.exp(torch.arange(32, device=x.device) * -0.3)
        angles = moments[:, None] * rates
        time = self.time(torch.cat((angles.sin(), angles.cos()), dim=1))
        x = self.stem(x)
        skips = [x]
        for level in self.downs:
            for i, block in enumerate(level.convolutions):
                x = block(x, time)
                if level.attentions is not None:
                    x = level.attentions[i](x)
                skips.append(x)
            if level.shrink is not None:
                x = level.shrink(x)
                skips.append(x)
        first, attention, second = self.middle
        x = second(attention(first(x, time)), time)
        for level in self.ups:
            for block in level.convolutions:
                x = block(torch.cat((x, skips.pop()), dim=1), time)
            if level.widen is not None:
                x = level.widen(F.interpolate(x, scale_factor=2.0))
        return self.out(F.silu(self.norm(x)))


class GatedLayer(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.gate, self.up = nn.Linear(width, hidden, bias=False), nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class StackedExperts(nn.Module):
    """All experts in two tensors, and one expert beside them that sees every token."""
    def __init__(self, width, hidden, count, used=2):
        super().__init__()
        self.count, self.used = count, used
        self.router = nn.Linear(width, count, bias=False)
        self.up, self.down = nn.Parameter(torch.randn(count, width, 2 * hidden) * 0.02), nn.Parameter(torch.randn(count, hidden, width) * 0.02)
        self.shared = GatedLayer(width, hidden)

    def forward(self, x):
        flat = x.flatten(0, 1)
        best, rows = self.router(flat).softmax(dim=-1).topk(flat.shape[0] * self.used // self.count, dim=0)
        gate, up = torch.bmm(flat[rows.T], self.up).chunk(2, dim=-1)
        found = torch.bmm(F.silu(gate) * up, self.down) * best.T[..., None]
        found = torch.zeros_like(flat).index_add(0, rows.T.flatten(), found.flatten(0, 1))
        return self.shared(x) + found.view_as(x)


class ExpertBlock(nn.Module):
    def __init__(self, width, hidden, count, heads=8):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.RMSNorm(width), nn.RMSNorm(width)
        self.q, self.squeeze = nn.Linear(width, width, bias=False), nn.Linear(width, width // 4, bias=False)
        self.norm_kv, self.kv = nn.RMSNorm(width // 4), nn.Linear(width // 4, 2 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.mlp = StackedExperts(width, hidden, count) if count else GatedLayer(width, 4 * hidden)

    def forward(self, x):
        y = self.norm1(x)
        q, k, v = (heads_of(part, self.heads) for part in (self.q(y), *self.kv(self.norm_kv(self.squeeze(y))).chunk(2, dim=-1)))
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
        return x + self.mlp(self.norm2(x))


class StackedMoe(nn.Module):
    """The first layer has no experts."""
    def __init__(self, words=16000, width=512, depth=5, hidden=512, count=16):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.layers = nn.ModuleList(ExpertBlock(width, hidden, count if i > 0 else 0) for i in range(depth))
        self.norm, self.head = nn.RMSNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


class Dlrm(nn.Module):
    """One table that is much larger than all others, and products of all pairs of vectors."""
    def __init__(self, rows=(1500000, *(2000 * i for i in range(1, 20))), width=32):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(count, width) for count in rows)
        self.bottom = nn.Sequential(nn.Linear(13, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, width), nn.ReLU())
        pairs = torch.triu_indices(len(rows) + 1, len(rows) + 1, 1)
        self.register_buffer("pairs", pairs)
        self.top = nn.Sequential(nn.Linear(pairs.shape[1] + width, 1024), nn.ReLU(), nn.Linear(1024, 512), nn.ReLU(), nn.Linear(512, 1))

    def forward(self, numbers, indices):
        first = self.bottom(numbers)
        vectors = torch.stack([first] + [table(indices[:, i]) for i, table in enumerate(self.tables)], dim=1)
        products = torch.bmm(vectors, vectors.transpose(1, 2))[:, self.pairs[0], self.pairs[1]]
        return self.top(torch.cat((first, products), dim=1)).squeeze(1)


def clicks(outputs):
    return F.binary_cross_entropy_with_logits(outputs, torch.ones_like(outputs))


class TiedBlock(nn.Module):
    def __init__(self, width, heads=6):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        y = self.norm1(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.mlp(self.norm2(x))


class TiedTexts(nn.Module):
    """A table that the head shares, factorized; frozen places, and frozen blocks below those that are trained."""
    def __init__(self, words=30000, thin=128, width=384, depth=8, frozen=3, length=256):
        super().__init__()
        self.words, self.places = nn.Embedding(words, thin), nn.Parameter(torch.zeros(1, length, width), requires_grad=False)
        self.widen, self.narrow = nn.Linear(thin, width), nn.Linear(width, thin)
        self.blocks = nn.ModuleList(TiedBlock(width) for _ in range(depth))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(thin, words, bias=False)
        self.head.weight = self.words.weight
        for block in self.blocks[:frozen]:
            block.requires_grad_(False)

    def forward(self, tokens):
        x = self.widen(self.words(tokens)) + self.places[:, :tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.head(F.gelu(self.narrow(self.norm(x))))


class Scan(nn.Module):
    """A gated linear recurrence, in chunks that are scanned one after another."""
    def __init__(self, width, state=16, chunk=32):
        super().__init__()
        self.chunk, self.state, inner = chunk, state, 2 * width
        self.norm, self.widen = nn.LayerNorm(width), nn.Linear(width, 2 * inner, bias=False)
        self.conv = nn.Conv1d(inner, inner, 4, padding=3, groups=inner)
        self.select, self.step = nn.Linear(inner, 2 * state + 16, bias=False), nn.Linear(16, inner)
        self.rates, self.skip = nn.Parameter(torch.rand(inner, state)), nn.Parameter(torch.ones(inner))
        self.out = nn.Linear(inner, width, bias=False)

    def forward(self, x):
        y, gate = self.widen(self.norm(x)).chunk(2, dim=-1)
        y = F.silu(self.conv(y.transpose(1, 2))[..., :x.shape[1]].transpose(1, 2))
        b, c, d = self.select(y).split((self.state, self.state, 16), dim=-1)
        d = F.softplus(self.step(d))
        held, parts = torch.zeros(x.shape[0], y.shape[2], self.state, device=x.device), []
        for yc, bc, cc, dc in zip(*(t.split(self.chunk, dim=1) for t in (y, b, c, d))):
            decay = torch.exp(-dc.sum(dim=1)[..., None] * self.rates)
            held = held * decay + torch.einsum("bli,bls->bis", dc * yc, bc)
            parts.append(torch.einsum("bis,bls->bli", held, cc))
        return x + self.out((torch.cat(parts, dim=1) + y * self.skip) * F.silu(gate))


class StateSpace(nn.Module):
    def __init__(self, words=12000, width=512, depth=8):
        super().__init__()
        self.backbone = nn.ModuleDict({"words": nn.Embedding(words, width), "layers": nn.ModuleList(Scan(width) for _ in range(depth)),
                                       "norm": nn.LayerNorm(width)})
        self.head = nn.Linear(width, words, bias=False)

    def forward(self, tokens):
        x = self.backbone["words"](tokens)
        for layer in self.backbone["layers"]:
            x = layer(x)
        return self.head(self.backbone["norm"](x))


class Gated(nn.Module):
    """The T5 of transformers with gated layers and a head of its own; the last words of the batch are the decoder's."""
    def __init__(self):
        super().__init__()
        from transformers import T5Config, T5ForConditionalGeneration
        self.t5 = T5ForConditionalGeneration(T5Config(vocab_size=16000, d_model=512, d_kv=64, d_ff=1280, num_layers=5, num_heads=8,
                                                      feed_forward_proj="gated-gelu", tie_word_embeddings=False, use_cache=False,
                                                      decoder_start_token_id=0))

    def forward(self, tokens):
        return self.t5(input_ids=tokens[:, :256], decoder_input_ids=tokens[:, 256:]).logits


def numbers_and_indices():
    return torch.randn(8192, 13, device="cuda"), torch.randint(2000, (8192, 20), device="cuda")


# The model, its batch, and the number of classes or the loss.
MORE_MODELS = {
    "conformer": (Conformer, lambda: torch.randn(8, 640, 80, device="cuda"), align),
    "diffusion": (Diffusion, lambda: (torch.randn(8, 3, 64, 64, device="cuda"), torch.rand(8, device="cuda")),
                  lambda outputs: outputs.square().mean()),
    "stacked": (StackedMoe, lambda: torch.randint(16000, (4, 512), device="cuda"), 16000),
    "dlrm": (Dlrm, numbers_and_indices, clicks),
    "tied": (TiedTexts, lambda: torch.randint(30000, (8, 128), device="cuda"), 30000),
    "scan": (StateSpace, lambda: torch.randint(12000, (4, 512), device="cuda"), 12000),
    "gated": (Gated, lambda: torch.randint(16000, (8, 384), device="cuda"), 16000),
}
