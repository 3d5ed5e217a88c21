samplesdir = $(pkgdatadir)/samples
dist_samples_DATA = \
	samples/README.md \
	samples/cache.pickle.gz \
	samples/decoder.layers.json.gz \
	samples/decoder.operators.pickle.gz \
	samples/expandable.pickle.gz \
	samples/fsdp.layers.pickle \
	samples/history-off.pickle \
	samples/kept-gradients.pickle.gz \
	samples/leak.pickle.gz \
	samples/loss-graph.pickle.gz \
	samples/oom.pickle.gz \
	samples/pending-frees.pickle.gz \
	samples/oom-fragmented.pickle.gz \
	samples/oom-graphs.pickle.gz \
	samples/oom-other-process.pickle.gz \
	samples/oom-other-stream.pickle.gz \
	samples/oom-shortage.pickle.gz \
	samples/pinned.pickle.gz \
	samples/ranks.log \
	samples/ring-overflow.pickle.gz \
	samples/train-loop.json.gz \
	samples/train-loop.pickle.gz \
	samples/training.pt.trace.json.gz \
	samples/two-devices.pickle.gz

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
	samples/record_profile.py \
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
	samples/record_labelled.py \
	samples/recording/__init__.py \
	samples/recording/allocations.py \
	samples/recording/capture.py \
	samples/recording/frames.py \
	samples/recording/loops.py \
	samples/recording/models.py \
	samples/recording/operators.py \
	samples/recording/optimizers.py
