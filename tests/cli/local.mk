cli_tests = \
	tests/cli/at.sh \
	tests/cli/backends.sh \
	tests/cli/by.sh \
	tests/cli/choice.sh \
	tests/cli/cluster.sh \
	tests/cli/convert.sh \
	tests/cli/devices.sh \
	tests/cli/categories.sh \
	tests/cli/check-policy.sh \
	tests/cli/check-replayed.sh \
	tests/cli/check.sh \
	tests/cli/diff.sh \
	tests/cli/dryrun-fit.sh \
	tests/cli/dryrun.sh \
	tests/cli/dump.sh \
	tests/cli/escape.sh \
	tests/cli/export.sh \
	tests/cli/files.sh \
	tests/cli/flame.sh \
	tests/cli/folder.sh \
	tests/cli/input.sh \
	tests/cli/joined.sh \
	tests/cli/json.sh \
	tests/cli/json-members.sh \
	tests/cli/layers.sh \
	tests/cli/limits.sh \
	tests/cli/memory-timeline.sh \
	tests/cli/mpi.sh \
	tests/cli/oom.sh \
	tests/cli/operators.sh \
	tests/cli/output.sh \
	tests/cli/plot.sh \
	tests/cli/plot-compare.sh \
	tests/cli/plot-fit.sh \
	tests/cli/plot-layers.sh \
	tests/cli/plot-pareto.sh \
	tests/cli/plot-run.sh \
	tests/cli/plot-ranks.sh \
	tests/cli/plot-replay.sh \
	tests/cli/plot-shard.sh \
	tests/cli/plot-templates.sh \
	tests/cli/plot-terminal.sh \
	tests/cli/plot-steps.sh \
	tests/cli/plot-trend.sh \
	tests/cli/pprof.sh \
	tests/cli/profile.sh \
	tests/cli/ranks.sh \
	tests/cli/record.sh \
	tests/cli/recorded.sh \
	tests/cli/recording.sh \
	tests/cli/replay.sh \
	tests/cli/report.sh \
	tests/cli/run-tables.sh \
	tests/cli/run.sh \
	tests/cli/shard.sh \
	tests/cli/shard-choice.sh \
	tests/cli/shard-code.sh \
	tests/cli/shard-input.sh \
	tests/cli/stats.sh \
	tests/cli/suggest-options.sh \
	tests/cli/suggest-same.sh \
	tests/cli/suggest-snapshot.sh \
	tests/cli/suggest-words.sh \
	tests/cli/suggest.sh \
	tests/cli/summary.sh \
	tests/cli/sums.sh \
	tests/cli/terminal.sh \
	tests/cli/trend.sh \
	tests/cli/usage.sh
dist_check_SCRIPTS += $(cli_tests)

# Only the test of a build --with-mpi.
.PHONY: check-mpi
check-mpi: memsnap$(EXEEXT)
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS=tests/cli/mpi.sh check_PROGRAMS=

EXTRA_DIST += tests/cli/lib.sh tests/cli/layer_trace.sh tests/cli/json_members.py tests/cli/on_terminal.py tests/cli/press_interrupt.py

# Layer traces that several tests read.
EXTRA_DIST += tests/cli/shard/again.json tests/cli/shard/tables.json tests/cli/shard/types.json

# Programs that record.sh records.
EXTRA_DIST += \
	tests/cli/record/adversaries.py \
	tests/cli/record/apply.py \
	tests/cli/record/compared.py \
	tests/cli/record/copied.py \
	tests/cli/record/ends.py \
	tests/cli/record/facts.py \
	tests/cli/record/harmless.py \
	tests/cli/record/held.py \
	tests/cli/record/inner.py \
	tests/cli/record/marks.py \
	tests/cli/record/peaks.py \
	tests/cli/record/places.py \
	tests/cli/record/program.py \
	tests/cli/record/program_model.py \
	tests/cli/record/several.py \
	tests/cli/record/sharded.py \
	tests/cli/record/shared.py \
	tests/cli/record/sides.py \
	tests/cli/record/state.py \
	tests/cli/record/timed.py \
	tests/cli/record/train.py \
	tests/cli/record/turns.py \
	tests/cli/record/wrapped.py

