"""Models for loop.py: each function returns a model and its input, small enough for a CPU."""
import torch
import torch.nn.functional as F
import torchvision.models as vision
import transformers as hf
from torch import nn

import more


def tokens():
    return torch.randint(0, 100, (2, 16))


def images(side=32):
    return torch.randn(2, 3, side, side)


def language_model(model):
    ids = tokens()
    return model, {"input_ids": ids, "labels": ids}


def convolutions(inputs, outputs):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True),
        nn.Conv2d(outputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))


class UNet(nn.Module):
    """Skip connections: results are used again much later."""

    def __init__(self, width=8):
        super().__init__()
        self.pool = nn.MaxPool2d(2)
        self.down1, self.down2, self.down3 = (
            convolutions(3, width), convolutions(width, 2 * width), convolutions(2 * width, 4 * width))
        self.grow2, self.up2 = nn.ConvTranspose2d(4 * width, 2 * width, 2, 2), convolutions(4 * width, 2 * width)
        self.grow1, self.up1 = nn.ConvTranspose2d(2 * width, width, 2, 2), convolutions(2 * width, width)
        self.out = nn.Conv2d(width, 1, 1)

    def forward(self, x):
        first = self.down1(x)
        second = self.down2(self.pool(first))
        x = self.down3(self.pool(second))
        x = self.up2(torch.cat([self.grow2(x), second], 1))
        return self.out(self.up1(torch.cat([self.grow1(x), first], 1)))


class Recurrent(nn.Module):
    """One dropout module in two places."""

    def __init__(self):
        super().__init__()
        self.embedding, self.dropout = nn.Embedding(100, 32), nn.Dropout(0.2)
        self.lstm = nn.LSTM(32, 32, 2, batch_first=True, dropout=0.1)
        self.head = nn.Linear(32, 100)

    def forward(self, x):
        result, _ = self.lstm(self.dropout(self.embedding(x)))
        return self.head(self.dropout(result))


class Experts(nn.Module):
    def __init__(self, width, count):
        super().__init__()
        self.norm, self.gate = nn.LayerNorm(width), nn.Linear(width, count)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(width, 64), nn.GELU(), nn.Linear(64, width))
            for _ in range(count))

    def forward(self, x):
        normed = self.norm(x)
        share = self.gate(normed).softmax(-1)
        mixed = sum(share[..., i:i + 1] * expert(normed) for i, expert in enumerate(self.experts))
        return x + mixed, share.square().mean()


class Mixture(nn.Module):
    """Blocks that return a second result."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(100, 32)
        self.blocks = nn.ModuleList(Experts(32, 4) for _ in range(4))
        self.norm, self.head = nn.LayerNorm(32), nn.Linear(32, 100)

    def forward(self, x):
        x, loss = self.embedding(x), 0
        for block in self.blocks:
            x, balance = block(x)
            loss = loss + balance
        return self.head(self.norm(x)).square().mean() + loss / 100


class Functional(nn.Module):
    """Functions between modules, which no trace of modules shows."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.c, self.d = (nn.Linear(16, 16) for _ in range(4))
        self.norm = nn.LayerNorm(16)

    def forward(self, x):
        x = self.b(F.relu(self.a(x)))
        rows = x.shape[0]
        return self.norm(self.d(self.c(x))) * rows


class Scan(nn.Module):
    """A block of Mamba's kind (Gu and Dao, 2023): a gated convolution along time and a recurrence."""

    def __init__(self, width, states=4):
        super().__init__()
        self.norm, self.enter = nn.LayerNorm(width), nn.Linear(width, 2 * width)
        self.mix = nn.Conv1d(width, width, 4, padding=3, groups=width)
        self.choose, self.leave = nn.Linear(width, 2 * states + 1), nn.Linear(width, width)
        self.decay = nn.Parameter(torch.randn(width, states))
        self.states = states

    def forward(self, x, scale=1.0):
        value, gate = self.enter(self.norm(x)).chunk(2, -1)
        value = F.silu(self.mix(value.transpose(1, 2))[..., :x.shape[1]].transpose(1, 2))
        step, write, read = self.choose(value).split([1, self.states, self.states], -1)
        step, state, out = F.softplus(step), 0, []
        for t in range(x.shape[1]):
            keep = torch.exp(-step[:, t, :, None] * self.decay.exp())
            state = keep * state + (step[:, t] * value[:, t]).unsqueeze(-1) * write[:, t].unsqueeze(1)
            out.append((state * read[:, t].unsqueeze(1)).sum(-1))
        return x + scale * self.leave(torch.stack(out, 1) * F.silu(gate))


class Scans(nn.Module):
    """Blocks called by keyword, and a list of results that is kept to the end."""

    def __init__(self, layers=4):
        super().__init__()
        self.words = nn.Embedding(100, 32)
        self.mixers = nn.ModuleList(Scan(32) for _ in range(layers))
        self.head = nn.Linear(32, 100)

    def forward(self, tokens):
        x, results = self.words(tokens), []
        for mixer in self.mixers:
            x = mixer(x=x, scale=0.5)
            results.append(x)
        return self.head(sum(results))


class Ladder(nn.Module):
    """Names with numbers, changes in place after a skip connection, and a buffer that the model counts in."""

    def __init__(self, width=8):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, padding=1)
        for k in range(4):
            setattr(self, "stage_%d" % k, nn.Sequential(
                nn.Conv2d(width, width, 3, padding=1), nn.GroupNorm(2, width), nn.Hardswish(inplace=True)))
        self.register_buffer("runs", torch.zeros(1))
        self.out = nn.Conv2d(width, 1, 1)

    def forward(self, x):
        self.runs += 1
        x = first = self.stem(x)
        for k in range(4):
            x = getattr(self, "stage_%d" % k)(x)
            x += first
        return self.out(F.hardtanh_(x))


