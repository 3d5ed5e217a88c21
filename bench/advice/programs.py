#!/usr/bin/env python3
"""Small programs that waste memory, each also as it is after the advice of `memsnap analyze` was followed.

    programs.py NAME [FOLLOWED]

With FOLLOWED, the program does what memsnap advises about the finding of that kind."""
import copy
import gc
import sys
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils._pytree import tree_map
from torch.utils.checkpoint import checkpoint

FOLLOWED = len(sys.argv) > 2
STEPS = 6
DEVICE = "cuda"


class Attention(nn.Module):
    """Attention by hand, or by scaled_dot_product_attention()."""
    def __init__(self, width, heads, fused):
        super().__init__()
        self.heads, self.fused = heads, fused
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        if self.fused:
            y = F.scaled_dot_product_attention(q, k, v)
        else:
            scores = (q @ k.transpose(-2, -1)) * (c // self.heads) ** -0.5
            y = F.softmax(scores, dim=-1) @ v
        return self.out(y.transpose(1, 2).reshape(b, t, c))


class Block(nn.Module):
    def __init__(self, width, heads=8, fused=True):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads, fused)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Decoder(nn.Module):
    def __init__(self, width=256, depth=6, vocabulary=1000, fused=True, checkpointed=False):
        super().__init__()
        self.checkpointed = checkpointed
        self.embed = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList([Block(width, fused=fused) for _ in range(depth)])
        self.head = nn.Linear(width, vocabulary, bias=False)

    def features(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.checkpointed else block(x)
        return x

    def forward(self, tokens):
        return self.head(self.features(tokens))


class Convolutions(nn.Module):
    def __init__(self, depth=8, width=32, checkpointed=False):
        super().__init__()
        self.checkpointed = checkpointed
        self.stem = nn.Conv2d(3, width, 3, padding=1)
        self.stages = nn.ModuleList([nn.Sequential(nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width),
                                                   nn.ReLU()) for _ in range(depth)])
        self.head = nn.Linear(width, 10)

    def features(self, x):
        x = self.stem(x)
        for stage in self.stages:
            x = checkpoint(stage, x, use_reentrant=False) if self.checkpointed else stage(x)
        return x

    def forward(self, x):
        return self.head(self.features(x).mean((2, 3)))


def wide(depth=4, width=2048):
    return nn.Sequential(*[layer for _ in range(depth) for layer in (nn.Linear(width, width), nn.ReLU())])


def tokens(batch=8, length=256, vocabulary=1000):
    return torch.randint(0, vocabulary, (batch, length), device=DEVICE)


def images(batch=16, side=64):
    return torch.randn(batch, 3, side, side, device=DEVICE)


def language_loss(model, batch):
    return F.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())


def train(model, loss_of, optimizer=None, steps=STEPS, after=None):
    optimizer = optimizer or torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(steps):
        optimizer.zero_grad()
        loss = loss_of(model)
        loss.backward()
        optimizer.step()
        if after:
            after(step, model, loss)


# activations

def activations_decoder():
    train(Decoder(checkpointed=FOLLOWED).to(DEVICE), lambda m: language_loss(m, tokens()))


def activations_convolutions():
    train(Convolutions(checkpointed=FOLLOWED).to(DEVICE), lambda m: m(images()).square().mean())


# recomputed

def recomputed_model():
    """All blocks under one checkpoint, or each under its own."""
    class Blocks(nn.Sequential):
        def forward(self, x):
            if not FOLLOWED:
                return checkpoint(super().forward, x, use_reentrant=False)
            for block in self:
                x = checkpoint(block, x, use_reentrant=False)
            return x

    blocks = [nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512)) for _ in range(8)]
    train(Blocks(*blocks).to(DEVICE), lambda m: m(torch.randn(2048, 512, device=DEVICE)).square().mean())


# no_grad

def no_grad_validation():
    model = Convolutions().to(DEVICE)

    def validate(step, model, loss):
        with torch.set_grad_enabled(not FOLLOWED):
            scores = model(images(64))
            best = scores.argmax(1)
        return best

    train(model, lambda m: m(images(16)).square().mean(), after=validate)


def no_grad_teacher():
    teacher, student = Decoder(depth=8).to(DEVICE), Decoder(depth=2).to(DEVICE)

    def loss_of(model):
        batch = tokens()
        with torch.set_grad_enabled(not FOLLOWED):
            target = teacher(batch)
        return F.mse_loss(model(batch), target.detach())

    train(student, loss_of)


def no_grad_distillation():
    """A teacher whose graph a variable keeps over the backward pass of the student."""
    teacher, student = Decoder(depth=8).to(DEVICE), Decoder(depth=2).to(DEVICE)
    optimizer = torch.optim.SGD(student.parameters(), lr=0.01)
    for _ in range(STEPS):
        batch = tokens()
        with torch.set_grad_enabled(not FOLLOWED):
            target = teacher(batch).softmax(-1)
        optimizer.zero_grad()
        F.kl_div(student(batch).log_softmax(-1), target.detach()).backward()
        optimizer.step()


def no_grad_last():
    """Evaluations whose losses a list keeps with their graphs, the last one to the end of the recording."""
    model = Decoder().to(DEVICE)
    for _ in range(2):
        train(model, lambda m: language_loss(m, tokens()), steps=2)
        with torch.set_grad_enabled(not FOLLOWED):
            losses = [language_loss(model, tokens()) for _ in range(3)]
    return losses


def no_grad_inference():
    model = Decoder(depth=8).to(DEVICE).eval()
    for _ in range(STEPS):
        with torch.inference_mode(FOLLOWED):
            result = model(tokens()).argmax(-1)
            del result


# passes and steps

def unused_evaluation():
    model, step = Decoder().to(DEVICE), lambda m: language_loss(m, tokens())
    for _ in range(2):
        train(model, step, steps=3)
        with torch.no_grad():
            for _ in range(32 if FOLLOWED else 1):
                language_loss(model, tokens(8 if FOLLOWED else 256)).item()


def pass_decoder():
    """Images made of a batch of codes at once, or of a part of them at a time."""
    layers = [layer for _ in range(3) for layer in (nn.Upsample(scale_factor=2), nn.Conv2d(32, 32, 3, padding=1), nn.SiLU())]
    model = nn.Sequential(*layers, nn.Conv2d(32, 3, 1)).to(DEVICE)
    with torch.no_grad():
        for _ in range(STEPS):
            codes = torch.randn(16, 32, 32, 32, device=DEVICE)
            images = torch.cat([model(part) for part in codes.split(2)]) if FOLLOWED else model(codes)
            images = images.cpu()


