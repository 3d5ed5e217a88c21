"""Models for measure.py of structures that the others lack: several resolutions at a time, forces that are
derivatives, weights that are computed, adapters, results that hooks keep, models in wrappers. Needs timm and peft."""
import math
from functools import partial

import peft
import timm
import torch
import torch.nn.functional as F
import transformers as hf
from torch import nn
from torch.nn.utils import parametrizations

from batches import labels, pictures, words


def of_timm(name):
    return pictures(partial(timm.create_model, name))


def switch():
    return hf.SwitchTransformersForConditionalGeneration(hf.SwitchTransformersConfig(
        d_model=512, d_kv=64, d_ff=1024, num_layers=4, num_decoder_layers=4, num_sparse_encoder_layers=2,
        num_sparse_decoder_layers=2, num_heads=8, num_experts=8, vocab_size=8000, decoder_start_token_id=0, use_cache=False))


def adapters():
    """Adapters in a model that has checkpoints already."""
    config = hf.LlamaConfig(hidden_size=512, num_hidden_layers=6, num_attention_heads=8, num_key_value_heads=4,
                            intermediate_size=1408, vocab_size=8000, use_cache=False)
    model = hf.LlamaForCausalLM(config)
    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    model.enable_input_require_grads()
    return peft.get_peft_model(model, peft.LoraConfig(
        r=8, lora_alpha=16, lora_dropout=0.05, target_modules=["q_proj", "v_proj", "down_proj"], task_type="CAUSAL_LM"))


