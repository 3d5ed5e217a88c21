"""A program that ends in some way while its layers are recorded: ends.py HOW FILE"""
import os
import signal
import sys

import memsnap_record
import torch

how, path = sys.argv[1:]
model = torch.nn.Sequential(*(torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.GELU()) for _ in range(3)))
optimizer = torch.optim.SGD(model.parameters(), 0.1)
outer = signal.signal(signal.SIGTERM, lambda *_given: os._exit(4)) if how == "handler" else None




def step():
    model(torch.randn(4, 8)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()


with memsnap_record.layers(model, path):
    os.makedirs("elsewhere", exist_ok=True)
    os.chdir("elsewhere")
    if how == "unsaved":  # there is no complete step yet
        model(torch.randn(4, 8)).sum().backward()
    elif how == "midway":
        model[2].register_forward_hook(lambda *_given: os.kill(os.getpid(), signal.SIGTERM))
        model(torch.randn(4, 8))
    else:
        step()
        step()
    if how == "leaves":
        os._exit(3)
    if how == "child":
        os.remove(path := os.path.join("..", os.path.basename(path)))
        child = os.fork()
        if child == 0:
            os.kill(os.getpid(), signal.SIGTERM)
        assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGTERM
        os._exit(os.path.exists(path))
    if how != "done":
        os.kill(os.getpid(), signal.SIGTERM)
assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
