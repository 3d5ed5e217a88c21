samplesdir = $(pkgdatadir)/samples
dist_samples_DATA = \
	samples/README.md \
	samples/expandable.pickle.gz \
	samples/history-off.pickle \
	samples/leak.pickle.gz \
	samples/oom.pickle.gz \
	samples/ring-overflow.pickle.gz \
	samples/train-loop.json.gz \
	samples/train-loop.pickle.gz \
	samples/two-devices.pickle.gz

EXTRA_DIST += \
	samples/allocator.py \
	samples/autograd.py \
	samples/make_samples.py \
	samples/stacks.py \
	samples/training.py
