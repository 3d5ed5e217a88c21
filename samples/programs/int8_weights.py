"""Text generated with weights of int8, which the program makes on the device; it calls each layer and keeps its cache.

int8-weights: --gpu 4GiB --steps 0 -- int8_weights.py
"""
import torch
import truth
from torch import nn
from torch.nn.functional import gelu, scaled_dot_product_attention

WIDTH, HEADS, LAYERS = 256, 4, 4


class Int8Linear(nn.Module):
    def __init__(self, linear):
        super().__init__()
        weight = linear.weight.data.cuda().half()
        scale = weight.abs().amax(1, keepdim=True).float() / 127
        self.register_buffer("weight", (weight / scale).round().to(torch.int8))
        self.register_buffer("scale", scale.half().t().contiguous())

    def forward(self, x):
        return x @ self.weight.t().half() * self.scale


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.between = nn.LayerNorm(WIDTH).cuda().half(), nn.LayerNorm(WIDTH).cuda().half()
        sizes = (WIDTH, 3 * WIDTH), (WIDTH, WIDTH), (WIDTH, 4 * WIDTH), (4 * WIDTH, WIDTH)
        self.qkv, self.out, self.up, self.down = (Int8Linear(nn.Linear(*size)) for size in sizes)

    def forward(self, x, past):
        q, k, v = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in self.qkv(self.before(x)).chunk(3, -1))
        if past:
            k, v = torch.cat((past[0], k), 2), torch.cat((past[1], v), 2)
        x = x + self.out(scaled_dot_product_attention(q, k, v, is_causal=not past).transpose(1, 2).flatten(2))
        return x + self.down(gelu(self.up(self.between(x)))), (k, v)


embedding, head = nn.Embedding(2048, WIDTH).cuda().half(), nn.Linear(WIDTH, 2048).cuda().half()
layers = nn.ModuleList(Layer() for _ in range(LAYERS))
truth.model(embedding, head, layers)
with torch.no_grad():
    for batch, length in ((4, 128), (8, 64), (2, 256)):
        truth.phase("data")
        ids = torch.randint(0, 2048, (batch, length)).cuda()
        truth.batch(ids)
        truth.phase("eval")
        caches, out = [None] * LAYERS, []
        for _ in range(5):
            x = embedding(ids)
            for i, layer in enumerate(layers):
                x, caches[i] = layer(x, caches[i])
                truth.note("kv_cache", caches[i])
            ids = head(x[:, -1]).argmax(-1, keepdim=True)
            out.append(ids)
        torch.cat(out, 1).cpu()
