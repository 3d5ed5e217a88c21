"""Models for measure.py that were tried after the others: two towers and a contrastive loss, relative attention, rotary attention
with the cache left on, convolutions between attention, graphs of neighbours, layers that a condition scales."""
from functools import partial

import timm
import torch
import torch.nn.functional as F
import torchvision.models as vision
import transformers as hf
from torch import nn

from batches import LAYERS, labels, pictures


def regnet(num_classes):
    """Its widths are computed by tensors, which have no values in a dry run."""
    device = torch.empty(0).device
    with torch.device("cpu"):
        model = vision.regnet_y_800mf(num_classes=num_classes)
    return model.to(device)


def deberta(batch):
    """The last words of each text are padding."""
    model = hf.DebertaV2ForTokenClassification(hf.DebertaV2Config(
        vocab_size=2000, hidden_size=512, num_hidden_layers=6, num_attention_heads=8, intermediate_size=2048, relative_attention=True,
        pos_att_type=["p2c", "c2p"], position_buckets=32, max_relative_positions=64, norm_rel_ebd="layer_norm", share_att_key=True,
        position_biased_input=False, num_labels=5))
    tokens, mask = torch.randint(1, 2000, (batch, 256)), torch.ones(batch, 256, dtype=torch.long)
    mask[:, 250:] = 0
    return model, lambda model: model(input_ids=tokens, attention_mask=mask, labels=tokens % 5).loss


def olmo(batch):
    model = hf.Olmo2ForCausalLM(hf.Olmo2Config(
        vocab_size=4000, hidden_size=768, intermediate_size=2304, num_hidden_layers=8, num_attention_heads=12, num_key_value_heads=4,
        pad_token_id=0))
    tokens = torch.randint(1, 4000, (batch, 513))
    return model, lambda model: F.cross_entropy(model(tokens[:, :-1]).logits.flatten(0, 1), tokens[:, 1:].flatten())


def phi(batch):
    model = hf.PhiForCausalLM(hf.PhiConfig(
        vocab_size=4000, hidden_size=768, intermediate_size=3072, num_hidden_layers=8, num_attention_heads=12, resid_pdrop=0.1,
        embd_pdrop=0.1, attention_dropout=0.1)).to(torch.bfloat16)
    tokens = torch.randint(1, 4000, (batch, 512))
    return model, lambda model: model(input_ids=tokens, labels=tokens).loss