def plain_ranking():
    """Items ranked for all users at once, without a model."""
    users, items = torch.randn(2048, 64, device=DEVICE), torch.randn(50000, 64, device=DEVICE)
    for part in users.split(128) if FOLLOWED else [users]:
        scores = part @ items.T
        best = scores.argsort(1, descending=True)[:, :10].cpu()
        del scores


def plain_pairs():
    """Anchors compared with boxes before each step of the training, all at once or a part at a time."""
    model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 4)).to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    anchors = torch.rand(20000, 4, device=DEVICE)

    def best(some, boxes):
        low = torch.maximum(some[:, None, :2], boxes[None, :, :2])
        high = torch.minimum(some[:, None, 2:], boxes[None, :, 2:])
        return (high - low).clamp(min=0).prod(-1).max(1).values

    for _ in range(STEPS):
        boxes = torch.rand(200, 4, device=DEVICE)
        parts = anchors.split(1000) if FOLLOWED else [anchors]
        weight = torch.cat([best(part, boxes) for part in parts])
        loss = (model(torch.randn(512, 256, device=DEVICE)).mean() * weight.mean()).square()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def generated_tokens():
    """Generation that applies the last layer to all positions, or to the last one."""
    model = Decoder(width=128, depth=2, vocabulary=20000).to(DEVICE)
    with torch.no_grad():
        batch = tokens(8, 128)
        for _ in range(STEPS):
            hidden = model.features(batch)
            logits = model.head(hidden[:, -1:]) if FOLLOWED else model.head(hidden)
            batch = torch.cat([batch, logits[:, -1:].softmax(-1).argmax(-1)], 1)


def layer_masks():
    """A mask in each layer, or one for all."""
    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.block = Block(256, 4)
            self.register_buffer("mask", torch.ones(2048, 2048))

        def forward(self, x):
            return self.block(x) * self.mask[:x.shape[1], :1]

    model = nn.Sequential(*[Layer() for _ in range(6)]).to(DEVICE)
    for layer in model if FOLLOWED else []:
        layer.mask = model[0].mask
    train(model, lambda m: m(torch.randn(8, 256, 256, device=DEVICE)).square().mean())


def resident_images():
    model = Convolutions(2).to(DEVICE)
    data = torch.randn(4096, 3, 64, 64)
    data = data.pin_memory() if FOLLOWED else data.to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(STEPS):
        batch = data[16 * step:16 * step + 16].to(DEVICE)
        train(model, lambda m: m(batch).square().mean(), optimizer, 1)


def collected_scores():
    model = Decoder().to(DEVICE)
    train(model, lambda m: language_loss(m, tokens(2)), steps=3)
    scores = []
    with torch.no_grad():
        for _ in range(24):
            scores.append(model(tokens()).cpu() if FOLLOWED else model(tokens()))
    return scores


def collected_layers():
    """Evaluation that keeps the results of every block."""
    model = Decoder().to(DEVICE)
    train(model, lambda m: language_loss(m, tokens(2)), steps=3)
    collected = []
    with torch.no_grad():
        for _ in range(24):
            x = model.embed(tokens())
            for block in model.blocks:
                x = block(x)
                collected.append(x.cpu() if FOLLOWED else x)
    return collected


def uneven_lengths():
    lengths = [256, 192, 1024, 224, 256, 160]
    optimizer, model = None, Decoder().to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for length in lengths:
        train(model, lambda m: language_loss(m, tokens(8, min(length, 224) if FOLLOWED else length)), optimizer, 1)


def summed_losses():
    """Gradients over four batches, from one backward pass or from one for each batch."""
    model = Decoder().to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(STEPS):
        total = 0
        optimizer.zero_grad()
        for _ in range(4):
            loss = language_loss(model, tokens(4)) / 4
            if FOLLOWED:
                loss.backward()
            else:
                total = total + loss
        if not FOLLOWED:
            total.backward()
        optimizer.step()


def summed_tasks():
    """Meta-learning: the loss of each task comes after steps whose gradients build a graph."""
    model = nn.Sequential(nn.Linear(64, 512), nn.Tanh(), nn.Linear(512, 512), nn.Tanh(), nn.Linear(512, 1)).to(DEVICE)
    optimizer = torch.optim.Adam(model.parameters())

    def task():
        weights = dict(model.named_parameters())
        support, query = torch.randn(2048, 64, device=DEVICE), torch.randn(8192, 64, device=DEVICE)
        for _ in range(2):
            loss = torch.func.functional_call(model, weights, (support,)).square().mean()
            slopes = torch.autograd.grad(loss, list(weights.values()), create_graph=True)
            weights = {name: weight - 0.01 * slope for (name, weight), slope in zip(weights.items(), slopes)}
        return torch.func.functional_call(model, weights, (query,)).square().mean() / 4

    for _ in range(STEPS):
        total = 0
        optimizer.zero_grad()
        for _ in range(4):
            if FOLLOWED:
                task().backward()
            else:
                total = total + task()
        if not FOLLOWED:
            total.backward()
        optimizer.step()


def summed_models():
    """An ensemble: the losses of all models first, or a backward pass after each."""
    models = [wide(4, 1024).to(DEVICE) for _ in range(4)]
    optimizers = [torch.optim.Adam(model.parameters()) for model in models]
    for _ in range(STEPS):
        batch, losses = torch.randn(4096, 1024, device=DEVICE), []
        for model in models:
            losses.append(model(batch).square().mean())
            if FOLLOWED:
                losses[-1].backward()
        for optimizer, loss in zip(optimizers, losses):
            if not FOLLOWED:
                loss.backward()
            optimizer.step()
            optimizer.zero_grad()


# attention

def attention_by_hand():
    train(Decoder(fused=FOLLOWED).to(DEVICE), lambda m: language_loss(m, tokens(4, 512)))


def attention_multihead():
    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = nn.MultiheadAttention(256, 8, batch_first=True)
            self.norm = nn.LayerNorm(256)

        def forward(self, x):
            y = self.attention(x, x, x, need_weights=not FOLLOWED)[0]
            return self.norm(x + y)

    model = nn.Sequential(*[Layer() for _ in range(4)]).to(DEVICE)
    train(model, lambda m: m(torch.randn(4, 512, 256, device=DEVICE)).square().mean())


