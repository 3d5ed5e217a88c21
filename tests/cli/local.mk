cli_tests = \
	tests/cli/backends.sh \
	tests/cli/convert.sh \
	tests/cli/dump.sh \
	tests/cli/escape.sh \
	tests/cli/files.sh \
	tests/cli/input.sh \
	tests/cli/json.sh \
	tests/cli/layers.sh \
	tests/cli/limits.sh \
	tests/cli/output.sh \
	tests/cli/report.sh \
	tests/cli/terminal.sh \
	tests/cli/usage.sh
dist_check_SCRIPTS += $(cli_tests)
EXTRA_DIST += tests/cli/lib.sh
EXTRA_DIST += \
	tests/cli/golden/at-end.txt \
	tests/cli/golden/at-event.txt \
	tests/cli/golden/at-peak-annotations.txt \
	tests/cli/golden/at-time.txt \
	tests/cli/golden/cache.txt \
	tests/cli/golden/comparison.txt \
	tests/cli/golden/device.txt \
	tests/cli/golden/expandable.txt \
	tests/cli/golden/help-analyze.txt \
	tests/cli/golden/help-convert.txt \
	tests/cli/golden/help-backends.txt \
	tests/cli/golden/help-dump.txt \
	tests/cli/golden/help.txt \
	tests/cli/golden/history-off.txt \
	tests/cli/golden/kept-gradients.txt \
	tests/cli/golden/layers-comparison.txt \
	tests/cli/golden/layers-fsdp.txt \
	tests/cli/golden/layers-narrow.txt \
	tests/cli/golden/layers-top.txt \
	tests/cli/golden/layers.txt \
	tests/cli/golden/leak.txt \
	tests/cli/golden/loss-graph.txt \
	tests/cli/golden/narrow.txt \
	tests/cli/golden/oom-cut.txt \
	tests/cli/golden/oom-fragmented.txt \
	tests/cli/golden/oom-gpu-memory.txt \
	tests/cli/golden/oom-graphs.txt \
	tests/cli/golden/oom-other-process.txt \
	tests/cli/golden/oom-other-stream.txt \
	tests/cli/golden/oom-range.txt \
	tests/cli/golden/oom-shortage.txt \
	tests/cli/golden/oom.txt \
	tests/cli/golden/operators.txt \
	tests/cli/golden/pending-frees.txt \
	tests/cli/golden/pinned.txt \
	tests/cli/golden/range.txt \
	tests/cli/golden/ring-overflow.txt \
	tests/cli/golden/several.txt \
	tests/cli/golden/stacks-all.txt \
	tests/cli/golden/stacks.txt \
	tests/cli/golden/train-loop.txt \
	tests/cli/golden/two-devices.txt \
	tests/cli/golden/units-bytes.txt \
	tests/cli/golden/units.txt \
	tests/cli/golden/verbose.txt \
	tests/cli/golden/wide.txt
