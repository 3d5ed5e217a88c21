"""A training program that knows nothing of the recorder, and runs out of memory at the end: train.py STEPS"""
import sys

import program_model
import torch

model = program_model.Model().cuda()
optimizer = torch.optim.AdamW(model.parameters())
tokens = torch.zeros(8, 32, dtype=torch.long, device="cuda")
for step in range(int(sys.argv[1])):
    loss = torch.nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
print(sys.argv[1], "steps", flush=True)
try:
    torch.empty(1 << 40, dtype=torch.uint8, device="cuda")
except torch.cuda.OutOfMemoryError:
    pass