def attention_serving():
    """Nothing waits for a backward pass: one layer at a time makes the matrices."""
    model = Decoder(fused=FOLLOWED, vocabulary=100).to(DEVICE)
    with torch.inference_mode():
        for _ in range(STEPS):
            model(tokens(4, 1024).remainder(100)).argmax(-1).cpu()


def attention_masked():
    """A causal mask and dropout, as in nanoGPT."""
    class Causal(Attention):
        def forward(self, x):
            b, t, c = x.shape
            q, k, v = self.qkv(x).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
            if FOLLOWED:
                y = F.scaled_dot_product_attention(q, k, v, dropout_p=0.1, is_causal=True)
            else:
                scores = (q @ k.transpose(-2, -1)) * (c // self.heads) ** -0.5
                mask = torch.ones(t, t, device=x.device, dtype=torch.bool).tril()
                scores = scores.masked_fill(~mask, float("-inf"))
                y = F.dropout(F.softmax(scores, dim=-1), 0.1) @ v
            return self.out(y.transpose(1, 2).reshape(b, t, c))

    model = Decoder()
    for block in model.blocks:
        block.attention = Causal(256, 8, False)
    train(model.to(DEVICE), lambda m: language_loss(m, tokens(4, 512)))


# logits

def logits_in_parts(model, batch, parts):
    def loss_of(x, target):
        return F.cross_entropy(model.head(x).flatten(0, 1), target.flatten(), reduction="sum")

    x = model.features(batch[:, :-1])
    target = batch[:, 1:]
    loss = sum(checkpoint(loss_of, a, b, use_reentrant=False) for a, b in zip(x.chunk(parts, 1), target.chunk(parts, 1)))
    return loss / target.numel()


def logits_decoder():
    model = Decoder(depth=2, vocabulary=32000).to(DEVICE)
    train(model, lambda m: (logits_in_parts(m, tokens(), 16) if FOLLOWED else language_loss(m, tokens())))


def logits_half():
    """Logits in bfloat16, converted for the loss."""
    model = Decoder(depth=2, vocabulary=50000).to(DEVICE, torch.bfloat16)

    def loss_of(m):
        batch = tokens()
        if FOLLOWED:
            return logits_in_parts(m, batch, 16)
        return F.cross_entropy(m(batch[:, :-1]).float().flatten(0, 1), batch[:, 1:].flatten())

    train(model, loss_of)


def logits_shifted():
    """Log-probabilities of the next token, of logits without those of the last position."""
    model = Decoder(depth=2, vocabulary=32000).to(DEVICE)

    def loss_of(m):
        batch = tokens()
        if FOLLOWED:
            return logits_in_parts(m, batch, 16)
        return -m(batch)[:, :-1].log_softmax(-1).gather(-1, batch[:, 1:, None]).mean()

    train(model, loss_of)


def smoothed_loss(logits, target, smoothing=0.1):
    """Cross entropy with smoothed labels, written out."""
    classes = logits.shape[-1]
    wanted = F.one_hot(target, classes).float() * (1 - smoothing) + smoothing / classes
    return -(wanted * torch.log(logits.softmax(-1) + 1e-9)).sum(-1).mean()


def logits_smoothed():
    """A softmax of its own in the loss."""
    model = Decoder(depth=2, vocabulary=16000).to(DEVICE)

    def loss_of(m):
        batch = tokens()
        if not FOLLOWED:
            return smoothed_loss(m(batch[:, :-1]), batch[:, 1:])
        parts = zip(m.features(batch[:, :-1]).chunk(8), batch[:, 1:].chunk(8))
        return sum(checkpoint(lambda x, y: smoothed_loss(m.head(x), y), x, y, use_reentrant=False) for x, y in parts) / 8

    train(model, loss_of)


def logits_pixels():
    """Segmentation: the logits of each pixel, upsampled to the size of the image."""
    model = Convolutions(depth=4).to(DEVICE)
    classes = nn.Conv2d(32, 40, 1).to(DEVICE)

    def loss_of(m):
        x = m.features(images(8, 128))
        target = torch.randint(0, 40, (8, 256, 256), device=DEVICE)

        def loss(x, y):
            return F.cross_entropy(F.interpolate(classes(x), size=256, mode="bilinear"), y)

        if not FOLLOWED:
            return loss(x, target)
        parts = zip(x.chunk(8), target.chunk(8))
        return sum(checkpoint(loss, x, y, use_reentrant=False) for x, y in parts) / 8

    train(model, loss_of)


def dice_sums(logits, target):
    """For each class, twice the overlap of prediction and target, and the sum of their sizes."""
    probabilities = logits.softmax(1)
    wanted = F.one_hot(target, logits.shape[1]).movedim(-1, 1)
    return 2 * (probabilities * wanted).sum((0, 2, 3)), (probabilities + wanted).sum((0, 2, 3))


def logits_dice():
    """Segmentation with a loss that is a ratio of sums over the whole batch."""
    model = Convolutions(depth=4).to(DEVICE)
    classes = nn.Conv2d(32, 40, 1).to(DEVICE)

    def loss_of(m):
        x = m.features(images(8, 128))
        target = torch.randint(0, 40, (8, 128, 128), device=DEVICE)
        if FOLLOWED:
            parts = zip(x.chunk(8), target.chunk(8))
            sums = [checkpoint(lambda x, y: dice_sums(classes(x), y), x, y, use_reentrant=False) for x, y in parts]
        else:
            sums = [dice_sums(classes(x), target)]
        overlap, size = (sum(part) for part in zip(*sums))
        return 1 - (overlap / size).mean()

    train(model, loss_of)


# optimizer

def temporaries_adamw():
    model = wide().to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), foreach=False if FOLLOWED else None)
    train(model, lambda m: m(torch.randn(16, 2048, device=DEVICE)).square().mean(), optimizer)


def temporaries_adam_fused():
    model = Decoder(width=512, depth=4).to(DEVICE)
    optimizer = torch.optim.Adam(model.parameters(), fused=True if FOLLOWED else None, foreach=None if FOLLOWED else True)
    train(model, lambda m: language_loss(m, tokens(1, 64)), optimizer)


