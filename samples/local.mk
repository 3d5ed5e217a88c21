samplesdir = $(pkgdatadir)/samples
dist_samples_DATA = \
	samples/README.md \
	samples/cache.pickle.gz \
	samples/decoder.layers.json.gz \
	samples/decoder.operators.pickle.gz \
	samples/expandable.pickle.gz \
	samples/fsdp.layers.pickle \
	samples/gpt.layers.json.gz \
	samples/history-off.pickle \
	samples/jax.pprof.gz \
	samples/kept-gradients.pickle.gz \
	samples/leak.pickle.gz \
	samples/oom.pickle.gz \
	samples/pending-frees.pickle.gz \
	samples/oom-fragmented.pickle.gz \
	samples/oom-other-process.pickle.gz \
	samples/pinned.pickle.gz \
	samples/pipeline.summary.gz \
	samples/ranks.log \
	samples/ring-overflow.pickle.gz \
	samples/train-loop.json.gz \
	samples/train-loop.pickle.gz \
	samples/joined.pickle.gz \
	samples/joined.pt.trace.json.gz \
	samples/training.pt.trace.json.gz \
	samples/torch-2.1.timeline.json.gz \
	samples/torch-2.1.timeline.raw.json.gz \
	samples/training.averages.txt \
	samples/training.stats.json.gz \
	samples/training.summary.log \
	samples/training.timeline.json.gz \
	samples/training.timeline.raw.json.gz \
	samples/two-devices.pickle.gz \
	samples/unet.layers.json.gz

