"""Small training programs for bench/dryrun: programs.py NAME [SIZE]. SIZE scales the batch."""
import sys

import torch
from torch import nn
from torch.nn import functional as F

SIZE = int(sys.argv[2]) if len(sys.argv) > 2 else 0
DEVICE = "cuda"


def train(model, batch, optimizer=None, steps=4, loss=lambda out: out.float().sum(), **more):
    """batch() makes the inputs of a step."""
    model = model.to(DEVICE)
    optimizer = optimizer or torch.optim.AdamW(model.parameters(), **more)
    for _ in range(steps):
        loss(model(*batch())).backward()
        optimizer.step()
        optimizer.zero_grad()


def noise(*shape, **more):
    return torch.randn(*shape, device=DEVICE, **more)


def tokens(batch, length=256, words=8192):
    return torch.zeros(batch, length, dtype=torch.long, device=DEVICE)


def mlp(width=2048, layers=4):
    return nn.Sequential(*[piece for _ in range(layers) for piece in (nn.Linear(width, width), nn.ReLU())])


def convolutions():
    return nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Conv2d(64, 128, 3, padding=1), nn.BatchNorm2d(128), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
                         nn.Flatten(), nn.Linear(128, 10))


class Block(nn.Module):
    def __init__(self, width=512, heads=8):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        parts = self.qkv(self.norms[0](x)).chunk(3, 2)
        q, k, v = (part.unflatten(2, (self.heads, -1)).transpose(1, 2) for part in parts)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
        return x + self.mlp(self.norms[1](x))


class Decoder(nn.Module):
    def __init__(self, layers=6, width=512, words=8192, checkpointed=False):
        super().__init__()
        self.words, self.head = nn.Embedding(words, width), nn.Linear(width, words)
        self.blocks = nn.ModuleList([Block(width) for _ in range(layers)])
        self.checkpointed = checkpointed

    def forward(self, ids):
        from torch.utils.checkpoint import checkpoint
        x = self.words(ids)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.checkpointed else block(x)
        return F.cross_entropy(self.head(x).flatten(0, 1), ids.flatten())


def mlp_adamw():
    train(mlp(), lambda: (noise(SIZE or 512, 2048),))


def mlp_sgd():
    model = mlp().to(DEVICE)
    train(model, lambda: (noise(SIZE or 512, 2048),), torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9))


def mlp_fused():
    train(mlp(), lambda: (noise(SIZE or 512, 2048),), fused=True)


def mlp_one_by_one():
    train(mlp(), lambda: (noise(SIZE or 512, 2048),), foreach=False)


def convnet():
    train(convolutions(), lambda: (noise(SIZE or 64, 3, 64, 64),))


def resnet50():
    from torchvision.models import resnet50
    model = resnet50().to(DEVICE)
    train(model, lambda: (noise(SIZE or 8, 3, 224, 224),), torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9))


def vit():
    from torchvision.models import vit_b_32
    train(vit_b_32(), lambda: (noise(SIZE or 8, 3, 224, 224),))


def decoder():
    train(Decoder(), lambda: (tokens(SIZE or 8),))


def decoder_checkpointed():
    train(Decoder(checkpointed=True), lambda: (tokens(SIZE or 8),))


def decoder_bf16():
    model = Decoder().to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(4):
        with torch.autocast("cuda", torch.bfloat16):
            loss = model(tokens(SIZE or 8))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def decoder_fp16_scaled():
    model = Decoder().to(DEVICE)
    optimizer, scaler = torch.optim.AdamW(model.parameters()), torch.amp.GradScaler("cuda")
    for _ in range(4):
        with torch.autocast("cuda", torch.float16):
            loss = model(tokens(SIZE or 8))
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()


def accumulation():
    model = Decoder(layers=3).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(4):
        for _ in range(3):
            model(tokens(SIZE or 4)).backward()
        optimizer.step()
        optimizer.zero_grad()


def kept_gradients():
    model = mlp().to(DEVICE)
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(4):
        model(noise(SIZE or 512, 2048)).sum().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)


def step_in_backward():
    model = mlp(layers=8).to(DEVICE)
    optimizers = {parameter: torch.optim.Adam([parameter]) for parameter in model.parameters()}

    def step(parameter):
        optimizers[parameter].step()
        optimizers[parameter].zero_grad()

    for parameter in model.parameters():
        parameter.register_post_accumulate_grad_hook(step)
    for _ in range(4):
        model(noise(SIZE or 512, 2048)).sum().backward()


def gan():
    maker, judge = mlp(1024, 3).to(DEVICE), mlp(1024, 3).to(DEVICE)
    optimizers = [torch.optim.Adam(model.parameters()) for model in (maker, judge)]
    for _ in range(4):
        fake = maker(noise(SIZE or 512, 1024))
        (judge(noise(SIZE or 512, 1024)) - judge(fake.detach())).sum().backward()
        optimizers[1].step()
        optimizers[1].zero_grad()
        judge(fake).sum().backward()
        optimizers[0].step()
        optimizers[0].zero_grad()


def lora():
    model = Decoder().to(DEVICE).requires_grad_(False)
    downs = nn.ParameterList([nn.Parameter(torch.zeros(512, 8, device=DEVICE)) for _ in model.blocks])
    for block, down in zip(model.blocks, downs):
        block.register_forward_hook(lambda module, inputs, out, down=down: out + out @ down @ down.t())
    train(model, lambda: (tokens(SIZE or 8),), torch.optim.AdamW(downs.parameters()))