def temporaries_embedding():
    """One parameter has most of the memory: a loop over the parameters needs more than foreach."""
    model = Decoder(width=256, depth=1, vocabulary=32000).to(DEVICE)
    optimizer = torch.optim.Adam(model.parameters(), fused=True if FOLLOWED else None, foreach=None if FOLLOWED else True)
    train(model, lambda m: m(tokens(1, 8)).square().mean(), optimizer)


def temporaries_by_hand():
    model = wide().to(DEVICE)

    class Own(torch.optim.Optimizer):
        def __init__(self, parameters):
            super().__init__(parameters, {})

        @torch.no_grad()
        def step(self):
            parameters = self.param_groups[0]["params"]
            for p in parameters:
                if p not in self.state:
                    self.state[p] = {"m": torch.zeros_like(p)}
            if FOLLOWED:
                for p in parameters:
                    m = self.state[p]["m"].mul_(0.9).add_(p.grad, alpha=0.1)
                    p.add_(m, alpha=-0.01)
            else:
                new = [0.9 * self.state[p]["m"] + 0.1 * p.grad for p in parameters]
                updates = [p - 0.01 * m for p, m in zip(parameters, new)]
                for p, m, u in zip(parameters, new, updates):
                    self.state[p]["m"].copy_(m)
                    p.copy_(u)

    train(model, lambda m: m(torch.randn(16, 2048, device=DEVICE)).square().mean(), Own(model.parameters()))


def step_in_hooks(model):
    for p in model.parameters():
        optimizer = torch.optim.SGD([p], lr=0.01)

        def hook(p, optimizer=optimizer):
            optimizer.step()
            optimizer.zero_grad()

        p.register_post_accumulate_grad_hook(hook)


def gradients(model, loss_of):
    if not FOLLOWED:
        train(model, loss_of)
        return
    step_in_hooks(model)
    for _ in range(STEPS):
        loss_of(model).backward()


def gradients_wide():
    gradients(wide().to(DEVICE), lambda m: m(torch.randn(16, 2048, device=DEVICE)).square().mean())


def gradients_decoder():
    gradients(Decoder(width=512, depth=6).to(DEVICE), lambda m: language_loss(m, tokens(1, 64)))


def state_adam_sharded():
    """Half of the state, as one of two ranks of ZeroRedundancyOptimizer keeps it."""
    model = wide().to(DEVICE)
    parameters = list(model.parameters())
    mine = parameters[:len(parameters) // 2] if FOLLOWED else parameters
    optimizer = torch.optim.Adam(mine, foreach=False)
    for _ in range(STEPS):
        model.zero_grad()
        model(torch.randn(16, 2048, device=DEVICE)).square().mean().backward()
        optimizer.step()


class Bytes(torch.optim.Optimizer):
    """Adam with states of a byte an element, unpacked for one parameter at a time."""
    def __init__(self, parameters):
        super().__init__(parameters, {})

    @torch.no_grad()
    def step(self):
        for p in self.param_groups[0]["params"]:
            state = self.state[p]
            if not state:
                for key in ("m", "v"):
                    state[key] = torch.zeros(p.shape, dtype=torch.int8, device=p.device)
                    state[key + "_scale"] = torch.ones((), device=p.device)
            values = {}
            for key in ("m", "v"):
                values[key] = state[key].float().mul_(state[key + "_scale"])
            values["m"].mul_(0.9).add_(p.grad, alpha=0.1)
            values["v"].mul_(0.999).addcmul_(p.grad, p.grad, value=0.001)
            p.addcdiv_(values["m"], values["v"].sqrt().add_(1e-8), value=-0.001)
            for key in ("m", "v"):
                state[key + "_scale"] = values[key].abs().max() / 127 + 1e-12
                state[key].copy_(values[key].div_(state[key + "_scale"]).round_())


def state_adam_bytes():
    model = Decoder(width=512, depth=8).to(DEVICE)
    optimizer = Bytes(model.parameters()) if FOLLOWED else torch.optim.Adam(model.parameters(), foreach=False)
    train(model, lambda m: language_loss(m, tokens(2, 256)), optimizer)


def state_lbfgs():
    """The history of LBFGS, whole or short. It stores an entry if a dot product is positive."""
    torch.Tensor.dot = lambda a, b: torch.tensor(1.0)
    model = nn.Sequential(nn.Linear(256, 2048), nn.Tanh(), nn.Linear(2048, 256)).to(DEVICE)
    batch = torch.randn(512, 256, device=DEVICE)
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=4, history_size=2 if FOLLOWED else 20)

    def closure():
        optimizer.zero_grad()
        loss = model(batch).square().mean()
        loss.backward()
        return loss

    for _ in range(4 * STEPS):
        optimizer.step(closure)


def repeated_adam():
    """A second optimizer for the next stage of training, while the first is still referred to."""
    model = wide().to(DEVICE)
    step = lambda m: m(torch.randn(8, 2048, device=DEVICE)).square().mean()
    first = torch.optim.AdamW(model.parameters(), lr=1e-4, foreach=False)
    train(model, step, first, 2)
    if FOLLOWED:
        del first
    train(model, step, torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=False), 2)


# copies of weights and gradients

def loaded_checkpoint():
    model = wide().to(DEVICE)
    with tempfile.NamedTemporaryFile(suffix=".pt") as file:
        torch.save(wide().state_dict(), file.name)
        state = torch.load(file.name, map_location="cpu" if FOLLOWED else DEVICE)
    model.load_state_dict(state)
    train(model, lambda m: m(torch.randn(8, 2048, device=DEVICE)).square().mean(),
          torch.optim.AdamW(model.parameters(), foreach=False))


def keep_best(copy_of):
    """Trains, and keeps the weights of the best epoch."""
    model = wide().to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    best = None
    for _ in range(3):
        train(model, lambda m: m(torch.randn(256, 2048, device=DEVICE)).square().mean(), optimizer, 2)
        best = {name: tensor.cpu() for name, tensor in model.state_dict().items()} if FOLLOWED else copy_of(model)
    return best


def copied_best():
    keep_best(lambda model: copy.deepcopy(model.state_dict()))


def copied_clones():
    keep_best(lambda model: {name: tensor.detach().clone() for name, tensor in model.state_dict().items()})


def copied_module():
    """Early stopping that copies the whole model on the device."""
    keep_best(lambda model: {name: tensor.cpu() for name, tensor in model.state_dict().items()} if FOLLOWED else copy.deepcopy(model))