# Captures of the programs in samples/programs, and layer traces, installed in folders of the same names.
nobase_dist_pkgdata_DATA = \
	samples/models/bert.layers.json.gz \
	samples/models/diffusion.layers.json.gz \
	samples/models/experts.layers.json.gz \
	samples/models/gpt2.layers.json.gz \
	samples/models/llama.layers.json.gz \
	samples/models/lstm.layers.json.gz \
	samples/models/oom-long.layers.json.gz \
	samples/models/resnet50.layers.json.gz \
	samples/models/unet.layers.json.gz \
	samples/models/vgg16.layers.json.gz \
	samples/models/vit.layers.json.gz \
	samples/programs/accumulated_masters.py \
	samples/programs/blocks.py \
	samples/programs/by_hand.py \
	samples/programs/checkpointed.py \
	samples/programs/compiled.py \
	samples/programs/decoder.py \
	samples/programs/distillation.py \
	samples/programs/expandable.py \
	samples/programs/experts.py \
	samples/programs/fsdp2.py \
	samples/programs/gan.py \
	samples/programs/generate.py \
	samples/programs/leak_cycle.py \
	samples/programs/leak_hooks.py \
	samples/programs/leak_losses.py \
	samples/programs/leak_outputs.py \
	samples/programs/lora.py \
	samples/programs/moco.py \
	samples/programs/offload.py \
	samples/programs/oom_fragmentation.py \
	samples/programs/oom_graph_pool.py \
	samples/programs/oom_limit.py \
	samples/programs/oom_mended.plan.json \
	samples/programs/oom_mended.py \
	samples/programs/oom_other_stream.py \
	samples/programs/oom_shortage.py \
	samples/programs/pipeline_stages.py \
	samples/programs/plain_script.py \
	samples/programs/ppo.py \
	samples/programs/resnet50.py \
	samples/programs/step_in_backward.py \
	samples/programs/train_and_generate.py \
	samples/programs/truncated_bptt.py \
	samples/programs/truth.py \
	samples/programs/two_devices.py \
	samples/programs/two_streams.py \
	samples/programs/unet_ema.py \
	samples/recorded/accumulated-masters.pickle.gz \
	samples/recorded/accumulated-masters.truth.json.gz \
	samples/recorded/adafactor.pickle.gz \
	samples/recorded/adafactor.truth.json.gz \
	samples/recorded/checkpointed-reentrant.pickle.gz \
	samples/recorded/checkpointed-reentrant.truth.json.gz \
	samples/recorded/checkpointed.pickle.gz \
	samples/recorded/checkpointed.truth.json.gz \
	samples/recorded/compiled.pickle.gz \
	samples/recorded/compiled.truth.json.gz \
	samples/recorded/decoder.pickle.gz \
	samples/recorded/decoder.truth.json.gz \
	samples/recorded/distillation.pickle.gz \
	samples/recorded/distillation.truth.json.gz \
	samples/recorded/experts.pickle.gz \
	samples/recorded/experts.truth.json.gz \
	samples/recorded/fsdp2.pickle.gz \
	samples/recorded/fsdp2.truth.json.gz \
	samples/recorded/gan.pickle.gz \
	samples/recorded/gan.truth.json.gz \
	samples/recorded/generate.pickle.gz \
	samples/recorded/generate.truth.json.gz \
	samples/recorded/leak-cycle.pickle.gz \
	samples/recorded/leak-cycle.truth.json.gz \
	samples/recorded/leak-hooks.pickle.gz \
	samples/recorded/leak-hooks.truth.json.gz \
	samples/recorded/leak-losses.pickle.gz \
	samples/recorded/leak-losses.truth.json.gz \
	samples/recorded/leak-outputs.pickle.gz \
	samples/recorded/leak-outputs.truth.json.gz \
	samples/recorded/lion.pickle.gz \
	samples/recorded/lion.truth.json.gz \
	samples/recorded/lora.pickle.gz \
	samples/recorded/lora.truth.json.gz \
	samples/recorded/moco.pickle.gz \
	samples/recorded/moco.truth.json.gz \
	samples/recorded/muon.pickle.gz \
	samples/recorded/muon.truth.json.gz \
	samples/recorded/offload.pickle.gz \
	samples/recorded/offload.truth.json.gz \
	samples/recorded/oom-batch.pickle.gz \
	samples/recorded/oom-batch.truth.json.gz \
	samples/recorded/oom-fragmentation.pickle.gz \
	samples/recorded/oom-fragmentation.truth.json.gz \
	samples/recorded/oom-graph-pools.pickle.gz \
	samples/recorded/oom-graph-pools.truth.json.gz \
	samples/recorded/oom-limit.pickle.gz \
	samples/recorded/oom-limit.truth.json.gz \
	samples/recorded/oom-long.pickle.gz \
	samples/recorded/oom-long.truth.json.gz \
	samples/recorded/oom-mended.pickle.gz \
	samples/recorded/oom-mended.truth.json.gz \
	samples/recorded/oom-other-process.pickle.gz \
	samples/recorded/oom-other-process.truth.json.gz \
	samples/recorded/oom-other-stream.pickle.gz \
	samples/recorded/oom-other-stream.truth.json.gz \
	samples/recorded/plain-script.pickle.gz \
	samples/recorded/plain-script.truth.json.gz \
	samples/recorded/plain-updates.pickle.gz \
	samples/recorded/plain-updates.truth.json.gz \
	samples/recorded/ppo.pickle.gz \
	samples/recorded/ppo.truth.json.gz \
	samples/recorded/resnet50-kept-gradients.pickle.gz \
	samples/recorded/resnet50-kept-gradients.truth.json.gz \
	samples/recorded/resnet50.pickle.gz \
	samples/recorded/resnet50.truth.json.gz \
	samples/recorded/segments-expandable.pickle.gz \
	samples/recorded/segments-expandable.truth.json.gz \
	samples/recorded/segments-fixed.pickle.gz \
	samples/recorded/segments-fixed.truth.json.gz \
	samples/recorded/step-in-backward.pickle.gz \
	samples/recorded/step-in-backward.truth.json.gz \
	samples/recorded/train-and-generate.pickle.gz \
	samples/recorded/train-and-generate.truth.json.gz \
	samples/recorded/truncated-bptt.pickle.gz \
	samples/recorded/truncated-bptt.truth.json.gz \
	samples/recorded/two-gpus.pickle.gz \
	samples/recorded/two-gpus.truth.json.gz \
	samples/recorded/two-streams.pickle.gz \
	samples/recorded/two-streams.truth.json.gz \
	samples/recorded/unet-ema.pickle.gz \
	samples/recorded/unet-ema.truth.json.gz

