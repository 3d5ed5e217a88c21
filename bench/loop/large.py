"""Models of the usual sizes for measure.py, which need a GPU or a dry run.

MODELS has for each name a batch size, its blocks, and a function that makes the model and a function of the model which
computes the loss of one step. Blocks are a pattern of names, or lists of the names of modules in a row."""
import math
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Callable

import torch
import torch.nn.functional as F
import torchvision.models as vision
import transformers as hf
from torch import nn

import again
import models
import more
import wide


@dataclass
class Large:
    batch: int
    blocks: str | list
    make: Callable


def images(make, side=224, classes=1000, **more):
    def build(batch):
        batch, labels = torch.randn(batch, 3, side, side), torch.zeros(batch, dtype=torch.long)
        return make(num_classes=classes, **more), lambda model: F.cross_entropy(model(batch), labels)
    return build


def language(make, length):
    def build(batch):
        model = make()
        tokens = torch.zeros(batch, length, dtype=torch.long)
        return model, lambda model: model(input_ids=tokens, labels=tokens).loss
    return build


def half_precision(build):
    def build_half(batch):
        model, loss = build(batch)

        def autocast_loss(model):
            with torch.autocast("cuda", torch.bfloat16):
                return loss(model)
        return model, autocast_loss
    return build_half


def llama():
    return hf.LlamaForCausalLM(hf.LlamaConfig(
        hidden_size=1024, num_hidden_layers=12, num_attention_heads=16, num_key_value_heads=4, intermediate_size=2816,
        vocab_size=32000, use_cache=False)).to(torch.bfloat16)


def unet(batch):
    image, mask = torch.randn(batch, 3, 256, 256), torch.zeros(batch, 1, 256, 256)
    return models.UNet(64), lambda model: F.binary_cross_entropy_with_logits(model(image), mask)


class Lstm(nn.Module):
    """A language model of recurrent layers, with dropout between them."""

    def __init__(self, width=1024, layers=4, words=10000):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.layers = nn.ModuleList(nn.LSTM(width, width, batch_first=True) for _ in range(layers))
        self.dropouts = nn.ModuleList(nn.Dropout(0.2) for _ in range(layers))
        self.head = nn.Linear(width, words)

    def forward(self, tokens):
        x = self.words(tokens)
        for layer, dropout in zip(self.layers, self.dropouts):
            x = dropout(layer(x)[0])
        return self.head(x)


def tokens_to_words(make, length):
    def build(batch):
        tokens = torch.zeros(batch, length, dtype=torch.long)
        return make(), lambda model: F.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
    return build


class Experts(nn.Module):
    """Every expert takes the tokens with the highest affinity to it (expert choice, Zhou and others, 2022)."""

    def __init__(self, width, count):
        super().__init__()
        self.gate, self.count = nn.Linear(width, count, bias=False), count
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)) for _ in range(count))

    def forward(self, x):
        tokens = x.flatten(0, 1)
        shares, chosen = self.gate(tokens).softmax(-1).topk(2 * len(tokens) // self.count, dim=0)
        out = torch.zeros_like(tokens)
        for index, expert in enumerate(self.experts):
            rows = chosen[:, index]
            out = out.index_add(0, rows, expert(tokens[rows]) * shares[:, index:index + 1])
        return out.view_as(x)


class ExpertBlock(nn.Module):
    def __init__(self, width, heads, experts):
        super().__init__()
        self.norm1, self.norm2, self.heads = nn.LayerNorm(width), nn.LayerNorm(width), heads
        self.qkv, self.out, self.experts = nn.Linear(width, 3 * width), nn.Linear(width, width), Experts(width, experts)

    def forward(self, x):
        parts = self.qkv(self.norm1(x)).chunk(3, 2)
        q, k, v = (part.unflatten(2, (self.heads, -1)).transpose(1, 2) for part in parts)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
        return x + self.experts(self.norm2(x))


class MixtureOfExperts(nn.Module):
    def __init__(self, width=512, layers=8, experts=8, words=16000):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.blocks = nn.ModuleList(ExpertBlock(width, 8, experts) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words)

    def forward(self, tokens):
        x = self.words(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class Residual(nn.Module):
    def __init__(self, inputs, outputs, width):
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(32, inputs), nn.Conv2d(inputs, outputs, 3, padding=1)
        self.time = nn.Linear(width, outputs)
        self.norm2, self.conv2 = nn.GroupNorm(32, outputs), nn.Conv2d(outputs, outputs, 3, padding=1)
        self.skip = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x, time):
        y = self.conv1(F.silu(self.norm1(x))) + self.time(F.silu(time))[:, :, None, None]
        return self.skip(x) + self.conv2(F.silu(self.norm2(y)))


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.qkv, self.out = nn.GroupNorm(32, width), nn.Conv2d(width, 3 * width, 1), nn.Conv2d(width, width, 1)

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).flatten(2).transpose(1, 2).unflatten(2, (3, 4, -1)).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2).transpose(1, 2)
        return x + self.out(y.unflatten(2, x.shape[2:]))