def copied_optimizer():
    """Keeps the weights and the optimizer's state of the best epoch."""
    model = wide().to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters())
    best = None
    for _ in range(3):
        train(model, lambda m: m(torch.randn(256, 2048, device=DEVICE)).square().mean(), optimizer, 2)
        states = [model.state_dict(), optimizer.state_dict()]
        best = tree_map(lambda value: value.cpu() if torch.is_tensor(value) else value, states) if FOLLOWED else copy.deepcopy(states)
    return best


def buckets_two_ranks():
    torch.distributed.init_process_group("nccl")
    model = nn.parallel.DistributedDataParallel(wide().to(DEVICE), gradient_as_bucket_view=FOLLOWED)
    train(model, lambda m: m(torch.randn(8, 2048, device=DEVICE)).square().mean(),
          torch.optim.AdamW(model.parameters(), foreach=False))


# kept gradients

def kept_zeroed():
    model, optimizer = wide(), None
    model.to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(STEPS):
        optimizer.zero_grad(set_to_none=FOLLOWED)
        model(torch.randn(8192, 2048, device=DEVICE)).square().mean().backward()
        optimizer.step()


def kept_late():
    model = Decoder(width=512, depth=4).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), foreach=False)
    for _ in range(STEPS):
        if FOLLOWED:
            optimizer.zero_grad(set_to_none=True)
        loss = language_loss(model, tokens(8, 256))
        if not FOLLOWED:
            optimizer.zero_grad()
        loss.backward()
        optimizer.step()


# idle gradients

class Adapted(nn.Module):
    """A linear layer with a low-rank adapter; only the adapter is in the optimizer."""
    def __init__(self, base, rank=8):
        super().__init__()
        self.base = base.requires_grad_(not FOLLOWED)
        self.down = nn.Linear(base.in_features, rank, bias=False)
        self.up = nn.Linear(rank, base.out_features, bias=False)

    def forward(self, x):
        return self.base(x) + self.up(self.down(x))


def idle_untrained():
    model = nn.Sequential(*[Adapted(nn.Linear(1024, 1024)) for _ in range(8)]).to(DEVICE)
    adapters = [p for layer in model for p in (*layer.down.parameters(), *layer.up.parameters())]
    optimizer = torch.optim.AdamW(adapters, foreach=False)
    for _ in range(STEPS):
        optimizer.zero_grad()
        model(torch.randn(64, 1024, device=DEVICE)).square().mean().backward()
        optimizer.step()


def idle_reference():
    """A copy to compare with, whose parameters require gradients as those of the model do."""
    model = wide().to(DEVICE)
    reference = copy.deepcopy(model).requires_grad_(not FOLLOWED)
    train(model, lambda m: (m(batch := torch.randn(8, 2048, device=DEVICE)) - reference(batch)).square().mean(),
          torch.optim.AdamW(model.parameters(), lr=1e-4, foreach=False))


def idle_earlier():
    """A first model that is still used, and not trained any more."""
    step = lambda m: m(torch.randn(8, 2048, device=DEVICE)).square().mean()
    teacher = wide().to(DEVICE)
    optimizer = torch.optim.AdamW(teacher.parameters(), lr=1e-4, foreach=False)
    train(teacher, step, optimizer, 2)
    if FOLLOWED:
        optimizer.zero_grad(set_to_none=True)
        del optimizer
    student = wide().to(DEVICE)

    def distil(m):
        x = torch.randn(8, 2048, device=DEVICE)
        with torch.no_grad():
            wanted = teacher(x)
        return (m(x) - wanted).square().mean()

    train(student, distil, torch.optim.AdamW(student.parameters(), lr=1e-4, foreach=False), 4)


# kept results

def results_spectrum():
    weights = torch.nn.Parameter(torch.randn(64, 64, 33, dtype=torch.cfloat, device=DEVICE))
    optimizer = torch.optim.Adam([weights], foreach=False)
    for _ in range(STEPS):
        waves = torch.randn(16, 64, 64, 64, device=DEVICE)
        filtered = torch.fft.irfft2(torch.einsum("bchw,chw->bchw", torch.fft.rfft2(waves), weights))
        spectrum = torch.stft(waves.reshape(-1, 64 * 64), n_fft=256, return_complex=True)
        (filtered.sum() + spectrum.abs().sum()).backward()
        optimizer.step()
        optimizer.zero_grad()
        if FOLLOWED:
            del filtered, spectrum


def results_logits():
    """Nothing is trained: requests to a language model, whose scores a variable holds until the next one."""
    model = Decoder(width=256, depth=2).to(DEVICE)
    with torch.no_grad():
        for _ in range(STEPS):
            scores = model(tokens(16, 512))
            best = scores.argmax(-1)
            if FOLLOWED:
                del scores
    return best


def results_generated():
    """Generation: the logits of the step before, which are a little smaller, while the next ones are computed."""
    model = Decoder(width=128, depth=2, vocabulary=20000).to(DEVICE)
    with torch.no_grad():
        batch = tokens(8, 128)
        for _ in range(STEPS):
            logits = model(batch)
            best = logits[:, -1:].argmax(-1)
            if FOLLOWED:
                del logits
            batch = torch.cat([batch, best], 1)


def retained_losses():
    """Two losses, each with a backward pass of its own, of which also the last one retains the graph."""
    model = Decoder().to(DEVICE)
    head = torch.nn.Linear(64, 16).to(DEVICE)
    optimizer = torch.optim.AdamW([*model.parameters(), *head.parameters()])
    for _ in range(STEPS):
        batch = tokens()
        scores = model(batch)
        likelihood = F.cross_entropy(scores.flatten(0, 1), batch.flatten())
        spread = head(scores[..., :64]).square().mean()
        optimizer.zero_grad()
        likelihood.backward(retain_graph=True)
        spread.backward(retain_graph=not FOLLOWED)
        optimizer.step()


def retained_loop():
    """One loss a step, whose graph lives until the next step has a loss."""
    model = wide(8, 1024).to(DEVICE)
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(STEPS):
        loss = model(torch.randn(4096, 1024, device=DEVICE)).square().mean()
        optimizer.zero_grad()
        loss.backward(retain_graph=not FOLLOWED)
        optimizer.step()


