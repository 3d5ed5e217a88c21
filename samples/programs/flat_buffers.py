"""Weights in one flat buffer of 16 bits, gradients in one of 32, and half of the masters, as a rank of Megatron has.

flat-buffers: --gpu 4GiB --steps 0 -- flat_buffers.py
"""
import torch
import truth
from blocks import Decoder, next_token_loss, tokens

RANKS, UNIT = 2, 64

model = Decoder(layers=2).cuda().bfloat16()
parameters = list(model.parameters())
truth.parameters(*parameters)
count = sum(weight.numel() for weight in parameters)
count += -count % (RANKS * UNIT)
weights = torch.empty(count, dtype=torch.bfloat16, device="cuda")
gradients = torch.zeros(count, dtype=torch.float32, device="cuda")
truth.note("parameter", weights)
truth.note("gradient", gradients)


def add_to_buffer(weight):
    weight.main_grad.add_(weight.grad)
    weight.grad = None


at = count
for weight in parameters:
    at -= weight.numel()
    view = weights[at:at + weight.numel()].view(weight.shape)
    view.copy_(weight.data)
    weight.data = view
    weight.main_grad = gradients[at:at + weight.numel()].view(weight.shape)
    weight.register_post_accumulate_grad_hook(add_to_buffer)
del view
part = count // RANKS
masters = weights[:part].float().requires_grad_()
truth.note("parameter|optimizer_state", masters)
optimizer = torch.optim.AdamW([masters], lr=1e-4)
truth.optimizer(optimizer)
for _ in range(4):
    for _ in range(2):
        truth.phase("data")
        batch = tokens(batch=2)
        truth.batch(batch)
        truth.phase("forward")
        with truth.saving():
            loss = next_token_loss(model(batch), batch)
        truth.phase("backward")
        loss.backward()
        del loss
    truth.phase("optimizer_step")
    masters.grad = gradients[:part]
    optimizer.step()
    masters.grad = None
    weights[:part].copy_(masters.detach())
    gradients.zero_()
