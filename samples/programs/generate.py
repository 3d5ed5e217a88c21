"""Generation with a cache of keys and values that grows by torch.cat at each token.

generate: --gpu 4GiB --steps 0 -- generate.py
"""
import torch
import truth
from blocks import Decoder, tokens

model = Decoder(layers=2).to("cuda", torch.bfloat16).eval()
truth.model(model)
truth.phase("eval")
caches = [[] for _ in model.blocks]
truth.watch("kv_cache", lambda: caches)
with torch.inference_mode():
    last = tokens(batch=8, length=512)
    truth.batch(last)
    for _ in range(24):
        last = model(last, caches)[:, -1:].argmax(-1)
        truth.note("kv_cache", caches)
