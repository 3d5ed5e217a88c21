"""Batches and losses of the models in wide.py, odd.py and varied.py."""
import torch
import torch.nn.functional as F

LAYERS = r"model\.layers\.\d+"  # of most language models of transformers


def labels(batch, classes):
    return torch.arange(batch) % classes


def words(make, length=256, vocabulary=8000):
    def build(batch):
        model, tokens = make(), torch.randint(2, vocabulary, (batch, length))
        return model, lambda model: model(input_ids=tokens, labels=tokens).loss
    return build


def pictures(make, classes=100, side=224, smoothing=0.0):
    def build(batch):
        images, wanted = torch.randn(batch, 3, side, side), labels(batch, classes)
        return make(num_classes=classes), lambda model: F.cross_entropy(model(images), wanted, label_smoothing=smoothing)
    return build
