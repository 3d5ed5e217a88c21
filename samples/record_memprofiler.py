#!/usr/bin/env python3
"""Trains a small model with FSDP2 under Lightning, watched by MemProfiler: record_memprofiler.py OUTDIR

Needs PyTorch 2.15 with CUDA, lightning and finetuning-scheduler. One run records one rank; without GPUs:

    for rank in 0 1; do
        memsnap dryrun --world 2 --rank $rank --steps 0 -o /tmp/dump.pickle -- python record_memprofiler.py OUTDIR
    done

The options are those of MemProfiler's demo (fts_examples/model_parallel/config/profiling), but pickled statistics are
written, too. Every file is scrubbed and compressed.
"""
import gzip
import json
import os
import pickle
import re
import sys
from pathlib import Path

import lightning as L
import torch
from fts_examples.profiling import MemProfiler, MemProfilerCfg
from fts_examples.profiling.profiler_hooks_mixin import ProfilerHooksMixin
from lightning.pytorch.profilers import PyTorchProfiler
from lightning.pytorch.strategies import ModelParallelStrategy
from torch import nn
from torch.distributed.fsdp import fully_shard

WIDTH, WORDS, LENGTH, BATCH = 128, 1000, 64, 4


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(2))
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, tokens):
        x = self.words(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


class Training(ProfilerHooksMixin, L.LightningModule):
    def __init__(self, memprofiler_cfg):
        super().__init__(memprofiler_cfg=memprofiler_cfg)
        self.model = Model()

    def configure_model(self):
        if not isinstance(self.model, torch.distributed.fsdp.FSDPModule):
            mesh = self.device_mesh["data_parallel"]
            for block in self.model.blocks:
                fully_shard(block, mesh=mesh)
            fully_shard(self.model, mesh=mesh)

    def forward(self, tokens):
        return self.model(tokens)

    @MemProfiler.memprofilable
    def training_step(self, batch):
        (tokens,) = batch
        return nn.functional.cross_entropy(self(tokens).flatten(0, 1), tokens.flatten())

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())


def settings(folder):
    return MemProfilerCfg(
        enabled=True, cuda_allocator_history=True, track_fsdp_mem=True, fsdp_mem_track_module_depth=4,
        fsdp_mem_tracker_tabulate=True, fsdp_mem_tracker_root_module="model", dump_memorystats_pickle=True,
        save_dir=folder)


def profiler(folder):
    """Lightning's own, of the second step: a trace for TensorBoard, and a table of operators. Stacks would make the
    trace 50 times as large."""
    return PyTorchProfiler(
        dirpath=folder, filename="profile", profile_memory=True, record_shapes=False, record_module_names=False,
        schedule=torch.profiler.schedule(wait=1, warmup=0, active=1, repeat=1), sort_by_key="cuda_memory_usage")


def neutral(name):
    """A file of a package below the package's own name; other files by their last part."""
    for mark in ("/site-packages/", "/lib/python3.11/"):
        if mark in name:
            return "/usr/lib/python3/" + name.split(mark, 1)[1]
    return re.sub(r"^/.*/", "/home/user/train/", name)


def scrub_frames(item, seen):
    if id(item) in seen:
        return
    seen.add(id(item))
    if isinstance(item, dict):
        if "filename" in item:
            item["filename"] = neutral(item["filename"])
        for value in item.values():
            scrub_frames(value, seen)
    elif isinstance(item, list):
        for value in item:
            scrub_frames(value, seen)


def scrubbed(trace):
    for key in "host_name", "traceName", "trace_id":
        trace.pop(key, None)
    return trace


def compress(path):
    content = path.read_bytes()
    if path.name.endswith(".pt.trace.json"):  # fit-profile-RANK-[Strategy]...NANOSECONDS.pt.trace.json
        content = json.dumps(scrubbed(json.loads(content)), indent=0).encode()
        path = path.rename(path.with_name(path.name.split("-[")[0] + ".pt.trace.json"))
    if path.name.startswith("cuda_alloc"):
        snapshot = pickle.loads(content)
        scrub_frames(snapshot, set())
        content = pickle.dumps(snapshot)
    with open(f"{path}.gz", "wb") as raw, gzip.GzipFile("", "wb", 9, raw, 0) as file:
        file.write(content)
    path.unlink()


def main(folder):
    torch.manual_seed(0)
    data = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(torch.randint(WORDS, (4 * BATCH, LENGTH))), batch_size=BATCH)
    world = int(os.environ["WORLD_SIZE"])
    trainer = L.Trainer(
        accelerator="cuda", devices=world, max_steps=3, logger=False,
        strategy=ModelParallelStrategy(data_parallel_size=world, tensor_parallel_size=1),
        enable_checkpointing=False, enable_progress_bar=False, use_distributed_sampler=False,
        default_root_dir=folder, profiler=profiler(folder))
    trainer.fit(Training(settings(folder)), data)
    for path in sorted(Path(folder).iterdir()):
        if path.is_file() and path.suffix != ".gz":
            compress(path)


if __name__ == "__main__":
    main(sys.argv[1])