def moving_average():
    import copy
    model = mlp().to(DEVICE)
    average = copy.deepcopy(model)
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(4):
        model(noise(SIZE or 512, 2048)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        with torch.no_grad():
            for old, new in zip(average.parameters(), model.parameters()):
                old.lerp_(new, 0.01)


def lstm():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = nn.LSTM(256, 512, 2, batch_first=True)

        def forward(self, x):
            return self.lstm(x)[0]
    train(Model(), lambda: (noise(SIZE or 32, 64, 256),))


def embeddings():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.tables = nn.ModuleList([nn.EmbeddingBag(50000, 64) for _ in range(8)])
            self.top = mlp(512, 2)

        def forward(self, ids):
            return self.top(torch.cat([table(ids) for table in self.tables], 1))
    train(Model(), lambda: (torch.zeros(SIZE or 1024, 4, dtype=torch.long, device=DEVICE),))


def generation():
    """Inference with a key-value cache that grows by concatenation."""
    model = Decoder(layers=2).to(DEVICE).requires_grad_(False)
    caches = [noise(SIZE or 16, 8, 1, 64) for _ in range(8)]
    for _ in range(200):
        model.head(model.words(tokens(SIZE or 16, 1)))
        caches = [torch.cat([cache, noise(SIZE or 16, 8, 1, 64)], 2) for cache in caches]


def two_streams():
    side, model = torch.cuda.Stream(), mlp().to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(4):
        with torch.cuda.stream(side):
            x = noise(SIZE or 512, 2048)
        torch.cuda.current_stream().wait_stream(side)
        model(x).sum().backward()
        x.record_stream(torch.cuda.current_stream())
        optimizer.step()
        optimizer.zero_grad()


def graph():
    model, x = mlp().to(DEVICE), noise(SIZE or 512, 2048)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        model(x).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        model(x).sum()
    captured.replay()


class Pictures(torch.utils.data.Dataset):
    def __len__(self):
        return 6 * (SIZE or 64)

    def __getitem__(self, index):
        return torch.randn(3, 64, 64), index % 10


def loader():
    """Worker processes, pinned memory, channels last, and scaled gradients that are clipped."""
    batches = torch.utils.data.DataLoader(Pictures(), SIZE or 64, num_workers=2, pin_memory=True)
    model = convolutions().to(DEVICE, memory_format=torch.channels_last)
    optimizer, scaler = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), torch.amp.GradScaler("cuda")
    for x, labels in batches:
        with torch.autocast("cuda", torch.float16):
            out = model(x.to(DEVICE, non_blocking=True, memory_format=torch.channels_last))
            loss = F.cross_entropy(out, labels.to(DEVICE, non_blocking=True))
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()


def packed_sequences():
    rnn = nn.GRU(64, 256, 2, batch_first=True, bidirectional=True).to(DEVICE)
    optimizer, count = torch.optim.Adam(rnn.parameters()), SIZE or 16
    for _ in range(4):
        packed = nn.utils.rnn.pack_padded_sequence(noise(count, 50, 64), torch.arange(50, 50 - count, -1), batch_first=True)
        nn.utils.rnn.pad_packed_sequence(rnn(packed)[0])[0].sum().backward()
        optimizer.step()
        optimizer.zero_grad()


def sparse_gradients():
    table, top = nn.Embedding(200000, 64, sparse=True).to(DEVICE), mlp(64, 2).to(DEVICE)
    optimizers = [torch.optim.SparseAdam(table.parameters()), torch.optim.Adagrad(top.parameters())]
    for _ in range(4):
        top(table(torch.randint(0, 200000, (SIZE or 4096,), device=DEVICE))).sum().backward()
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()


def offloaded():
    model = mlp().to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(4):
        with torch.autograd.graph.save_on_cpu(pin_memory=True):
            loss = model(noise(SIZE or 2048, 2048)).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def lbfgs():
    model, x = mlp(512, 2).to(DEVICE), noise(SIZE or 128, 512)
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=5, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = model(x).pow(2).sum()
        loss.backward()
        return loss

    for _ in range(4):
        optimizer.step(closure)


def selections():
    """What is selected by values has no elements."""
    model = mlp(1024).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(4):
        y = model(noise(SIZE or 512, 1024))
        y[(y > 0).nonzero()[:, 0]].sum().item()
        torch.unique(torch.randint(0, 9, (1000,), device=DEVICE), return_inverse=True)
        (y.sum() + y.masked_select(y > 0).sum()).backward()
        optimizer.step()
        optimizer.zero_grad()


def threads():
    import threading

    def work():
        with torch.cuda.stream(torch.cuda.Stream()):
            mlp(512, 2).to(DEVICE)(noise(256, 512)).sum().backward()

    running = [threading.Thread(target=work) for _ in range(2)]
    for thread in running:
        thread.start()
        thread.join()
    mlp_adamw()


ALL = (mlp_adamw, mlp_sgd, mlp_fused, mlp_one_by_one, convnet, resnet50, vit, decoder, decoder_checkpointed,
       decoder_bf16, decoder_fp16_scaled, accumulation, kept_gradients, step_in_backward, gan, lora, moving_average, lstm, embeddings,
       generation, two_streams, graph, loader, packed_sequences, sparse_gradients, offloaded, lbfgs, selections,
       threads)

if __name__ == "__main__":
    if len(sys.argv) > 3:
        DEVICE = sys.argv[3]
    globals()[sys.argv[1]]()
