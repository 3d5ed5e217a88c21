EXTRA_DIST += \
	bench/README.md \
	bench/RESULTS.md \
	bench/cpp_pickle.py \
	bench/inputs.py \
	bench/results.py \
	bench/run
