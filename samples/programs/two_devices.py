"""A model in two halves, each on a GPU of its own. The second half, with the logits, needs more memory.

two-gpus: --gpu 4GiB --devices 2 --steps 4 -- two_devices.py
"""
import torch
import truth
from blocks import Decoder, next_token_loss, tokens

model = Decoder(layers=4)
model.embedding.to("cuda:0")
model.blocks[:2].to("cuda:0")
model.blocks[2:].to("cuda:1")
model.norm.to("cuda:1")
model.head.to("cuda:1")
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
truth.model(model)
truth.optimizer(optimizer)


def forward(batch):
    x = model.embedding(batch)
    for block in model.blocks[:2]:
        x = block(x)
    x = x.to("cuda:1")
    for block in model.blocks[2:]:
        x = block(x)
    return model.head(model.norm(x))


while True:
    truth.phase("data")
    batch = tokens()
    targets = batch.to("cuda:1")
    truth.batch(batch, targets)
    truth.phase("forward")
    with truth.saving():
        loss = next_token_loss(forward(batch), targets)
    truth.phase("backward")
    loss.backward()
    truth.phase("optimizer_step")
    optimizer.step()
    optimizer.zero_grad()
