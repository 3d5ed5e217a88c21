"""A small decoder learns from a larger one, which runs under torch.no_grad().

distillation: --gpu 4GiB --steps 4 -- distillation.py
"""
import torch
import truth
from blocks import Decoder, tokens
from torch.nn.functional import kl_div, log_softmax, softmax

teacher = Decoder(layers=4, width=512).to("cuda", torch.bfloat16).eval().requires_grad_(False)
student = Decoder(layers=2).cuda()
optimizer = torch.optim.AdamW(student.parameters(), lr=3e-4)
truth.model(teacher, student)
truth.optimizer(optimizer)
while True:
    truth.phase("data")
    batch = tokens()
    truth.batch(batch)
    truth.phase("forward")
    with torch.no_grad():
        wanted = softmax(teacher(batch).float() / 2, -1)
    with truth.saving():
        loss = kl_div(log_softmax(student(batch) / 2, -1), wanted, reduction="batchmean")
    truth.phase("backward")
    loss.backward()
    truth.phase("optimizer_step")
    optimizer.step()
    optimizer.zero_grad()
