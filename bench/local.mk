EXTRA_PROGRAMS += bench/backends
bench_backends_SOURCES = bench/backends.c
CLEANFILES += bench/backends$(EXEEXT)

EXTRA_DIST += \
	bench/CATEGORIES.md \
	bench/README.md \
	bench/RESULTS.md \
	bench/categories \
	bench/cpp_pickle.py \
	bench/inputs.py \
	bench/labelled.py \
	bench/results.py \
	bench/run
