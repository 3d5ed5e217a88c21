"""Models for measure.py whose code does more than call layers in a row: they hook their modules, skip or repeat them, take
dictionaries and None, keep state, train only a part, or run several times in a step."""
import math

import torch
import torch.nn.functional as F
import torchvision.models as vision
import transformers as hf
from torch import nn

from batches import LAYERS, labels, words


def transformer(model, config, **more):
    return lambda: model(config(hidden_size=512, num_hidden_layers=4, num_attention_heads=8, num_key_value_heads=4,
                                intermediate_size=2048, vocab_size=8000, use_cache=False, **more))


def qwen2():
    """Its last layer has the weights of its embedding."""
    return transformer(hf.Qwen2ForCausalLM, hf.Qwen2Config, tie_word_embeddings=True)()


def gemma2():
    return transformer(hf.Gemma2ForCausalLM, hf.Gemma2Config, head_dim=64, sliding_window=64)()


def qwen3_moe():
    return transformer(hf.Qwen3MoeForCausalLM, hf.Qwen3MoeConfig, head_dim=64, num_experts=8, num_experts_per_tok=2,
                       moe_intermediate_size=512, output_router_logits=True)()


def mamba2():
    return hf.Mamba2ForCausalLM(hf.Mamba2Config(
        hidden_size=512, num_hidden_layers=4, num_heads=16, head_dim=64, state_size=64, n_groups=1, vocab_size=8000,
        chunk_size=64, use_cache=False))


def long_t5():
    return hf.LongT5ForConditionalGeneration(hf.LongT5Config(
        d_model=512, d_kv=64, d_ff=1024, num_layers=4, num_heads=8, vocab_size=8000, decoder_start_token_id=0,
        use_cache=False, local_radius=63))


class Lora(nn.Module):
    """A frozen layer, and a product of two thin matrices that is trained (Hu and others, 2021)."""

    def __init__(self, base, rank=4):
        super().__init__()
        self.base, self.drop = base, nn.Dropout(0.05)
        self.down, self.up = nn.Linear(base.in_features, rank, bias=False), nn.Linear(rank, base.out_features, bias=False)

    def forward(self, x):
        return self.base(x) + self.up(self.down(self.drop(x)))


def lora():
    model = qwen2().requires_grad_(False)
    for layer in model.model.layers:
        layer.self_attn.q_proj, layer.self_attn.v_proj = Lora(layer.self_attn.q_proj), Lora(layer.self_attn.v_proj)
        for linear in layer.self_attn.q_proj, layer.self_attn.v_proj:
            linear.down.requires_grad_(), linear.up.requires_grad_()
    return model


def pixels(make, side=224):
    def build(batch):
        images, model = torch.randn(batch, 3, side, side), make()

        def loss(model):
            result = model(images)
            result = result if isinstance(result, torch.Tensor) else result[0]
            return result.float().square().mean()
        return model, loss
    return build


def segformer():
    """Its layers are hooked when it first returns hidden states."""
    return hf.SegformerForSemanticSegmentation(hf.SegformerConfig())


def swin2():
    return hf.Swinv2ForImageClassification(hf.Swinv2Config(image_size=256, depths=[2, 2, 2, 2]))


def detr():
    return hf.DetrModel(hf.DetrConfig(
        use_timm_backbone=False, use_pretrained_backbone=False, backbone=None, d_model=256, encoder_layers=4, decoder_layers=4,
        backbone_config=hf.ResNetConfig(out_features=["stage4"]), encoder_ffn_dim=1024, decoder_ffn_dim=1024))


def half_frozen():
    model = vision.resnet18(num_classes=10)
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(name.startswith(("layer3", "layer4", "fc")))
    return model


def deeplab(batch):
    """Its result is a dictionary."""
    model = vision.segmentation.deeplabv3_resnet50(weights=None, weights_backbone=None, num_classes=4, aux_loss=True)
    images, wanted = torch.randn(batch, 3, 256, 256), torch.zeros(batch, 256, 256, dtype=torch.long)

    def loss(model):
        result = model(images)
        return F.cross_entropy(result["out"], wanted) + 0.5 * F.cross_entropy(result["aux"], wanted)
    return model, loss


