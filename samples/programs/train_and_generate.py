"""Training with a sample of text generated after every step.

train-and-generate: --gpu 4GiB --steps 4 -- train_and_generate.py
"""
import torch
import truth
from blocks import Decoder, next_token_loss, tokens

model = Decoder(layers=2).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
truth.model(model)
truth.optimizer(optimizer)


@torch.no_grad()
def sample(prompt, length):
    caches = [[] for _ in model.blocks]
    for _ in range(length):
        prompt = model(prompt, caches)[:, -1:].argmax(-1)
        truth.note("kv_cache", caches)
    return prompt


while True:
    truth.phase("data")
    batch = tokens()
    truth.batch(batch)
    truth.phase("forward")
    with truth.saving():
        loss = next_token_loss(model(batch), batch)
    truth.phase("backward")
    loss.backward()
    truth.phase("eval")
    model.eval()
    sample(batch[:2, :64], 6)
    model.train()
    truth.phase("optimizer_step")
    optimizer.step()
    optimizer.zero_grad()
