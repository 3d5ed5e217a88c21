"""Adam by hand in hooks: each weight is updated and its gradient dropped as soon as that is there.

hook-updates: --gpu 4GiB --steps 0 -- hook_updates.py
"""
import torch
import truth
from blocks import Decoder, next_token_loss, tokens

model = Decoder(layers=2).to("cuda", torch.bfloat16)
truth.model(model)
states = {}
truth.watch("optimizer_state", lambda: states)


@torch.no_grad()
def update(weight):
    if weight not in states:
        states[weight] = torch.zeros_like(weight), torch.zeros_like(weight)
        truth.note("optimizer_state", states[weight])
    mean, square = states[weight]
    mean.lerp_(weight.grad, 0.1)
    square.mul_(0.99).addcmul_(weight.grad, weight.grad, value=0.01)
    weight.addcdiv_(mean, square.sqrt() + 1e-8, value=-1e-4)
    weight.grad = None


for parameter in model.parameters():
    parameter.register_post_accumulate_grad_hook(update)
for _ in range(4):
    truth.phase("data")
    batch = tokens()
    truth.batch(batch)
    truth.phase("forward")
    with truth.saving():
        loss = next_token_loss(model(batch), batch)
    truth.phase("backward")
    loss.backward()
