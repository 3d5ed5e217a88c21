"""Models of the transformers library, with peft's adapters, frozen, tied and shared parameters, and a recommender of which
two tables are most of its parameters. They were measured before any rule was changed for them."""
import torch
from torch import nn
from torch.nn import functional as F


class Logits(nn.Module):
    """A model of transformers whose outputs are only the logits."""
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, *inputs):
        return self.model(*inputs).logits


class Speech(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, sound, tokens):
        return self.model(input_features=sound, decoder_input_ids=tokens).logits


class Translator(Speech):
    def forward(self, source, tokens):
        return self.model(input_ids=source, decoder_input_ids=tokens).logits


def speech():
    from transformers import WhisperConfig, WhisperForConditionalGeneration
    config = WhisperConfig(d_model=384, encoder_layers=4, decoder_layers=4, encoder_attention_heads=6, decoder_attention_heads=6,
                           encoder_ffn_dim=1536, decoder_ffn_dim=1536, use_cache=False)
    return Speech(WhisperForConditionalGeneration(config))


def translator():
    from transformers import T5Config, T5ForConditionalGeneration
    config = T5Config(d_model=512, d_ff=2048, num_layers=6, num_heads=8, use_cache=False)
    return Translator(T5ForConditionalGeneration(config))


def mixtral():
    from transformers import MixtralConfig, MixtralForCausalLM
    config = MixtralConfig(vocab_size=16000, hidden_size=512, intermediate_size=1024, num_hidden_layers=4, num_attention_heads=8,
                           num_key_value_heads=4, num_local_experts=8, use_cache=False)
    return Logits(MixtralForCausalLM(config))


def adapted_vit():
    from peft import LoraConfig, get_peft_model
    from transformers import ViTConfig, ViTForImageClassification
    model = ViTForImageClassification(ViTConfig(num_labels=100))
    modules = [name for name, module in model.named_modules()
               if isinstance(module, nn.Linear) and "classifier" not in name and module.out_features == module.in_features]
    return Logits(get_peft_model(model, LoraConfig(r=16, target_modules=modules, modules_to_save=["classifier"])))


def albert():
    from transformers import AlbertConfig, AlbertForMaskedLM
    return Logits(AlbertForMaskedLM(AlbertConfig(hidden_size=768, num_attention_heads=12, intermediate_size=3072)))


def frozen_words():
    from transformers import RobertaConfig, RobertaForSequenceClassification
    model = RobertaForSequenceClassification(RobertaConfig(num_hidden_layers=6, num_labels=10, max_position_embeddings=600))
    model.roberta.embeddings.requires_grad_(False)
    return Logits(model)


class GiantTables(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        rows = [3000, 600000, 500, 20000, 400000, 1000, 50000, 8000]
        self.tables = nn.ModuleList(nn.EmbeddingBag(count, width, mode="sum") for count in rows)
        self.bottom = nn.Sequential(nn.Linear(13, 512), nn.ReLU(), nn.Linear(512, width), nn.ReLU())
        self.top = nn.Sequential(nn.Linear((len(rows) + 1) * width, 1024), nn.ReLU(), nn.Linear(1024, 256), nn.ReLU(), nn.Linear(256, 1))

    def forward(self, numbers, indices):
        vectors = [table(indices[:, i]) for i, table in enumerate(self.tables)]
        return self.top(torch.cat([self.bottom(numbers), *vectors], dim=1)).squeeze(1)


def clicks(outputs):
    return F.binary_cross_entropy_with_logits(outputs, torch.ones_like(outputs))


def words(count, batch, length):
    return lambda: torch.randint(5, count, (batch, length), device="cuda")


# The model, its batch, and the number of classes or the loss.
LIBRARY_MODELS = {
    "whisper": (speech, lambda: (torch.randn(4, 80, 3000, device="cuda"), torch.randint(50000, (4, 128), device="cuda")), 51865),
    "translator": (translator, lambda: (torch.randint(32000, (4, 256), device="cuda"), torch.randint(32000, (4, 128), device="cuda")), 32128),
    "mixtral": (mixtral, words(16000, 4, 256), 16000),
    "adaptedvit": (adapted_vit, lambda: torch.randn(16, 3, 224, 224, device="cuda"), 100),
    "albert": (albert, words(30000, 8, 256), 30000),
    "frozenwords": (frozen_words, words(30000, 8, 256), 10),
    "bigtables": (GiantTables, lambda: (torch.randn(4096, 13, device="cuda"), torch.randint(500, (4096, 8, 20), device="cuda")), clicks),
}
