"""An optimizer for each parameter, which steps and frees the gradient as soon as it is complete.

step-in-backward: --gpu 4GiB --steps 4 -- step_in_backward.py
"""
import torch
import truth
from blocks import Decoder, next_token_loss, tokens

model = Decoder().cuda()
truth.model(model)
optimizers = {parameter: torch.optim.Adam([parameter], lr=3e-4) for parameter in model.parameters()}
truth.optimizer(*optimizers.values())


def step(parameter):
    optimizers[parameter].step()
    optimizers[parameter].zero_grad()


for parameter in optimizers:
    parameter.register_post_accumulate_grad_hook(step)
while True:
    truth.phase("data")
    batch = tokens()
    truth.batch(batch)
    truth.phase("forward")
    with truth.saving():
        loss = next_token_loss(model(batch), batch)
    truth.phase("backward")
    loss.backward()