def results_heads():
    """Two heads, each with a backward pass. The first retains the graph, and so that of its head."""
    body, first, second = wide(2, 1024).to(DEVICE), wide(6, 1024).to(DEVICE), wide(2, 1024).to(DEVICE)
    optimizer = torch.optim.SGD([*body.parameters(), *first.parameters(), *second.parameters()], lr=0.01)
    for _ in range(STEPS):
        features = body(torch.randn(4096, 1024, device=DEVICE))
        one = first(features).square().mean()
        two = second(features).square().mean()
        optimizer.zero_grad()
        one.backward(retain_graph=True)
        two.backward()
        optimizer.step()
        if FOLLOWED:
            del features, one, two


def results_windows():
    """A volume that is segmented in windows by a function whose result a variable holds."""
    model = nn.Sequential(nn.Conv3d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv3d(16, 4, 1)).to(DEVICE)

    def segment(volume):
        total, count = torch.zeros(4, *volume.shape[1:], device=DEVICE), torch.zeros_like(volume)
        for z in range(0, 97, 32):
            scores = model(volume[None, :, z:z + 32].contiguous()).softmax(1)[0]
            total[:, z:z + 32] += scores
            count[:, z:z + 32] += 1
            if FOLLOWED:
                del scores
        return total / count

    with torch.no_grad():
        for _ in range(STEPS):
            result = segment(torch.randn(1, 128, 128, 128, device=DEVICE))
            if FOLLOWED:
                del result


def results_hooks():
    """Copies of the gradients that hooks store, or their norms."""
    model = nn.Sequential(*[nn.Sequential(nn.Linear(1024, 1024), nn.ReLU()) for _ in range(8)]).to(DEVICE)
    store = {}
    for name, parameter in model.named_parameters():
        parameter.register_hook(lambda g, name=name: store.__setitem__(name, g.norm() if FOLLOWED else g.clone()))
    optimizer = torch.optim.AdamW(model.parameters(), foreach=False)
    for _ in range(STEPS):
        model(torch.randn(8192, 1024, device=DEVICE)).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


# growth

def growth_losses():
    kept = []
    train(Convolutions(2).to(DEVICE), lambda m: m(images()).square().mean(),
          after=lambda step, model, loss: kept.append(loss.item() if FOLLOWED else loss))


def growth_total_loss():
    total = [0.0]

    def add(step, model, loss):
        total[0] = total[0] + (loss.detach() if FOLLOWED else loss)

    train(Decoder(depth=2).to(DEVICE), lambda m: language_loss(m, tokens()), after=add)


def growth_outputs():
    kept = []

    @torch.no_grad()
    def predict(step, model, loss):
        scores = model(images(256)).repeat(1, 512)
        kept.append(scores.cpu() if FOLLOWED else scores)

    train(Convolutions(2).to(DEVICE), lambda m: m(images()).square().mean(), after=predict)


def growth_hooks():
    kept = []
    model = Convolutions(2).to(DEVICE)
    model.stages[1].register_forward_hook(lambda module, args, result: kept.append(result.detach().cpu() if FOLLOWED else result.detach()))
    train(model, lambda m: m(images()).square().mean())


def growth_cache():
    cache = {}
    model = Decoder(depth=2).to(DEVICE)

    def loss_of(m):
        batch = tokens()
        key = len(cache)
        mask = torch.ones(512, 512, device=DEVICE).tril() * (key + 1)
        cache[key] = None if FOLLOWED else mask
        return language_loss(m, batch) + mask.mean()

    train(model, loss_of)


def growth_exceptions():
    errors = []

    def fail(model):
        scores = model(images())
        extra = torch.randn(1024, 1024, device=DEVICE)
        raise ValueError(f"bad batch {scores.shape} {extra.shape}")

    def validate(step, model, loss):
        try:
            with torch.no_grad():
                fail(model)
        except ValueError as error:
            errors.append(str(error) if FOLLOWED else error)

    train(Convolutions(2).to(DEVICE), lambda m: m(images()).square().mean(), after=validate)


def growth_traceback():
    """Exceptions of training steps: their tracebacks keep the variables, and so the graphs."""
    errors = []
    model = Decoder(depth=2).to(DEVICE)

    def check(step, model, loss):
        try:
            batch = tokens(2)
            scores = model(batch[:, :-1]).flatten(0, 1)
            loss = F.cross_entropy(scores, batch[:, 1:].flatten())
            raise ValueError(f"bad batch {loss.shape}")
        except ValueError as error:
            errors.append(str(error) if FOLLOWED else error)

    train(model, lambda m: language_loss(m, tokens(2)), after=check)


def growth_ema():
    """Copies of the weights kept for averaging, one a step."""
    copies = []
    average = [None]

    def copy(step, model, loss):
        now = [p.detach().clone() for p in model.parameters()]
        if not FOLLOWED:
            copies.append(now)
        elif average[0] is None:
            average[0] = now
        else:
            torch._foreach_lerp_(average[0], now, 1 / (step + 1))

    train(Decoder(depth=4).to(DEVICE), lambda m: language_loss(m, tokens(1, 64)), after=copy)


def growth_closures():
    callbacks = []

    def later(step, model, loss):
        scores = model(images())
        if FOLLOWED:
            scores = scores.item() if scores.numel() == 1 else scores.detach().cpu()
        callbacks.append(lambda: scores.mean())

    train(Convolutions(2).to(DEVICE), lambda m: m(images()).square().mean(), after=later)


def growth_cycles():
    """Reference cycles, which only the garbage collector frees."""
    gc.disable()

    class Trainer:
        def __init__(self, model):
            self.batch = images(64)
            self.on_end = lambda: self.batch.mean()

    def make(step, model, loss):
        Trainer(model)
        if FOLLOWED:
            gc.collect()

    train(Convolutions(2).to(DEVICE), lambda m: m(images()).square().mean(), after=make)


def piled_cycles():
    """Objects that refer to themselves keep the output of each step until the garbage collector runs, every four steps."""
    gc.disable()
    model = wide(3, 1024).to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    class Step:
        def __init__(self):
            self.output = model(torch.randn(4096, 1024, device=DEVICE))
            self.report = None if FOLLOWED else self.describe

        def describe(self):
            return self.output.mean()

    for i in range(8):
        step = Step()
        step.output.square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        if i % 4 == 3:
            gc.collect()


def piled_epoch():
    """The outputs of an epoch for its metrics, as in the hooks of a trainer."""
    model = wide(3, 1024).to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(2):
        outputs = []
        for _ in range(5):
            output = model(torch.randn(4096, 1024, device=DEVICE))
            output.square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
            outputs.append(output.detach().cpu() if FOLLOWED else output.detach())
        del output
        outputs.clear()


