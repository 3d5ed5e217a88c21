"""Beam search of an encoder and a decoder: caches grow at each token, and are reordered with those of the prompt.

beam-search: --gpu 4GiB --steps 0 -- beam_search.py
"""
import torch
import truth
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

WIDTH, HEADS, BEAMS = 256, 4, 4


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))

    def split(self, x):
        return x.unflatten(-1, (HEADS, -1)).transpose(1, 2)

    def forward(self, x, source=None, cache=None):
        """cache: a list of keys and values so far. With a source, these are made once."""
        query = self.split(self.query(x))
        if source is None or not cache:
            source = x if source is None else source
            key, value = self.split(self.key(source)), self.split(self.value(source))
            if cache:
                key, value = torch.cat((cache[0], key), -2), torch.cat((cache[1], value), -2)
            if cache is not None:
                cache[:] = key.contiguous(), value.contiguous()
                truth.note("kv_cache", cache)
        if cache:
            key, value = cache
        return self.out(scaled_dot_product_attention(query, key, value).transpose(1, 2).flatten(2))


class Layer(nn.Module):
    def __init__(self, crosses):
        super().__init__()
        self.norm1, self.norm2, self.norm3 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention, self.cross = Attention(), Attention() if crosses else None
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x, source=None, caches=(None, None)):
        x = x + self.attention(self.norm1(x), cache=caches[0])
        if self.cross:
            x = x + self.cross(self.norm2(x), source, caches[1])
        return x + self.mlp(self.norm3(x))


class Model(nn.Module):
    def __init__(self, vocabulary=4096, layers=3):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, WIDTH)
        self.encoder = nn.ModuleList(Layer(False) for _ in range(layers))
        self.decoder = nn.ModuleList(Layer(True) for _ in range(layers))
        self.head = nn.Linear(WIDTH, vocabulary, bias=False)

    def encode(self, tokens):
        x = self.embedding(tokens)
        for layer in self.encoder:
            x = layer(x)
        return x

    def forward(self, tokens, source, caches):
        x = self.embedding(tokens)
        for layer, pair in zip(self.decoder, caches):
            x = layer(x, source, pair)
        return self.head(x[:, -1])


model = Model().to("cuda", torch.bfloat16).eval()
truth.model(model)


@torch.no_grad()
def search(prompts, length):
    source = model.encode(prompts).repeat_interleave(BEAMS, 0)
    caches = [([], []) for _ in model.decoder]
    last = torch.zeros(len(source), 1, dtype=torch.long, device="cuda")
    scores = torch.zeros(len(prompts), BEAMS, device="cuda")
    for _ in range(length):
        logits = model(last, source, caches).log_softmax(-1).float()
        both = (logits.view(len(prompts), BEAMS, -1) + scores[..., None]).flatten(1)
        scores, best = both.topk(BEAMS)
        rows = (best // 4096 + BEAMS * torch.arange(len(prompts), device="cuda")[:, None]).flatten()
        last = (best % 4096).view(-1, 1)
        for pair in caches:
            for cache in pair:
                for i, tensor in enumerate(cache):
                    cache[i] = tensor.index_select(0, rows)
                truth.note("kv_cache", cache)
    return last


for _ in range(2):
    truth.phase("data")
    prompts = torch.randint(4096, (4, 256)).cuda()
    truth.batch(prompts)
    truth.phase("eval")
    search(prompts, 16)