# A made-up torch for dryrun.sh, with a library that needs CUDA's runtime.
dryrun_sources = \
	tests/cli/dryrun/libcudart.c \
	tests/cli/dryrun/libextension.c \
	tests/cli/dryrun/libtorch_cuda.c
EXTRA_DIST += $(dryrun_sources) \
	tests/cli/dryrun/conditions.py \
	tests/cli/dryrun/fit.py \
	tests/cli/dryrun/launched.py \
	tests/cli/dryrun/mesh.py \
	tests/cli/dryrun/operators.py \
	tests/cli/dryrun/ranks.py \
	tests/cli/dryrun/real.py \
	tests/cli/dryrun/torch.sh \
	tests/cli/dryrun/torch/__init__.py \
	tests/cli/dryrun/torch/version.py \
	tests/cli/dryrun/train.py
CLEANFILES += tests/cli/dryrun/libextension.so tests/cli/dryrun/libtorch_cuda.so tests/cli/dryrun/libcudart.so.12 tests/cli/dryrun/versions
if DRYRUN
check_DATA += tests/cli/dryrun/libextension.so tests/cli/dryrun/libtorch_cuda.so
check_PROGRAMS += tests/cli/dryrun/calls
tests_cli_dryrun_calls_SOURCES = tests/cli/dryrun/calls.c
tests_cli_dryrun_calls_LDADD = -ldl
endif
tests/cli/dryrun/libtorch_cuda.so: $(dryrun_sources)
	$(AM_V_CC)$(MKDIR_P) tests/cli/dryrun && echo 'libcudart.so.12 { *; };' >tests/cli/dryrun/versions && \
	$(CC) $(CFLAGS) -fPIC -shared -Wl,-soname,libcudart.so.12 -Wl,--version-script=tests/cli/dryrun/versions \
	    -o tests/cli/dryrun/libcudart.so.12 $(srcdir)/tests/cli/dryrun/libcudart.c && \
	$(CC) $(CFLAGS) -fPIC -shared -o $@ $(srcdir)/tests/cli/dryrun/libtorch_cuda.c \
	    tests/cli/dryrun/libcudart.so.12
tests/cli/dryrun/libextension.so: tests/cli/dryrun/libtorch_cuda.so
	$(AM_V_CC)$(CC) $(CFLAGS) -fPIC -shared -o $@ $(srcdir)/tests/cli/dryrun/libextension.c \
	    tests/cli/dryrun/libcudart.so.12