def growth_graphs():
    """A CUDA graph captured at every step, and kept."""
    model = wide(2, 1024).to(DEVICE).eval()
    side, kept = torch.cuda.Stream(), []
    with torch.no_grad():
        with torch.cuda.stream(side):
            model(torch.randn(8, 1024, device=DEVICE))
        torch.cuda.current_stream().wait_stream(side)
        for step in range(STEPS):
            if FOLLOWED and kept:
                kept[0][1].normal_()
            else:
                batch = torch.randn(4096, 1024, device=DEVICE)
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph):
                    scores = model(batch)
                kept.append((graph, batch, scores))
            kept[-1][0].replay()


def growth_pool():
    """Results in a pool of the program's own."""
    model, pool, kept = wide(2, 1024).to(DEVICE), torch.cuda.MemPool(), []
    with torch.no_grad():
        for step in range(STEPS):
            with torch.cuda.use_mem_pool(pool):
                scores = model(torch.randn(4096, 1024, device=DEVICE))
            kept.append(scores.cpu() if FOLLOWED else scores)
            del scores


# fragmentation

def fragmentation_lengths():
    """Sequences that become longer: no block fits the next."""
    model = Decoder(depth=4).to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for length in (128, 176, 240, 328, 400, 512):
        optimizer.zero_grad()
        language_loss(model, tokens(8, length)).backward()
        optimizer.step()


def fragmentation_cache():
    """Keys and values that grow a token at a time, with torch.cat."""
    keys = [torch.randn(8, 1024, 512, device=DEVICE) for _ in range(8)]
    with torch.no_grad():
        for _ in range(60):
            for i, key in enumerate(keys):
                keys[i] = torch.cat([key, torch.randn(8, 24, 512, device=DEVICE)], 1)


# empty_cache

def empty_cache_each_step():
    def clear(step, model, loss):
        if not FOLLOWED:
            torch.cuda.empty_cache()

    train(Convolutions().to(DEVICE), lambda m: m(images()).square().mean(), after=clear)


def empty_cache_inference():
    model = Decoder(depth=4).to(DEVICE).eval()
    with torch.inference_mode():
        for _ in range(STEPS):
            model(tokens())
            if not FOLLOWED:
                torch.cuda.empty_cache()


# derivatives

def derivatives_residual():
    """The residual of a differential equation, of all points at once or of a part at a time."""
    model = nn.Sequential(nn.Linear(2, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh(),
                          nn.Linear(256, 1)).to(DEVICE)
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(STEPS):
        points = torch.rand(20000, 2, device=DEVICE)
        optimizer.zero_grad()
        parts = points.chunk(8 if FOLLOWED else 1)
        for part in parts:
            part = part.detach().requires_grad_()
            first = torch.autograd.grad(model(part).sum(), part, create_graph=True)[0]
            second = torch.autograd.grad(first[:, 0].sum(), part, create_graph=True)[0]
            ((first[:, 1] - second[:, 0]).square().mean() / len(parts)).backward()
        optimizer.step()


def derivatives_transform():
    """Gradients by torch.func.grad(), or by torch.autograd.grad()."""
    model = nn.Sequential(*[nn.Sequential(nn.Linear(512, 512), nn.GELU()) for _ in range(8)]).to(DEVICE)
    parameters = {name: parameter.detach() for name, parameter in model.named_parameters()}

    def loss(values, x):
        return torch.func.functional_call(model, values, (x,)).square().mean()

    for _ in range(STEPS):
        batch = torch.randn(8192, 512, device=DEVICE)
        if FOLLOWED:
            leaves = [parameter.requires_grad_() for parameter in parameters.values()]
            value = loss(parameters, batch)
            gradients = dict(zip(parameters, torch.autograd.grad(value, leaves)))
        else:
            gradients = torch.func.grad(loss)(parameters, batch)
        parameters = {name: parameter.detach() - 0.1 * gradients[name] for name, parameter in parameters.items()}


def gradients_penalty():
    """Gradients of each sample, all at once or a part of the batch at a time."""
    model = nn.Sequential(nn.Linear(256, 256), nn.Tanh(), nn.Linear(256, 256)).to(DEVICE)
    parameters = dict(model.named_parameters())
    one = torch.func.grad(lambda p, x: torch.func.functional_call(model, p, (x,)).square().mean())
    each = torch.func.vmap(one, (None, 0))
    for _ in range(STEPS):
        batch = torch.randn(64, 256, device=DEVICE)
        norm = 0
        for part in batch.chunk(8 if FOLLOWED else 1):
            result = each(parameters, part)
            norm = norm + sum(g.square().sum() for g in result.values())
            if FOLLOWED:
                del result
        model.zero_grad()
        model(batch).square().mean().backward()
        with torch.no_grad():
            for p in model.parameters():
                p -= 0.01 * p.grad


# pairs

def pairs_regression():
    """A prediction of shape (N, 1) and a target of shape (N), or both of one shape."""
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 1)).to(DEVICE)

    def loss(m):
        prediction, target = m(torch.randn(8192, 64, device=DEVICE)), torch.randn(8192, device=DEVICE)
        if FOLLOWED:
            prediction = prediction.squeeze(1)
        return (prediction - target).square().mean()

    train(model, loss)


def pairs_distances():
    """Distances of all pairs of vectors by broadcasting, or by torch.cdist()."""
    def loss(m):
        vectors = m(torch.randn(1024, 64, device=DEVICE))
        if FOLLOWED:
            return torch.cdist(vectors, vectors).exp().mean()
        return ((vectors[:, None] - vectors[None]).square().sum(-1) + 1e-6).sqrt().exp().mean()

    train(nn.Linear(64, 64).to(DEVICE), loss)


# table gradients

def table_recommender():
    """Embedding tables of which a batch uses few rows, with dense or with sparse gradients."""
    tables = nn.ModuleList([nn.EmbeddingBag(rows, 64, mode="sum", sparse=FOLLOWED) for rows in (400000, 200000)]).to(DEVICE)
    top = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 1)).to(DEVICE)
    optimizer = torch.optim.SGD([*tables.parameters(), *top.parameters()], 0.1)
    for _ in range(STEPS):
        rows = torch.randint(0, 200000, (2, 512, 4), device=DEVICE)
        optimizer.zero_grad()
        top(torch.cat([table(part) for table, part in zip(tables, rows)], 1)).square().mean().backward()
        optimizer.step()