def clip(batch):
    text = {"vocab_size": 1000, "hidden_size": 384, "intermediate_size": 1536, "num_hidden_layers": 6, "num_attention_heads": 6}
    sight = {"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 6, "num_attention_heads": 12, "patch_size": 16}
    model = hf.CLIPModel(hf.CLIPConfig(text_config=text, vision_config=sight, projection_dim=384))
    tokens, images = torch.randint(3, 1000, (batch, 77)), torch.randn(batch, 3, 224, 224)
    return model, lambda model: model(input_ids=tokens, pixel_values=images, return_loss=True).loss


def conformer(batch):
    model = hf.Wav2Vec2ConformerForCTC(hf.Wav2Vec2ConformerConfig(
        vocab_size=32, hidden_size=384, num_hidden_layers=6, num_attention_heads=6, intermediate_size=1536, layerdrop=0.0,
        mask_time_prob=0.0, position_embeddings_type="relative", conv_dim=(384,) * 4, conv_stride=(5, 4, 4, 2),
        conv_kernel=(10, 8, 4, 4), num_feat_extract_layers=4, feat_extract_norm="layer", num_conv_pos_embeddings=16,
        num_conv_pos_embedding_groups=4))
    sound = torch.randn(batch, 48000)
    return model, lambda model: model(sound).logits.float().log_softmax(-1)[..., 0].mean().neg()


class Neighbours(nn.Module):
    """A layer on the edges to the nearest points (Wang and others, 2019)."""

    def __init__(self, width, made, count=20):
        super().__init__()
        self.count = count
        self.net = nn.Sequential(nn.Conv2d(2 * width, made, 1, bias=False), nn.BatchNorm2d(made), nn.LeakyReLU(0.2, inplace=True))

    def forward(self, x):
        with torch.no_grad():
            places = x.transpose(1, 2)
            near = torch.cdist(places, places).topk(self.count, largest=False).indices
        batch, width, points = x.shape
        found = x.gather(2, near.flatten(1)[:, None].expand(-1, width, -1)).view(batch, width, points, self.count)
        here = x[..., None].expand_as(found)
        return self.net(torch.cat([found - here, here], 1)).amax(3)


class Cloud(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        sizes = 3, width, width, 2 * width, 4 * width
        self.edges = nn.ModuleList(Neighbours(*pair) for pair in zip(sizes, sizes[1:]))
        self.mix = nn.Sequential(nn.Conv1d(8 * width, 1024, 1), nn.BatchNorm1d(1024), nn.LeakyReLU(0.2))
        self.head = nn.Sequential(nn.Linear(1024, 128), nn.Dropout(0.5), nn.Linear(128, 40))

    def forward(self, x):
        found = []
        for edge in self.edges:
            x = edge(x)
            found.append(x)
        return self.head(self.mix(torch.cat(found, 1)).amax(2))


def cloud(batch):
    points, wanted = torch.randn(batch, 3, 1024), labels(batch, 40)
    return Cloud(), lambda model: F.cross_entropy(model(points), wanted)


class Conditioned(nn.Module):
    """A block whose norms are scaled by a condition (Peebles and Xie, 2023)."""

    def __init__(self, width, heads):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(width, elementwise_affine=False) for _ in range(2))
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU("tanh"), nn.Linear(4 * width, width))
        self.scale = nn.Sequential(nn.SiLU(), nn.Linear(width, 6 * width))

    def forward(self, x, condition):
        a, b, c, d, e, f = self.scale(condition)[:, None].chunk(6, 2)
        y = self.norms[0](x) * (1 + a) + b
        x = x + c * self.attention(y, y, y, need_weights=False)[0]
        return x + d * self.mlp(self.norms[1](x) * (1 + e) + f)


class DiffusionTransformer(nn.Module):
    def __init__(self, width=384, depth=8, heads=6):
        super().__init__()
        self.patch, self.time = nn.Conv2d(4, width, 2, 2), nn.Sequential(nn.Linear(1, width), nn.SiLU(), nn.Linear(width, width))
        self.blocks = nn.ModuleList(Conditioned(width, heads) for _ in range(depth))
        self.out = nn.Linear(width, 16)

    def forward(self, x, time):
        condition, z = self.time(time[:, None]), self.patch(x)
        size = z.shape[2:]
        z = z.flatten(2).transpose(1, 2)
        for block in self.blocks:
            z = block(z, condition)
        return F.pixel_shuffle(self.out(z).transpose(1, 2).unflatten(2, size), 2)


def diffusion_transformer(batch):
    images = torch.randn(batch, 4, 32, 32)

    def loss(model):
        time, noise = torch.rand(batch, device=images.device), torch.randn_like(images)
        mixed = torch.lerp(images, noise, time[:, None, None, None])
        return (model(mixed, time) - (noise - images)).square().mean()
    return DiffusionTransformer(), loss


BUILDERS = {
    "efficientnet_v2": (16, r"features\.[1-6]\.\d+", pictures(vision.efficientnet_v2_s, smoothing=0.1)),
    "regnet": (32, r"trunk_output\.block\d\.block\d-\d+", pictures(regnet, smoothing=0.1)),
    "xcit": (32, r"blocks\.\d+", pictures(partial(timm.create_model, "xcit_nano_12_p16_224"), smoothing=0.1)),
    "deberta": (8, r"deberta\.encoder\.layer\.\d+", deberta),
    "olmo": (4, LAYERS, olmo),
    "phi": (8, LAYERS, phi),
    "clip": (32, r"(text|vision)_model\.encoder\.layers\.\d+", clip),
    "conformer": (8, r"wav2vec2_conformer\.encoder\.layers\.\d+", conformer),
    "cloud": (16, r"edges\.\d+", cloud),
    "diffusion_transformer": (16, r"blocks\.\d+", diffusion_transformer),
}