EXTRA_DIST += \
	tests/cli/golden/at-end.txt \
	tests/cli/golden/at-event.txt \
	tests/cli/golden/at-peak-annotations.txt \
	tests/cli/golden/at-time.txt \
	tests/cli/golden/by.txt \
	tests/cli/golden/cache.txt \
	tests/cli/golden/check-trend-few.txt \
	tests/cli/golden/check-trend.json \
	tests/cli/golden/check-trend.txt \
	tests/cli/golden/check-replayed.txt \
	tests/cli/golden/check-failed.txt \
	tests/cli/golden/check-github.txt \
	tests/cli/golden/check-junit.xml \
	tests/cli/golden/check-layers.txt \
	tests/cli/golden/check-not-judged.txt \
	tests/cli/golden/check-oom.txt \
	tests/cli/golden/check-passed.txt \
	tests/cli/golden/check-several.txt \
	tests/cli/golden/check-summary.txt \
	tests/cli/golden/diff-summary.json \
	tests/cli/golden/diff-summary.txt \
	tests/cli/golden/check.json \
	tests/cli/golden/comparison.txt \
	tests/cli/golden/device.txt \
	tests/cli/golden/diff-category.csv \
	tests/cli/golden/diff-category.txt \
	tests/cli/golden/diff-hostile.csv \
	tests/cli/golden/diff-layers-changed.txt \
	tests/cli/golden/diff-layers.csv \
	tests/cli/golden/diff-layers.txt \
	tests/cli/golden/diff-like.txt \
	tests/cli/golden/diff-narrow.txt \
	tests/cli/golden/diff-phase.csv \
	tests/cli/golden/diff-site.csv \
	tests/cli/golden/diff-stacks.txt \
	tests/cli/golden/diff.txt \
	tests/cli/golden/dryrun-list.txt \
	tests/cli/golden/expandable.txt \
	tests/cli/golden/explain-address.txt \
	tests/cli/golden/explain-site.txt \
	tests/cli/golden/export-allocations.csv \
	tests/cli/golden/export-annotations.csv \
	tests/cli/golden/export-blocks.csv \
	tests/cli/golden/export-events.csv \
	tests/cli/golden/export-hostile.csv \
	tests/cli/golden/export-hostile.jsonl \
	tests/cli/golden/export-segments.csv \
	tests/cli/golden/export-sites.csv \
	tests/cli/golden/export-sites.jsonl \
	tests/cli/golden/export-stacks.csv \
	tests/cli/golden/fit.txt \
	tests/cli/golden/flame-category.txt \
	tests/cli/golden/flame-devices.txt \
	tests/cli/golden/flame-evil-speedscope.txt \
	tests/cli/golden/flame-evil.txt \
	tests/cli/golden/flame-forward.txt \
	tests/cli/golden/flame-history-off.txt \
	tests/cli/golden/flame-phase.txt \
	tests/cli/golden/flame-speedscope.txt \
	tests/cli/golden/flame-time.txt \
	tests/cli/golden/flame.txt \
	tests/cli/golden/graph-pool.txt \
	tests/cli/golden/help-analyze.txt \
	tests/cli/golden/help-check.txt \
	tests/cli/golden/help-convert.txt \
	tests/cli/golden/help-backends.txt \
	tests/cli/golden/help-diff.txt \
	tests/cli/golden/help-dryrun.txt \
	tests/cli/golden/help-dump.txt \
	tests/cli/golden/help-export.txt \
	tests/cli/golden/help-flame.txt \
	tests/cli/golden/help-merge.txt \
	tests/cli/golden/help-oom.txt \
	tests/cli/golden/help-ranks.txt \
	tests/cli/golden/help-replay.txt \
	tests/cli/golden/replay-oom.txt \
	tests/cli/golden/replay.csv \
	tests/cli/golden/replay.json \
	tests/cli/golden/help-plot.txt \
	tests/cli/golden/help-shard.txt \
	tests/cli/golden/help-suggest.txt \
	tests/cli/golden/help-trend.txt \
	tests/cli/golden/help.txt \
	tests/cli/golden/history-off.txt \
	tests/cli/golden/kept-gradients.txt \
	tests/cli/golden/joined.txt \
	tests/cli/golden/layers-comparison.txt \
	tests/cli/golden/layers-fsdp.txt \
	tests/cli/golden/layers-narrow.txt \
	tests/cli/golden/layers-top.txt \
	tests/cli/golden/layers.txt \
	tests/cli/golden/leak.txt \
	tests/cli/golden/leak-losses.txt \
	tests/cli/golden/narrow.txt \
	tests/cli/golden/oom-cut.txt \
	tests/cli/golden/oom-fragmented.txt \
	tests/cli/golden/oom-gpu-memory.txt \
	tests/cli/golden/oom-graph-pools.txt \
	tests/cli/golden/oom-log.json \
	tests/cli/golden/oom-log.txt \
	tests/cli/golden/oom-other-process.txt \
	tests/cli/golden/oom-other-stream.txt \
	tests/cli/golden/oom-range.txt \
	tests/cli/golden/oom-batch.txt \
	tests/cli/golden/ranks-folder.txt \
	tests/cli/golden/ranks.csv \
	tests/cli/golden/ranks.json \
	tests/cli/golden/ranks.txt \
	tests/cli/golden/oom.txt \
	tests/cli/golden/operators.txt \
	tests/cli/golden/operators-table.txt \
	tests/cli/golden/pending-frees.txt \
	tests/cli/golden/pinned.txt \
	tests/cli/golden/plot-categories.txt \
	tests/cli/golden/plot-compare.txt \
	tests/cli/golden/plot-fit.txt \
	tests/cli/golden/plot-fsdp-text.txt \
	tests/cli/golden/plot-fsdp.txt \
	tests/cli/golden/plot-iterations-text.txt \
	tests/cli/golden/plot-iterations.txt \
	tests/cli/golden/plot-layers.txt \
	tests/cli/golden/plot-pareto.txt \
	tests/cli/golden/plot-ranks.txt \
	tests/cli/golden/plot-replay.txt \
	tests/cli/golden/plot-shard-curves.txt \
	tests/cli/golden/plot-shard-region.txt \
	tests/cli/golden/plot-shard.txt \
	tests/cli/golden/plot-steps.txt \
	tests/cli/golden/plot-trend.txt \
	tests/cli/golden/plot-phases.txt \
	tests/cli/golden/plot-report.txt \
	tests/cli/golden/plot-segments.txt \
	tests/cli/golden/plot-sites.txt \
	tests/cli/golden/memory-timeline-sums.txt \
	tests/cli/golden/memory-timeline.txt \
	tests/cli/golden/pprof.txt \
	tests/cli/golden/profile-selective.txt \
	tests/cli/golden/profile.txt \
	tests/cli/golden/stats.txt \
	tests/cli/golden/summary.txt \
	tests/cli/golden/plot-flame.txt \
	tests/cli/golden/plot-timeline.txt \
	tests/cli/golden/range.txt \
	tests/cli/golden/recording-anomaly.txt \
	tests/cli/golden/recording-skip-alloc.txt \
	tests/cli/golden/recording-skip-free-completed.txt \
	tests/cli/golden/ring-overflow.txt \
	tests/cli/golden/rules.txt \
	tests/cli/golden/run-beside.txt \
	tests/cli/golden/run-differs.txt \
	tests/cli/golden/run-recorded.txt \
	tests/cli/golden/run-tables.txt \
	tests/cli/golden/run.txt \
	tests/cli/golden/several.txt \
	tests/cli/golden/shard-checkpointed.py \
	tests/cli/golden/shard-checkpointed.txt \
	tests/cli/golden/shard-fsdp2.py \
	tests/cli/golden/shard-gpt.json \
	tests/cli/golden/shard-gpt.txt \
	tests/cli/golden/shard-modules.txt \
	tests/cli/golden/shard-resnet50.txt \
	tests/cli/golden/shard-sweep-checkpointed.txt \
	tests/cli/golden/shard-sweep.txt \
	tests/cli/golden/stacks-all.txt \
	tests/cli/golden/stacks.txt \
	tests/cli/golden/suggest-budget.txt \
	tests/cli/golden/suggest-checkpoints.txt \
	tests/cli/golden/suggest-front.csv \
	tests/cli/golden/suggest-front.txt \
	tests/cli/golden/suggest-infeasible.txt \
	tests/cli/golden/suggest-leaf.txt \
	tests/cli/golden/suggest-recorded-front.txt \
	tests/cli/golden/suggest-recorded-gpt.txt \
	tests/cli/golden/suggest-recorded-unet.txt \
	tests/cli/golden/suggest-rotor.txt \
	tests/cli/golden/suggest-snapshot-budget.txt \
	tests/cli/golden/suggest-snapshot-checkpoints.txt \
	tests/cli/golden/suggest-snapshot-front.txt \
	tests/cli/golden/suggest-snapshot-runs.txt \
	tests/cli/golden/train-loop.txt \
	tests/cli/golden/trend.csv \
	tests/cli/golden/trend.json \
	tests/cli/golden/trend.txt \
	tests/cli/golden/two-devices.txt \
	tests/cli/golden/units-bytes.txt \
	tests/cli/golden/units.txt \
	tests/cli/golden/verbose.txt \
	tests/cli/golden/wide.txt