EXTRA_DIST += \
	samples/newest/anomaly.pickle.gz \
	samples/newest/skip-alloc.pickle.gz \
	samples/newest/skip-free-completed.pickle.gz

EXTRA_DIST += \
	samples/allocator.py \
	samples/autograd.py \
	samples/make_layers.py \
	samples/make_samples.py \
	samples/newest.py \
	samples/record_artifacts.py \
	samples/record_memprofiler.py \
	samples/record_joined.py \
	samples/record_profile.py \
	samples/record.py \
	samples/record_ranks.py \
	samples/record_layers.py \
	samples/serving.py \
	samples/stacks.py \
	samples/training.py

# Captures whose allocations are labelled, to measure categories against, and what records them.
EXTRA_DIST += \
	samples/labelled/adversarial-late.pickle.gz \
	samples/labelled/adversarial.pickle.gz \
	samples/labelled/autocast-accumulated-late.pickle.gz \
	samples/labelled/autocast-accumulated.pickle.gz \
	samples/labelled/by-hand-late.pickle.gz \
	samples/labelled/by-hand.pickle.gz \
	samples/labelled/checkpointed-adamw-late.pickle.gz \
	samples/labelled/checkpointed-adamw.pickle.gz \
	samples/labelled/cnn-adam-late.pickle.gz \
	samples/labelled/cnn-adam.pickle.gz \
	samples/labelled/cnn-sgd-late.pickle.gz \
	samples/labelled/cnn-sgd.pickle.gz \
	samples/labelled/custom-optimizer-late.pickle.gz \
	samples/labelled/custom-optimizer.pickle.gz \
	samples/labelled/inference-late.pickle.gz \
	samples/labelled/inference.pickle.gz \
	samples/labelled/recurrent-adagrad-late.pickle.gz \
	samples/labelled/recurrent-adagrad.pickle.gz \
	samples/labelled/transformer-adamw-late.pickle.gz \
	samples/labelled/transformer-adamw.pickle.gz \
	samples/record_jax.py \
	samples/record_labelled.py \
	samples/recording/__init__.py \
	samples/recording/allocations.py \
	samples/recording/capture.py \
	samples/recording/frames.py \
	samples/recording/labels.py \
	samples/recording/loops.py \
	samples/recording/models.py \
	samples/recording/operators.py \
	samples/recording/optimizers.py \
	samples/recording/scrub.py

# What MemProfiler left of two ranks.
EXTRA_DIST += \
	samples/memprofiler/cuda_alloc_rank_0.training_step.2.end.pickle.gz \
	samples/memprofiler/cuda_alloc_rank_0.training_step.2.start.pickle.gz \
	samples/memprofiler/cuda_alloc_rank_1.training_step.2.end.pickle.gz \
	samples/memprofiler/cuda_alloc_rank_1.training_step.2.start.pickle.gz \
	samples/memprofiler/fit-profile-0.pt.trace.json.gz \
	samples/memprofiler/fit-profile-0.txt.gz \
	samples/memprofiler/fit-profile-1.pt.trace.json.gz \
	samples/memprofiler/fit-profile-1.txt.gz \
	samples/memprofiler/fsdp_mem_rank_0_training_step_2.log.gz \
	samples/memprofiler/fsdp_mem_rank_1_training_step_2.log.gz \
	samples/memprofiler/rank_0_memory_stats.pickle.gz \
	samples/memprofiler/rank_0_memory_stats.yaml.gz \
	samples/memprofiler/rank_1_memory_stats.pickle.gz \
	samples/memprofiler/rank_1_memory_stats.yaml.gz

# What one rank of a data-parallel run left.
EXTRA_DIST += \
	samples/ddp/rank_1.execution.json.gz \
	samples/ddp/rank_1.pt.trace.json.gz \
	samples/ddp/rank_1.segments.pickle.gz