class Message(nn.Module):
    """A layer of a graph network, whose messages are added by scatter."""

    def __init__(self, width):
        super().__init__()
        self.edge = nn.Sequential(nn.Linear(2 * width + 1, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU())
        self.node = nn.Sequential(nn.Linear(2 * width, width), nn.SiLU(), nn.Linear(width, width))

    def forward(self, x, distance, source, target):
        message = self.edge(torch.cat([x[source], x[target], distance[:, None]], 1))
        total = torch.zeros_like(x).scatter_add_(0, target[:, None].expand_as(message), message)
        return x + self.node(torch.cat([x, total], 1))


class Molecule(nn.Module):
    """Energies, and forces as their derivatives, so that the backward pass goes through another one."""

    def __init__(self, width=128, layers=5):
        super().__init__()
        self.kinds, self.layers = nn.Embedding(20, width), nn.ModuleList(Message(width) for _ in range(layers))
        self.out = nn.Linear(width, 1)

    def forward(self, kinds, places, source, target):
        places = places.detach().requires_grad_()
        distance = (places[source] - places[target]).norm(dim=1)
        x = self.kinds(kinds)
        for layer in self.layers:
            x = layer(x, distance, source=source, target=target)
        energy = self.out(x).sum()
        return energy, -torch.autograd.grad(energy, places, create_graph=True)[0]


def molecule(batch):
    nodes, edges = 100 * batch, 2000 * batch
    kinds, places = torch.randint(20, (nodes,)), torch.randn(nodes, 3)
    source = torch.randint(nodes, (edges,))
    target = (source + torch.randint(1, nodes, (edges,))) % nodes

    def loss(model):
        energy, forces = model(kinds, places, source, target)
        return energy.square() / nodes ** 2 + forces.square().mean()
    return Molecule(), loss


class Gate(nn.Module):
    """A layer of WaveNet: a dilated causal convolution with a gate, and a residual and a skip result."""

    def __init__(self, width, dilation):
        super().__init__()
        self.pad = nn.ConstantPad1d((dilation, 0), 0.0)
        self.conv = parametrizations.weight_norm(nn.Conv1d(width, 2 * width, 2, dilation=dilation))
        self.out = parametrizations.weight_norm(nn.Conv1d(width, 2 * width, 1))

    def forward(self, x):
        a, b = self.conv(self.pad(x)).chunk(2, 1)
        residual, skip = self.out(a.tanh() * b.sigmoid()).chunk(2, 1)
        return (x + residual) * math.sqrt(0.5), skip


class WaveNet(nn.Module):
    def __init__(self, width=64, layers=20):
        super().__init__()
        self.enter = nn.Embedding(256, width)
        self.gates = nn.ModuleList(Gate(width, 2 ** (layer % 10)) for layer in range(layers))
        self.leave = nn.Sequential(nn.ReLU(inplace=True), nn.Conv1d(width, width, 1), nn.ReLU(inplace=True), nn.Conv1d(width, 256, 1))

    def forward(self, samples):
        x, total = self.enter(samples).transpose(1, 2), 0
        for gate in self.gates:
            x, skip = gate(x)
            total = total + skip
        return self.leave(total)


def wavenet(batch):
    samples = torch.randint(256, (batch, 8000))
    return WaveNet(), lambda model: F.cross_entropy(model(samples[:, :-1]), samples[:, 1:])


class Pair(nn.Module):
    """A generator, and a discriminator with spectral norms, whose forward pass changes buffers."""

    def __init__(self, width=64):
        super().__init__()
        ups = [100, 8 * width, 4 * width, 2 * width, width]
        downs = [3, width, 2 * width, 4 * width, 8 * width]
        self.generator = nn.Sequential(
            *(nn.Sequential(nn.ConvTranspose2d(a, b, 4, 2 if a != 100 else 1, 1 if a != 100 else 0), nn.BatchNorm2d(b), nn.ReLU(True))
              for a, b in zip(ups, ups[1:])), nn.ConvTranspose2d(width, 3, 4, 2, 1), nn.Tanh())
        self.judge = nn.Sequential(
            *(nn.Sequential(parametrizations.spectral_norm(nn.Conv2d(a, b, 4, 2, 1)), nn.LeakyReLU(0.2, True))
              for a, b in zip(downs, downs[1:])), nn.Flatten(), parametrizations.spectral_norm(nn.Linear(8 * width * 16, 1)))
        self.loss = None

    def forward(self, noise, real):
        """Returns nothing."""
        fake = self.generator(noise)
        self.loss = F.softplus(self.judge(fake)).mean() + F.softplus(-self.judge(real)).mean()


def adversaries(batch):
    noise, real = torch.randn(batch, 100, 1, 1), torch.randn(batch, 3, 64, 64)

    def loss(model):
        model(noise, real)
        found, model.loss = model.loss, None
        return found
    return Pair(), loss


class Features(nn.Module):
    """Hooks keep the results of layers for the loss, as in distillation and style transfer."""

    def __init__(self):
        super().__init__()
        self.body = timm.create_model("mobilenetv3_small_100", num_classes=100)
        self.kept = {}
        for number, stage in enumerate(self.body.blocks):
            stage.register_forward_hook(lambda _module, _given, result, number=number: self.kept.update({number: result}))

    def forward(self, x):
        self.kept.clear()
        result = self.body(x)
        return {"result": result, "features": list(self.kept.values())}


def features(batch):
    images, wanted = torch.randn(batch, 3, 224, 224), labels(batch, 100)

    def loss(model):
        found = model(images)
        return F.cross_entropy(found["result"], wanted) + 0.1 * sum(item.square().mean() for item in found["features"])
    return Features(), loss


class Heads(nn.Module):
    """Two models in wrappers that run them: DataParallel, and torch.compile() without code of its own."""

    def __init__(self):
        super().__init__()
        self.vision = torch.compile(timm.create_model("resmlp_12_224", num_classes=0), backend="eager")
        self.sound = nn.DataParallel(timm.create_model("repvgg_a0", num_classes=0))
        self.out = nn.Linear(384 + 1280, 100)

    def forward(self, x):
        return self.out(torch.cat([self.vision(x), self.sound(x)], 1))


def wrapped(batch):
    images, wanted = torch.randn(batch, 3, 224, 224), labels(batch, 100)
    return Heads(), lambda model: F.cross_entropy(model(images), wanted)


BUILDERS = {
    "hiera": (16, r"blocks\.\d+", of_timm("hiera_tiny_224")),
    "davit": (16, r"stages\.\d+\.blocks\.\d+", of_timm("davit_tiny")),
    "maxvit": (8, r"stages\.\d+\.blocks\.\d+", of_timm("maxvit_tiny_rw_224")),
    "hrnet": (16, r"layer1\.\d+|stage\d\.\d+", of_timm("hrnet_w18_small")),
    "nfnet": (16, r"stages\.\d+\.\d+", of_timm("eca_nfnet_l0")),
    "switch": (8, r"(en|de)coder\.block\.\d+", words(switch)),
    "adapters": (8, [], words(adapters)),
    "molecule": (16, r"layers\.\d+", molecule),
    "wavenet": (8, r"gates\.\d+", wavenet),
    "adversaries": (64, r"(generator|judge)\.\d+", adversaries),
    "features": (64, r"body\.blocks\.\d+", features),
    "wrapped": (16, [], wrapped),
}