class Pairs(nn.Module):
    """A block of two streams, tuples in tuples (Jumper and others, 2021, in short)."""

    def __init__(self, width):
        super().__init__()
        self.one, self.two = (nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width)) for _ in range(2))
        self.mix = nn.Linear(width, width)

    def forward(self, state, *, bias=None):
        (single, pair), extra = state
        single = single + self.one(single).relu() + (0 if bias is None else bias)
        pair = pair + self.two(pair).relu() + self.mix(single)[:, :, None] * self.mix(single)[:, None]
        return (single, pair), extra


class Evoformer(nn.Module):
    def __init__(self, width=64, blocks=6):
        super().__init__()
        self.blocks, self.head = nn.ModuleList(Pairs(width) for _ in range(blocks)), nn.Linear(width, 1)

    def forward(self, batch, extra=None):
        state = (batch["single"], batch["pair"]), extra
        for number, block in enumerate(self.blocks):
            state = block(state, bias=None if number % 2 else batch["single"].mean())
        (single, pair), _ = state
        return {"pair": self.head(pair), "single": (single, None)}


def video(batch):
    frames, wanted = torch.randn(batch, 3, 8, 112, 112), labels(batch, 10)
    return vision.video.r3d_18(num_classes=10), lambda model: F.cross_entropy(model(frames), wanted)


def evoformer(batch):
    given = {"single": torch.randn(batch, 128, 64), "pair": torch.randn(batch, 128, 128, 64)}

    def loss(model):
        result = model(given)
        return result["pair"].square().mean() + result["single"][0].square().mean()
    return Evoformer(), loss


class Codes(nn.Module):
    """A codebook by moving averages (van den Oord and others, 2017): the forward pass changes buffers."""

    def __init__(self, codes=64, width=64):
        super().__init__()
        for name, value in ("codes", torch.randn(codes, width)), ("count", torch.ones(codes)), ("total", torch.zeros(codes, width)):
            self.register_buffer(name, value)

    def forward(self, x):
        flat = x.permute(0, 2, 3, 1).reshape(-1, self.codes.shape[1])
        nearest = torch.cdist(flat, self.codes).argmin(-1)
        chosen = self.codes[nearest].view(x.shape[0], *x.shape[2:], -1).permute(0, 3, 1, 2)
        with torch.no_grad():
            each = F.one_hot(nearest, len(self.codes)).to(flat.dtype)
            self.count.mul_(0.9).add_(each.sum(0), alpha=0.1)
            self.total.mul_(0.9).add_(each.t() @ flat, alpha=0.1)
            self.codes.copy_(self.total / self.count[:, None])
        return x + (chosen - x).detach(), F.mse_loss(x, chosen.detach())


class Autoencoder(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(3, width, 4, 2, 1), nn.ReLU(), nn.Conv2d(width, width, 4, 2, 1), nn.BatchNorm2d(width))
        self.codes = Codes(width=width)
        self.decoder = nn.Sequential(nn.ConvTranspose2d(width, width, 4, 2, 1), nn.BatchNorm2d(width), nn.ReLU(),
                                     nn.ConvTranspose2d(width, 3, 4, 2, 1))

    def forward(self, x):
        chosen, distance = self.codes(self.encoder(x))
        return self.decoder(chosen), distance


def autoencoder(batch):
    images = torch.randn(batch, 3, 128, 128)

    def loss(model):
        result, distance = model(images)
        return F.mse_loss(result, images) + 0.25 * distance
    return Autoencoder(), loss


class PointNet(nn.Module):
    """Points of a cloud, each by itself, then their maximum (Qi and others, 2017)."""

    def __init__(self, classes=40):
        super().__init__()
        widths = 3, 64, 64, 128, 1024
        self.points = nn.Sequential(*(
            nn.Sequential(nn.Conv1d(*sizes, 1), nn.BatchNorm1d(sizes[1]), nn.ReLU()) for sizes in zip(widths, widths[1:])))
        self.head = nn.Sequential(nn.Linear(1024, 512), nn.BatchNorm1d(512), nn.ReLU(), nn.Dropout(0.3), nn.Linear(512, classes))

    def forward(self, points):
        return self.head(self.points(points).amax(2))


