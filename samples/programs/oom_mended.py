"""The program of oom_shortage.py with a plan of memsnap suggest: all batches fit.

oom-mended: --gpu 2500MiB --steps 0 -- oom_mended.py
"""
import sys
from pathlib import Path

import torch
import truth
from blocks import Decoder, next_token_loss, tokens

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "share/record"))
import memsnap_record  # noqa: E402

model = Decoder(vocabulary=8192).cuda()
memsnap_record.apply(model, HERE / "oom_mended.plan.json")
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
truth.model(model)
truth.optimizer(optimizer)
for length in (256, 256, 2048):
    truth.phase("data")
    batch = tokens(batch=8, length=length, vocabulary=8192)
    truth.batch(batch)
    truth.phase("forward")
    loss = next_token_loss(model(batch), batch)
    truth.phase("backward")
    loss.backward()
    truth.phase("optimizer_step")
    optimizer.step()
    optimizer.zero_grad()
