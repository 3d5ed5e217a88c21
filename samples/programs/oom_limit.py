"""Out of memory at a limit that the program sets itself, with most of the GPU free.

oom-limit: --gpu 4GiB --steps 0 -- oom_limit.py
"""
import torch
import truth
from blocks import Decoder, next_token_loss, tokens

torch.cuda.set_per_process_memory_fraction(0.1)
model = Decoder().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
truth.model(model)
truth.optimizer(optimizer)
for size in (4, 4, 32):
    truth.phase("data")
    batch = tokens(batch=size)
    truth.batch(batch)
    truth.phase("forward")
    with truth.saving():
        loss = next_token_loss(model(batch), batch)
    truth.phase("backward")
    loss.backward()
    truth.phase("optimizer_step")
    optimizer.step()
    optimizer.zero_grad()
