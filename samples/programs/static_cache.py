"""Generation with a cache of fixed size for each layer, batches of different lengths; those of batches that are done stay.

static-cache: --gpu 4GiB --steps 0 -- static_cache.py
"""
import torch
import truth
from blocks import Decoder, rotated
from torch.nn.functional import scaled_dot_product_attention

model = Decoder(layers=2).cuda().eval()
truth.model(model)
LONGEST = 512


def attend(self, x, cache=None):
    start = cache[2]
    end = start + x.shape[1]
    query, key = rotated(self.split(self.query(x)), start), rotated(self.split(self.key(x)), start)
    cache[0][:, :, start:end], cache[1][:, :, start:end] = key, self.split(self.value(x))
    cache[2] = end
    mixed = scaled_dot_product_attention(query, cache[0][:, :, :end], cache[1][:, :, :end], is_causal=x.shape[1] > 1, enable_gqa=True)
    return self.out(mixed.transpose(1, 2).flatten(2))


kept = []
with torch.inference_mode():
    for batch, length in ((4, 96), (8, 40), (2, 200), (6, 64)):
        truth.phase("data")
        prompt = torch.randint(4096, (batch, length)).cuda()
        truth.batch(prompt)
        truth.phase("eval")
        caches = []
        for block in model.blocks:
            block.attention.forward = attend.__get__(block.attention)
            caches.append([torch.zeros(batch, 2, LONGEST, 32, device="cuda") for _ in range(2)] + [0])
        truth.note("kv_cache", [cache[:2] for cache in caches])
        new, out = prompt, [prompt]
        for _ in range(7):
            logits = model(new, caches)[:, -1]
            new = logits.argmax(-1, keepdim=True)
            out.append(new)
        kept.append(caches)
        answer = torch.cat(out, 1).cpu()
