"""Speech: an LSTM and a GRU, whose weights cuDNN keeps in one block each, and a joint of four dimensions.

transducer: --gpu 4GiB --steps 4 -- transducer.py
"""
import torch
import truth
from torch import nn

encoder = nn.LSTM(80, 320, 2, batch_first=True, bidirectional=True).cuda()
predictor, embedding = nn.GRU(128, 320, batch_first=True).cuda(), nn.Embedding(128, 128).cuda()
heard, said, out = nn.Linear(640, 320).cuda(), nn.Linear(320, 320).cuda(), nn.Linear(320, 128).cuda()
parts = nn.ModuleList((encoder, predictor, embedding, heard, said, out))
truth.model(parts)
optimizer = torch.optim.AdamW(parts.parameters(), lr=1e-4)
truth.optimizer(optimizer)
while True:
    truth.phase("data")
    sound, text = torch.randn(4, 200, 80).cuda(), torch.randint(1, 128, (4, 30)).cuda()
    truth.batch(sound, text)
    truth.phase("forward")
    with truth.saving():
        joint = heard(encoder(sound)[0])[:, :, None] + said(predictor(embedding(text))[0])[:, None]
        chances = out(joint.tanh()).log_softmax(-1)
        loss = -chances[..., 0].mean() - chances[:, :, :, 1:].mean()
    truth.phase("backward")
    loss.backward()
    truth.phase("optimizer_step")
    nn.utils.clip_grad_value_(parts.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