def pointnet(batch):
    points, wanted = torch.randn(batch, 3, 1024), labels(batch, 40)
    return PointNet(), lambda model: F.cross_entropy(model(points), wanted)


class Translator(nn.Module):
    """An LSTM encoder of packed sequences, and a decoder that attends to its results."""

    def __init__(self, vocabulary=8000, width=256):
        super().__init__()
        self.embed, self.encoder = nn.Embedding(vocabulary, width), nn.LSTM(width, width, 2, batch_first=True, dropout=0.1)
        self.cell, self.query = nn.LSTMCell(2 * width, width), nn.Linear(width, width)
        self.out = nn.Sequential(nn.Linear(2 * width, width), nn.Tanh(), nn.Linear(width, vocabulary))

    def forward(self, source, lengths, target):
        packed = nn.utils.rnn.pack_padded_sequence(self.embed(source), lengths, batch_first=True, enforce_sorted=False)
        memory, (hidden, cell) = self.encoder(packed)
        memory, _ = nn.utils.rnn.pad_packed_sequence(memory, batch_first=True, total_length=source.shape[1])
        state, results = (hidden[-1], cell[-1]), []
        for word in target.unbind(1):
            weights = (memory @ self.query(state[0])[:, :, None] / math.sqrt(memory.shape[2])).softmax(1)
            context = (weights * memory).sum(1)
            state = self.cell(torch.cat([self.embed(word), context], 1), state)
            results.append(self.out(torch.cat([state[0], context], 1)))
        return torch.stack(results, 1)


def translator(batch):
    source, target = torch.randint(0, 8000, (batch, 64)), torch.randint(0, 8000, (batch, 16))
    lengths = torch.tensor([64 - number % 3 for number in range(batch)], device="cpu")
    return Translator(), lambda model: F.cross_entropy(model(source, lengths, target=target).flatten(0, 1), target.flatten())


def flow(batch):
    """RAFT, whose update runs several times."""
    one, two = torch.rand(batch, 3, 256, 256), torch.rand(batch, 3, 256, 256)
    return vision.optical_flow.raft_small(weights=None), lambda model: sum(
        result.abs().mean() for result in model(one, two, num_flow_updates=3))


def twice(batch):
    """Gradients that pile up over two runs of the model."""
    model, tokens = qwen2(), torch.randint(0, 8000, (2, batch, 256))

    def loss(model):
        (model(input_ids=tokens[0], labels=tokens[0]).loss / 2).backward()
        return model(input_ids=tokens[1], labels=tokens[1]).loss / 2
    return model, loss


BUILDERS = {
    "qwen2": (4, LAYERS, words(qwen2)),
    "gemma2": (4, LAYERS, words(gemma2)),
    "qwen3_moe": (4, LAYERS, words(qwen3_moe)),
    "mamba2": (2, r"backbone\.layers\.\d+", words(mamba2)),
    "long_t5": (4, r"(en|de)coder\.block\.\d+", words(long_t5)),
    "lora": (4, LAYERS, words(lora)),
    "segformer": (8, r"segformer\.stages\.\d+\.blocks\.\d+", pixels(segformer)),
    "swin2": (8, r"swinv2\.encoder\.layers\.\d+\.blocks\.\d+", pixels(swin2, 256)),
    "detr": (4, r"(en|de)coder\.layers\.\d+", pixels(detr, 320)),
    "half_frozen": (32, r"layer[34]\.\d+", pixels(half_frozen)),
    "r3d": (4, r"layer\d\.\d+", video),
    "deeplab": (4, r"backbone\.layer\d\.\d+", deeplab),
    "evoformer": (4, r"blocks\.\d+", evoformer),
    "autoencoder": (16, r"encoder|decoder", autoencoder),
    "pointnet": (32, r"points\.\d+", pointnet),
    "translator": (32, r"encoder", translator),
    "flow": (2, r"feature_encoder\.layer\d\.\d+", flow),
    "twice": (4, LAYERS, twice),
}
