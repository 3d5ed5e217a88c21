"""A language model that carries the state of its LSTM, detached, from one piece of a text to the next.

truncated-bptt: --gpu 4GiB --steps 6 -- truncated_bptt.py
"""
import torch
import truth
from torch import nn
from torch.nn.functional import cross_entropy

embedding, lstm, head = nn.Embedding(512, 256).cuda(), nn.LSTM(256, 512, 2, batch_first=True).cuda(), nn.Linear(512, 512).cuda()
weights = [*embedding.parameters(), *lstm.parameters(), *head.parameters()]
optimizer = torch.optim.Adagrad(weights, lr=1e-2)
truth.model(embedding, lstm, head)
truth.optimizer(optimizer)
state = None
while True:
    truth.phase("data")
    text = torch.randint(512, (16, 65), device="cuda")
    truth.batch(text)
    truth.phase("forward")
    with truth.saving():
        outputs, state = lstm(embedding(text[:, :-1]), state)
        loss = cross_entropy(head(outputs).flatten(0, 1), text[:, 1:].flatten())
    truth.note("activation", state)
    state = tuple(part.detach() for part in state)
    truth.phase("backward")
    loss.backward()
    truth.phase("optimizer_step")
    torch.nn.utils.clip_grad_norm_(weights, 0.25)
    optimizer.step()
    optimizer.zero_grad()
