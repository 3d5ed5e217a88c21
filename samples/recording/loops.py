"""The programs that are recorded. Each is a pair: prepare() makes what stays in host memory, run() uses the device.

`steps` yields the step numbers; a recording that begins late begins in its body.
`device` is {"dtype": torch.float32} without an accelerator: the host's model is kept in float64, so that
moving it makes new tensors, as moving it to a device would. `copy=True` does the same for a batch.
"""
import torch
import torch.nn.functional as F
from torch.profiler import record_function

from .models import Cnn, Critic, Generator, Recurrent, Transformer
from .optimizers import Lamb, momentum_by_hand

BATCH, LENGTH, VOCABULARY = 16, 64, 1000


def images(count=4):
    return [(torch.randn(BATCH, 3, 32, 32), torch.randint(0, 100, (BATCH,))) for _ in range(count)]


def texts(count=4):
    return [torch.randint(0, VOCABULARY, (BATCH, LENGTH + 1)) for _ in range(count)]


def on_host(model):
    return model.double()


def language_loss(model, batch):
    logits = model(batch[:, :-1])
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), batch[:, 1:].reshape(-1))


def prepare_cnn():
    return on_host(Cnn()), images()


def train_cnn_sgd(host, device, steps):
    """SGD with momentum, profiled with a schedule: every step is annotated."""
    model, data = host
    model.to(**device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4, foreach=True)
    for step in steps:
        with record_function(f"ProfilerStep#{step}"):
            picture, label = (part.to(device.get("device", "cpu"), copy=True) for part in data[step])
            optimizer.zero_grad()
            loss = F.cross_entropy(model(picture), label)
            loss.backward()
            optimizer.step()


def train_cnn_adam(host, device, steps):
    """Adam tensor by tensor; gradients are zeroed, not dropped."""
    model, data = host
    model.to(**device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, foreach=False)
    losses = []
    for step in steps:
        picture = data[step][0].to(device.get("device", "cpu"), copy=True)
        label = data[step][1].to(device.get("device", "cpu"), copy=True)
        loss = F.cross_entropy(model(picture), label)
        optimizer.zero_grad(set_to_none=False)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())


def prepare_transformer():
    return on_host(Transformer()), texts()


def train_transformer_adamw(host, device, steps):
    """AdamW over lists of tensors, with gradient clipping and step annotations."""
    model, data = host
    model.to(**device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, foreach=True)
    for step in steps:
        with record_function(f"ProfilerStep#{step}"):
            batch = data[step].to(device.get("device", "cpu"), copy=True)
            loss = language_loss(model, batch)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()


def prepare_checkpointed():
    return on_host(Transformer(layers=4, checkpointed=True)), texts()


def train_checkpointed_adamw(host, device, steps):
    """Activation checkpointing: every block runs again in the backward pass."""
    model, data = host
    model.to(**device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, foreach=True)
    for step in steps:
        batch = data[step].to(device.get("device", "cpu"), copy=True)
        loss = language_loss(model, batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def prepare_texts():
    return texts()


def train_custom_optimizer(data, device, steps):
    """A custom optimizer, explicit attention, and a model built on the device."""
    with torch.device(device.get("device", "cpu")):
        model = Transformer(fused=False, layers=2)
    optimizer = Lamb(model.parameters())
    for step in steps:
        batch = data[step].to(device.get("device", "cpu"), copy=True)
        optimizer.zero_grad()
        loss = language_loss(model, batch)
        loss.backward()
        optimizer.step()


def train_by_hand(data, device, steps):
    """No torch.optim and no annotation of any kind."""
    with torch.device(device.get("device", "cpu")):
        model = Transformer(layers=2)
    parameters, velocities = list(model.parameters()), {}
    for step in steps:
        batch = data[step].to(device.get("device", "cpu"), copy=True)
        language_loss(model, batch).backward()
        momentum_by_hand(parameters, velocities)


def prepare_autocast():
    return on_host(Transformer(layers=2, fused=False, checkpointed=True, reentrant=True)), texts(2 * 4)


def train_autocast(host, device, steps):
    """bf16 by autocast, two batches per step with accumulated gradients, and the older, reentrant checkpoints."""
    model, data = host
    model.to(**device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, foreach=True)
    kind = device.get("device", "cpu")
    for step in steps:
        for part in (2 * step, 2 * step + 1):
            batch = data[part].to(kind, copy=True)
            with torch.autocast(kind, dtype=torch.bfloat16):
                loss = language_loss(model, batch) / 2
            loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)


def prepare_adversarial():
    return (on_host(Generator()), on_host(Critic()), images())


def train_adversarial(host, device, steps):
    """Two models against each other: RMSprop for one, SGD without any state for the other."""
    generator, critic, data = host
    generator.to(**device)
    critic.to(**device)
    kind = device.get("device", "cpu")
    slow = torch.optim.SGD(critic.parameters(), lr=1e-3, foreach=True)
    fast = torch.optim.RMSprop(generator.parameters(), lr=1e-3, foreach=True)
    for step in steps:
        real = data[step][0].to(kind, copy=True)
        fake = generator(torch.randn(BATCH, 64, device=kind))
        slow.zero_grad()
        verdict = F.softplus(-critic(real)).mean() + F.softplus(critic(fake.detach())).mean()
        verdict.backward()
        slow.step()
        fast.zero_grad()
        F.softplus(-critic(fake)).mean().backward()
        fast.step()


def prepare_recurrent():
    return on_host(Recurrent()), texts()


def train_recurrent(host, device, steps):
    """Adagrad, whose state exists before the first step."""
    model, data = host
    model.to(**device)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=1e-2, foreach=True)
    for step in steps:
        with record_function(f"ProfilerStep#{step}"):
            batch = data[step].to(device.get("device", "cpu"), copy=True)
            optimizer.zero_grad()
            language_loss(model, batch).backward()
            torch.nn.utils.clip_grad_value_(model.parameters(), 1.0)
            optimizer.step()


def infer(host, device, steps):
    """Greedy choice without gradients."""
    model, data = host
    model.to(**device).eval()
    chosen = []
    with torch.no_grad():
        for step in steps:
            batch = data[step].to(device.get("device", "cpu"), copy=True)
            logits = model(batch[:, :-1])
            chosen.append(torch.softmax(logits[:, -1], dim=-1).argmax(dim=-1))


# name: (prepare, run)
PROGRAMS = {
    "cnn-sgd": (prepare_cnn, train_cnn_sgd),
    "cnn-adam": (prepare_cnn, train_cnn_adam),
    "transformer-adamw": (prepare_transformer, train_transformer_adamw),
    "checkpointed-adamw": (prepare_checkpointed, train_checkpointed_adamw),
    "custom-optimizer": (prepare_texts, train_custom_optimizer),
    "by-hand": (prepare_texts, train_by_hand),
    "autocast-accumulated": (prepare_autocast, train_autocast),
    "adversarial": (prepare_adversarial, train_adversarial),
    "recurrent-adagrad": (prepare_recurrent, train_recurrent),
    "inference": (prepare_transformer, infer),
}
