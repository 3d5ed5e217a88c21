"""Weights in half precision that each step makes anew of masters; momentum by hand.

half-weights: --gpu 4GiB --steps 0 -- half_weights.py
"""
import torch
import truth
from blocks import Decoder, next_token_loss, tokens

model = Decoder(layers=2).cuda().half()
masters = [p.detach().clone().float() for p in model.parameters()]
momenta = [torch.zeros_like(m) for m in masters]
truth.model(model)
truth.note("optimizer_state|parameter", masters)
truth.note("optimizer_state", momenta)
for _ in range(4):
    truth.phase("data")
    ids = tokens(4)
    truth.batch(ids)
    truth.phase("forward")
    with truth.saving():
        scaled = next_token_loss(model(ids).float(), ids) * 4096
    truth.phase("backward")
    scaled.backward()
    truth.phase("optimizer_step")
    with torch.no_grad():
        for p, m, v in zip(model.parameters(), masters, momenta):
            gradient = p.grad.float() / 4096
            v.mul_(0.9).add_(gradient)
            m.add_(v, alpha=-1e-3)
            p.data = m.half()
            truth.note("parameter", p.data)
            p.grad = None
        del gradient
