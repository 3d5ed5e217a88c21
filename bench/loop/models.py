"""Models for loop.py: each function returns a model and its input, small enough for a CPU."""
import torch
import torch.nn.functional as F
import torchvision.models as vision
import transformers as hf
from torch import nn


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
    "unet": lambda: (UNet(), images()),
    "lstm": lambda: (Recurrent(), tokens()),
    "mixture": lambda: (Mixture(), tokens()),
    "functional": lambda: (Functional(), torch.randn(4, 16)),
    "perceptron": lambda: (perceptron(), torch.randn(8, 64)),
}
