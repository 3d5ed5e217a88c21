"""Out of memory: the sequences of the third batch are eight times as long.

oom-batch: --gpu 1856MiB --steps 0 -- oom_shortage.py
oom-long: --gpu 2500MiB --steps 0 -- oom_shortage.py
oom-other-process: --gpu 4GiB --other-use 2752MiB --steps 0 -- oom_shortage.py
"""
import torch
import truth
from blocks import Decoder, next_token_loss, tokens

model = Decoder(vocabulary=8192).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
truth.model(model)
truth.optimizer(optimizer)
for length in (256, 256, 2048):
    truth.phase("data")
    batch = tokens(batch=8, length=length, vocabulary=8192)
    truth.batch(batch)
    truth.phase("forward")
    with truth.saving():
        loss = next_token_loss(model(batch), batch)
    truth.phase("backward")
    loss.backward()
    truth.phase("optimizer_step")
    optimizer.step()
    optimizer.zero_grad()