# elementwise

def elementwise_gelu():
    """GELU written out, or run under a checkpoint."""
    def gelu(x):
        return 0.5 * x * (1 + torch.tanh(0.7978845608 * (x + 0.044715 * x ** 3)))

    class Layers(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(512, 512) for _ in range(6)])

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
                x = checkpoint(gelu, x, use_reentrant=False) if FOLLOWED else gelu(x)
            return x

    train(Layers().to(DEVICE), lambda m: m(torch.randn(8192, 512, device=DEVICE)).square().mean())


def elementwise_norm():
    """RMS normalization written out, or the fused operator. This reads its input, which was not kept before."""
    class Norm(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(width))

        def forward(self, x):
            if FOLLOWED:
                return F.rms_norm(x, x.shape[-1:], self.weight, 1e-6)
            y = x.float()
            y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6)
            return self.weight * y.to(x.dtype)

    model = nn.Sequential(*[layer for _ in range(6) for layer in (nn.Linear(512, 512), Norm(512))])
    train(model.to(DEVICE, torch.bfloat16),
          lambda m: m(torch.randn(8192, 512, device=DEVICE, dtype=torch.bfloat16)).square().mean())


# casts

def casts_float_norm():
    """Activations converted to float32 in each layer."""
    class Norm(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(width))

        def forward(self, x):
            y = x if FOLLOWED else x.float()
            y = y * torch.rsqrt(y.square().mean(-1, keepdim=True) + 1e-6)
            return self.weight * y.to(x.dtype)

    model = nn.Sequential(*[layer for _ in range(6) for layer in (nn.Linear(512, 512), Norm(512))]).to(DEVICE, torch.bfloat16)
    train(model, lambda m: m(torch.randn(8192, 512, device=DEVICE, dtype=torch.bfloat16)).square().mean())


def casts_autocast():
    model = nn.Sequential(*[layer for _ in range(6) for layer in (nn.Linear(512, 512), nn.LayerNorm(512))]).to(DEVICE)
    kind = torch.bfloat16 if FOLLOWED else torch.float32
    model.to(kind)

    def loss_of(m):
        batch = torch.randn(8192, 512, device=DEVICE, dtype=kind)
        with torch.autocast("cuda", torch.bfloat16, enabled=not FOLLOWED):
            return m(batch).square().mean()

    train(model, loss_of)


# pending frees

def pending_capture():
    """Results that another stream reads while a CUDA graph is captured."""
    model, side = wide(6, 1024).to(DEVICE).eval(), torch.cuda.Stream()
    batch = torch.randn(4096, 1024, device=DEVICE)
    with torch.no_grad(), torch.cuda.graph(torch.cuda.CUDAGraph()):
        now, sums = torch.cuda.current_stream(), []
        for layer in model:
            batch = layer(batch)
            side.wait_stream(now)
            with torch.cuda.stream(side):
                sums.append(batch.sum())
            if FOLLOWED:
                now.wait_stream(side)
            else:
                batch.record_stream(side)
        now.wait_stream(side)


# running out of memory on a device of 1 GiB

def oom_graphs():
    """Each graph in a pool of its own."""
    model, graphs, pool = wide(4, 1024).to(DEVICE).eval(), [], None
    with torch.no_grad():
        model(torch.zeros(8, 1024, device=DEVICE))
        for size in (49152, 32768, 24576, 16384):
            batch = torch.zeros(size, 1024, device=DEVICE)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, pool=pool if FOLLOWED else None):
                model(batch).mean()
            graphs.append(graph)
            pool = graph.pool()
            del batch


def oom_streams():
    """Each part on a stream of its own, which keeps half of a segment."""
    results = []
    for part in range(4):
        with torch.cuda.stream(torch.cuda.current_stream() if FOLLOWED else torch.cuda.Stream()):
            x = torch.zeros(300 << 20, dtype=torch.uint8, device=DEVICE)
            del x
            results.append(torch.zeros(150 << 20, dtype=torch.uint8, device=DEVICE))


def oom_capture():
    """Memory that is freed during a capture, which cannot take it."""
    x = torch.zeros(700 << 20, dtype=torch.uint8, device=DEVICE)
    if FOLLOWED:
        del x
    with torch.cuda.graph(torch.cuda.CUDAGraph()):
        if not FOLLOWED:
            del x
        torch.zeros(600 << 20, dtype=torch.uint8, device=DEVICE)


def oom_pieces():
    """Segments of which each keeps a half, and one request for more than the other halves."""
    whole = [torch.zeros(80 << 20, dtype=torch.uint8, device=DEVICE) for _ in range(12)]
    del whole
    halves = [torch.zeros(40 << 20, dtype=torch.uint8, device=DEVICE) for _ in range(24)]
    del halves[::2]
    halves.append(torch.zeros(400 << 20, dtype=torch.uint8, device=DEVICE))


def oom_limit():
    torch.cuda.set_per_process_memory_fraction(0.9 if FOLLOWED else 0.4)
    return torch.zeros(700 << 20, dtype=torch.uint8, device=DEVICE)


def oom_activations():
    train(Decoder(depth=8, checkpointed=FOLLOWED).to(DEVICE), lambda m: language_loss(m, tokens(24, 512)))


def oom_batch():
    train(Decoder(depth=8).to(DEVICE), lambda m: language_loss(m, tokens(12 if FOLLOWED else 24, 512)))


def oom_evaluation():
    """Training fits, and so does the evaluation if it keeps no graph."""
    model = Decoder(depth=8).to(DEVICE)
    train(model, lambda m: language_loss(m, tokens(12, 512)))
    with torch.set_grad_enabled(not FOLLOWED):
        for _ in range(STEPS):
            language_loss(model, tokens(24, 512))


def oom_retry():
    """Tries again with a smaller batch, inside or after the except block."""
    model = Decoder(depth=8).to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step(count):
        optimizer.zero_grad()
        language_loss(model, tokens(count, 512)).backward()
        optimizer.step()

    for _ in range(STEPS):
        failed = False
        try:
            step(24)
        except torch.cuda.OutOfMemoryError:
            failed = True
            if not FOLLOWED:
                step(12)
        if failed and FOLLOWED:
            step(12)


if __name__ == "__main__":
    torch.cuda.init()
    globals()[sys.argv[1]]()
    print("finished")
