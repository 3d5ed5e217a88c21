"""A bfloat16 model with float32 master copies; four batches a step add up in float32 gradients.

accumulated-masters: --gpu 4GiB --steps 3 -- accumulated_masters.py
"""
import torch
import truth
from blocks import Decoder, next_token_loss, tokens

model = Decoder(layers=2).to("cuda", torch.bfloat16)
masters = [parameter.detach().float().clone().requires_grad_() for parameter in model.parameters()]
optimizer = torch.optim.AdamW(masters, lr=3e-4)
truth.model(model)
truth.parameters(*masters)
truth.optimizer(optimizer)
while True:
    for _ in range(4):
        truth.phase("data")
        batch = tokens(batch=2)
        truth.batch(batch)
        truth.phase("forward")
        with truth.saving():
            loss = next_token_loss(model(batch).float(), batch) / 4
        truth.phase("backward")
        loss.backward()
        truth.phase("other")
        for parameter, master in zip(model.parameters(), masters):
            if master.grad is None:
                master.grad = parameter.grad.float()
            else:
                master.grad += parameter.grad
            parameter.grad = None
    truth.phase("optimizer_step")
    optimizer.step()
    optimizer.zero_grad()
    with torch.no_grad():
        for parameter, master in zip(model.parameters(), masters):
            parameter.copy_(master)
