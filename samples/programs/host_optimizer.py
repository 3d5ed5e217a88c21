"""Adam on the host: gradients go there one by one in hooks, weights come back after the step.

host-optimizer: --gpu 4GiB --steps 0 -- host_optimizer.py
"""
import torch
import truth
from blocks import Decoder, next_token_loss, tokens

model = Decoder(width=384, layers=4).cuda().bfloat16()
truth.model(model)
masters = {p: torch.nn.Parameter(p.detach().float().cpu()) for p in model.parameters()}
optimizer = torch.optim.Adam(masters.values(), 1e-4)


def away(p):
    masters[p].grad = p.grad.float().cpu()
    p.grad = None


for p in masters:
    p.register_post_accumulate_grad_hook(away)
for _ in range(3):
    truth.phase("data")
    ids = tokens(6)
    truth.batch(ids)
    truth.phase("forward")
    with truth.saving():
        loss = next_token_loss(model(ids), ids)
    truth.phase("backward")
    loss.backward()
    truth.phase("optimizer_step")
    optimizer.step()
    optimizer.zero_grad()
    with torch.no_grad():
        for p, m in masters.items():
            p.copy_(m)