class Level(nn.Module):
    def __init__(self, inputs, outputs, width, attends):
        super().__init__()
        self.residual = Residual(inputs, outputs, width)
        self.attention = Attention(outputs) if attends else nn.Identity()

    def forward(self, x, time):
        return self.attention(self.residual(x, time))


class Diffusion(nn.Module):
    """The U-Net of a diffusion model (Ho and others, 2020): time embedding, attention, skip connections."""

    def __init__(self, channels=(128, 256, 256, 512), width=512):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(128, width), nn.SiLU(), nn.Linear(width, width))
        self.first = nn.Conv2d(3, channels[0], 3, padding=1)
        self.down, self.up, self.shrink, self.grow = (nn.ModuleList() for _ in range(4))
        pairs = list(zip((channels[0], *channels), channels))
        for level, (inputs, outputs) in enumerate(pairs):
            self.down.append(Level(inputs, outputs, width, level >= 2))
            self.shrink.append(nn.Conv2d(outputs, outputs, 3, 2, 1))
        self.middle = Level(channels[-1], channels[-1], width, True)
        for level, (outputs, inputs) in reversed(list(enumerate(pairs))):
            self.grow.append(nn.ConvTranspose2d(inputs, inputs, 2, 2))
            self.up.append(Level(2 * inputs, outputs, width, level >= 2))
        self.last = nn.Sequential(nn.GroupNorm(32, channels[0]), nn.SiLU(), nn.Conv2d(channels[0], 3, 3, padding=1))

    def forward(self, x, time):
        angles = time[:, None] * torch.exp(torch.arange(64, device=time.device) * (-math.log(10000) / 64))
        time = self.time(torch.cat([angles.sin(), angles.cos()], 1))
        x, skips = self.first(x), []
        for level, shrink in zip(self.down, self.shrink):
            x = level(x, time)
            skips.append(x)
            x = shrink(x)
        x = self.middle(x, time)
        for level, grow in zip(self.up, self.grow):
            x = level(torch.cat([grow(x), skips.pop()], 1), time)
        return self.last(x)


def diffusion(batch):
    image, noise, time = torch.randn(batch, 3, 64, 64), torch.randn(batch, 3, 64, 64), torch.zeros(batch)
    return Diffusion(), lambda model: F.mse_loss(model(image, time), noise)


def bert():
    return hf.BertForMaskedLM(hf.BertConfig())


def gpt():
    return hf.GPT2LMHeadModel(hf.GPT2Config(bos_token_id=0, eos_token_id=0, use_cache=False))


def t5():
    return hf.T5ForConditionalGeneration(hf.T5Config(decoder_start_token_id=0, use_cache=False))


def whisper(batch):
    model = hf.WhisperForConditionalGeneration(hf.WhisperConfig(
        d_model=384, encoder_layers=4, decoder_layers=4, encoder_attention_heads=6, decoder_attention_heads=6,
        encoder_ffn_dim=1536, decoder_ffn_dim=1536, use_cache=False))
    sound, words = torch.randn(batch, 80, 3000), torch.zeros(batch, 128, dtype=torch.long)
    return model, lambda model: model(input_features=sound, labels=words).loss


MODELS = {
    "resnet50": Large(32, r"layer\d\.\d+", images(vision.resnet50)),
    "vgg16": Large(16, [["features.%d" % k for k in range(*ends)] for ends in ((0, 5), (5, 10), (10, 17), (17, 24), (24, 31))],
                   images(vision.vgg16)),
    "gpt2": Large(8, r"transformer\.h\.\d+", language(gpt, 512)),
    "bert": Large(16, r"bert\.encoder\.layer\.\d+", language(bert, 256)),
    "llama": Large(8, r"model\.layers\.\d+", language(llama, 1024)),
    "vit": Large(32, r"encoder\.layers\.encoder_layer_\d+", half_precision(images(vision.vit_b_16))),
    "unet": Large(8, r"(down|up)\d", unet),
    "lstm": Large(32, r"layers\.\d+", tokens_to_words(Lstm, 256)),
    "experts": Large(8, r"blocks\.\d+", tokens_to_words(MixtureOfExperts, 512)),
    "diffusion": Large(16, r"(down|up)\.\d+|middle", diffusion),
    # looked at only after all else was done
    "convnext": Large(16, r"features\.[1357]\.\d+", images(vision.convnext_tiny)),
    "swin": Large(16, r"features\.[1357]\.\d+", half_precision(images(vision.swin_t))),
    "efficientnet": Large(32, r"features\.[1-7]\.\d+", images(vision.efficientnet_b0)),
    "densenet": Large(16, r"features\.denseblock\d\.denselayer\d+", images(vision.densenet121)),
    "t5": Large(8, r"(en|de)coder\.block\.\d+", language(t5, 256)),
    "whisper": Large(8, r"model\.(en|de)coder\.layers\.\d+", whisper),
}
BUILDERS = {**more.BUILDERS, **wide.BUILDERS, **again.BUILDERS}
if find_spec("timm") and find_spec("peft"):
    import odd
    import varied
    BUILDERS.update({**odd.BUILDERS, **varied.BUILDERS})
MODELS.update({name: Large(*builder) for name, builder in BUILDERS.items()})
