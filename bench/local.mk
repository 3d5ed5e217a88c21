EXTRA_PROGRAMS += bench/backends bench/solver
bench_backends_SOURCES = bench/backends.c
bench_solver_SOURCES = bench/solver.c
CLEANFILES += bench/backends$(EXEEXT) bench/solver$(EXEEXT)

EXTRA_DIST += \
	bench/CATEGORIES.md \
	bench/DATABASE.md \
	bench/README.md \
	bench/REPLAY.md \
	bench/RESULTS.md \
	bench/SOLVER.md \
	bench/advice/RESULTS.md \
	bench/advice/programs.py \
	bench/advice/run \
	bench/categories \
	bench/chain.h \
	bench/cpp_pickle.py \
	bench/database \
	bench/drawing \
	bench/dryrun/RESULTS.md \
	bench/dryrun/blog_profiler.py \
	bench/dryrun/blog_snapshot.py \
	bench/dryrun/convolutions.py \
	bench/dryrun/counters.py \
	bench/dryrun/fairscale_tracker.py \
	bench/dryrun/gpu_profile.py \
	bench/dryrun/programs.py \
	bench/dryrun/run \
	bench/inputs.py \
	bench/loop/again.py \
	bench/loop/RESULTS.head.md \
	bench/loop/RESULTS.md \
	bench/loop/RESULTS.tail.md \
	bench/loop/SNAPSHOTS.md \
	bench/loop/autosac.py \
	bench/loop/batches.py \
	bench/loop/equal.py \
	bench/loop/hand.py \
	bench/loop/kinds.py \
	bench/loop/large.py \
	bench/loop/loop.py \
	bench/loop/measure.py \
	bench/loop/models.py \
	bench/loop/more.py \
	bench/loop/odd.py \
	bench/loop/prove \
	bench/loop/snapshots \
	bench/loop/varied.py \
	bench/loop/wide.py \
	bench/labelled.py \
	bench/profile.py \
	bench/published.c \
	bench/published/Python.h \
	bench/ranks/RESULTS.md \
	bench/ranks/run \
	bench/ranks/scale.svg \
	bench/ranks/synthetic.py \
	bench/replay \
	bench/results.py \
	bench/run \
	bench/shard/MORE.md \
	bench/shard/OPTIONS.md \
	bench/shard/RECOMMENDED.md \
	bench/shard/RESULTS.md \
	bench/shard/cases.py \
	bench/shard/library_models.py \
	bench/shard/models.py \
	bench/shard/more_models.py \
	bench/shard/newer_models.py \
	bench/shard/options \
	bench/shard/partition.py \
	bench/shard/program.py \
	bench/shard/recommend \
	bench/shard/run \
	bench/solve