class Reversed(nn.Module):
    """Layers that run in another order than they are named, one of them twice, and a result in a dictionary."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleDict({name: nn.Sequential(nn.Linear(32, 64), nn.Tanh(), nn.Linear(64, 32))
                                     for name in "abcdef"})
        self.head = nn.Linear(32, 10)

    def forward(self, x):
        state = {"x": x}
        for name in "fedcba":
            state["x"] = state["x"] + self.layers[name](state["x"])
        state["x"] = self.layers["c"](state["x"])
        return self.head(state["x"])


def small(kind, config, **sizes):
    return lambda: language_model(kind(config(vocab_size=100, **sizes)))


def whisper():
    model = hf.WhisperForConditionalGeneration(hf.WhisperConfig(
        vocab_size=100, d_model=32, encoder_layers=3, decoder_layers=3, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=64, decoder_ffn_dim=64, num_mel_bins=8, max_source_positions=16,
        max_target_positions=32, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1))
    return model, {"input_features": torch.randn(2, 8, 32), "labels": tokens()}


def convnext():
    from torchvision.models.convnext import CNBlockConfig, ConvNeXt
    return ConvNeXt([CNBlockConfig(8, 16, 2), CNBlockConfig(16, 32, 3), CNBlockConfig(32, None, 2)],
                    stochastic_depth_prob=0.1, num_classes=10), images(64)


def sizes(width="hidden_size", layers="num_hidden_layers", heads="num_attention_heads", inner="intermediate_size", **more):
    return {width: 32, layers: 4, heads: 4, inner: 64, **more}


def perceptron():
    return nn.Sequential(*(nn.Sequential(nn.Linear(64, 64), nn.GELU()) for _ in range(8)))


MODELS = {
    "resnet50": lambda: (vision.resnet50(num_classes=10), images(64)),
    "vgg": lambda: (vision.vgg11_bn(num_classes=10), images()),
    "vit": lambda: (vision.VisionTransformer(32, 8, 4, 2, 32, 64, num_classes=10, dropout=0.1),
                    images()),
    "swin": lambda: (vision.swin_t(num_classes=10), images(64)),
    "densenet": lambda: (vision.densenet121(num_classes=10), images()),
    "mobilenet": lambda: (vision.mobilenet_v3_small(num_classes=10), images(64)),
    "gpt2": lambda: language_model(hf.GPT2LMHeadModel(hf.GPT2Config(
        n_layer=4, n_embd=32, n_head=2, vocab_size=100, n_positions=32,
        bos_token_id=0, eos_token_id=0))),
    "bert": lambda: language_model(hf.BertForMaskedLM(hf.BertConfig(
        hidden_size=32, num_hidden_layers=4, num_attention_heads=2, intermediate_size=64,
        vocab_size=100, max_position_embeddings=32))),
    "llama": lambda: language_model(hf.LlamaForCausalLM(hf.LlamaConfig(
        hidden_size=32, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2,
        intermediate_size=64, vocab_size=100))),
    "t5": lambda: language_model(hf.T5ForConditionalGeneration(hf.T5Config(
        d_model=32, d_ff=64, num_layers=3, num_heads=2, d_kv=16, vocab_size=100,
        decoder_start_token_id=0))),
    "convnext": convnext,
    "efficientnet": lambda: (vision.efficientnet_b0(num_classes=10), images(32)),
    "regnet": lambda: (vision.regnet_y_400mf(num_classes=10), images()),
    "googlenet": lambda: (vision.googlenet(num_classes=10, aux_logits=False, init_weights=False), images(64)),
    "shufflenet": lambda: (vision.shufflenet_v2_x0_5(num_classes=10), images(64)),
    "mixtral": small(hf.MixtralForCausalLM, hf.MixtralConfig, num_key_value_heads=2, num_local_experts=4, **sizes()),
    "albert": small(hf.AlbertForMaskedLM, hf.AlbertConfig, embedding_size=16, **sizes()),
    "bart": small(hf.BartForConditionalGeneration, hf.BartConfig, d_model=32, encoder_layers=3, decoder_layers=3,
                  encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=64, decoder_ffn_dim=64,
                  max_position_embeddings=32),
    "opt": small(hf.OPTForCausalLM, hf.OPTConfig, ffn_dim=64, word_embed_proj_dim=32, max_position_embeddings=64,
                 hidden_size=32, num_hidden_layers=4, num_attention_heads=4),
    "neox": small(hf.GPTNeoXForCausalLM, hf.GPTNeoXConfig, **sizes()),
    "deberta": small(hf.DebertaV2ForMaskedLM, hf.DebertaV2Config, **sizes()),
    "mamba": small(hf.MambaForCausalLM, hf.MambaConfig, hidden_size=32, num_hidden_layers=4, state_size=4),
    "whisper": whisper,
    "scans": lambda: (Scans(), tokens()),
    "ladder": lambda: (Ladder(), images()),
    "reversed": lambda: (Reversed(), torch.randn(4, 32)),
    "unet": lambda: (UNet(), images()),
    "lstm": lambda: (Recurrent(), tokens()),
    "mixture": lambda: (Mixture(), tokens()),
    "functional": lambda: (Functional(), torch.randn(4, 16)),
    "perceptron": lambda: (perceptron(), torch.randn(8, 64)),
    **more.SMALL,
}
