"""Trains a model on one device or sharded: program.py MODEL OPTIMIZER [--plan FILE | --layers FILE]

A plan is the Python that memsnap shard prints. --layers records the model's layers with memsnap_record.
"""
import argparse
import contextlib
import importlib.util
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    def __init__(self, width, heads, bias):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=bias)
        self.out = nn.Linear(width, width, bias=bias)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


class GptBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, 8, True)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Gpt(nn.Module):
    def __init__(self, words=16000, width=512, depth=8, length=512):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(GptBlock(width) for _ in range(depth))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.words.weight

    def forward(self, tokens):
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


class LlamaBlock(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.norm1, self.norm2 = RmsNorm(width), RmsNorm(width)
        self.attention = Attention(width, 8, False)
        self.gate, self.up = nn.Linear(width, hidden, bias=False), nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    def __init__(self, words=16000, width=768, hidden=2048, depth=6):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.layers = nn.ModuleList(LlamaBlock(width, hidden) for _ in range(depth))
        self.norm = RmsNorm(width)
        self.head = nn.Linear(width, words, bias=False)

    def forward(self, tokens):
        x = self.words(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


def unbalanced_mlp():
    """One layer has most of the parameters."""
    return nn.Sequential(nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 24000), nn.ReLU(), nn.Linear(24000, 512),
                         nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 1000))


def make_model(name):
    if name == "resnet50":
        import torchvision
        return torchvision.models.resnet50(), lambda: torch.randn(16, 3, 224, 224, device="cuda"), 1000
    if name == "mlp":
        return unbalanced_mlp(), lambda: torch.randn(2048, 1024, device="cuda"), 1000
    model = Gpt() if name == "gpt" else Llama()
    return model, lambda: torch.randint(16000, (4, 512), device="cuda"), 16000


def plain(model, lr, optimizer):
    if optimizer == "adam":
        return model, torch.optim.Adam(model.parameters(), lr=lr)
    return model, torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)


def load(path):
    spec = importlib.util.spec_from_file_location("plan", path)
    plan = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(plan)
    return plan


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", choices=("resnet50", "gpt", "llama", "mlp"))
    parser.add_argument("optimizer", choices=("adam", "momentum"))
    parser.add_argument("--plan")
    parser.add_argument("--layers")
    options = parser.parse_args()
    torch.manual_seed(0)
    model, batch, classes = make_model(options.model)
    if options.plan:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        dist.init_process_group("nccl")
    model = model.cuda()
    recording = contextlib.nullcontext()
    if options.plan:
        model, optimizer = load(options.plan).shard(model, 1e-3)
    else:
        model, optimizer = plain(model, 1e-3, options.optimizer)
    if options.layers:
        import memsnap_record
        recording = memsnap_record.layers(model, options.layers, warmup=1)
    with recording:
        for _ in range(3):
            inputs = batch()
            outputs = model(inputs)
            labels = torch.zeros(outputs.shape[:-1], dtype=torch.long, device="cuda")
            loss = F.cross_entropy(outputs.view(-1, classes), labels.view(-1))
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()


main()
