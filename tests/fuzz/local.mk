# A target is a file with LLVMFuzzerTestOneInput(). It is built twice: with replay.c,
# whose main() runs it over files, for the test replay.sh; and, with
# --enable-fuzzing, as a libFuzzer program.

allocator_target = tests/fuzz/fuzz_allocator.c
analyze_target = tests/fuzz/fuzz_analyze.c
check_target = tests/fuzz/fuzz_check.c
command_target = tests/fuzz/fuzz_command.c
gzip_target = tests/fuzz/fuzz_gzip.c
joint_target = tests/fuzz/fuzz_joint.c
json_target = tests/fuzz/fuzz_json.c tests/fuzz/ignore_rows.c tests/fuzz/ignore_rows.h
layers_target = tests/fuzz/fuzz_layers.c
log_target = tests/fuzz/fuzz_log.c
pickle_target = tests/fuzz/fuzz_pickle.c tests/fuzz/hash_rows.c tests/fuzz/hash_rows.h
pprof_target = tests/fuzz/fuzz_pprof.c tests/fuzz/ignore_rows.c tests/fuzz/ignore_rows.h
profiler_target = tests/fuzz/fuzz_profiler.c tests/fuzz/ignore_rows.c tests/fuzz/ignore_rows.h
stats_target = tests/fuzz/fuzz_stats.c
run_target = tests/fuzz/fuzz_run.c
timeline_target = tests/fuzz/fuzz_timeline.c tests/fuzz/ignore_rows.c tests/fuzz/ignore_rows.h
fuzz_cppflags = $(AM_CPPFLAGS) -I$(top_srcdir)/tests

fuzz_replays = \
	tests/fuzz/replay-allocator \
	tests/fuzz/replay-analyze \
	tests/fuzz/replay-check \
	tests/fuzz/replay-command \
	tests/fuzz/replay-gzip \
	tests/fuzz/replay-joint \
	tests/fuzz/replay-json \
	tests/fuzz/replay-layers \
	tests/fuzz/replay-log \
	tests/fuzz/replay-pickle \
	tests/fuzz/replay-pprof \
	tests/fuzz/replay-profiler \
	tests/fuzz/replay-run \
	tests/fuzz/replay-stats \
	tests/fuzz/replay-timeline
tests_fuzz_replay_allocator_SOURCES = $(allocator_target) tests/fuzz/replay.c
tests_fuzz_replay_analyze_SOURCES = $(analyze_target) tests/fuzz/replay.c
tests_fuzz_replay_analyze_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_replay_check_SOURCES = $(check_target) tests/fuzz/replay.c
tests_fuzz_replay_command_SOURCES = $(command_target) tests/fuzz/replay.c
tests_fuzz_replay_gzip_SOURCES = $(gzip_target) tests/fuzz/replay.c
tests_fuzz_replay_joint_SOURCES = $(joint_target) tests/fuzz/replay.c
tests_fuzz_replay_json_SOURCES = $(json_target) tests/fuzz/replay.c
tests_fuzz_replay_json_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_replay_layers_SOURCES = $(layers_target) tests/fuzz/replay.c
tests_fuzz_replay_log_SOURCES = $(log_target) tests/fuzz/replay.c
tests_fuzz_replay_pickle_SOURCES = $(pickle_target) tests/fuzz/replay.c
tests_fuzz_replay_pickle_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_replay_profiler_SOURCES = $(profiler_target) tests/fuzz/replay.c
tests_fuzz_replay_profiler_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_replay_pprof_SOURCES = $(pprof_target) tests/fuzz/replay.c
tests_fuzz_replay_pprof_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_replay_stats_SOURCES = $(stats_target) tests/fuzz/replay.c
tests_fuzz_replay_timeline_SOURCES = $(timeline_target) tests/fuzz/replay.c
tests_fuzz_replay_timeline_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_replay_run_SOURCES = $(run_target) tests/fuzz/replay.c
check_PROGRAMS += $(fuzz_replays)
dist_check_SCRIPTS += tests/fuzz/replay.sh

fuzzers = \
	tests/fuzz/fuzz-allocator \
	tests/fuzz/fuzz-analyze \
	tests/fuzz/fuzz-check \
	tests/fuzz/fuzz-command \
	tests/fuzz/fuzz-gzip \
	tests/fuzz/fuzz-joint \
	tests/fuzz/fuzz-json \
	tests/fuzz/fuzz-layers \
	tests/fuzz/fuzz-log \
	tests/fuzz/fuzz-pickle \
	tests/fuzz/fuzz-pprof \
	tests/fuzz/fuzz-profiler \
	tests/fuzz/fuzz-run \
	tests/fuzz/fuzz-stats \
	tests/fuzz/fuzz-timeline
EXTRA_PROGRAMS += $(fuzzers)
tests_fuzz_fuzz_allocator_SOURCES = $(allocator_target)
tests_fuzz_fuzz_allocator_LDFLAGS = -fsanitize=fuzzer
tests_fuzz_fuzz_analyze_SOURCES = $(analyze_target)
tests_fuzz_fuzz_analyze_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_fuzz_analyze_LDFLAGS = -fsanitize=fuzzer
tests_fuzz_fuzz_check_SOURCES = $(check_target)
tests_fuzz_fuzz_check_LDFLAGS = -fsanitize=fuzzer
tests_fuzz_fuzz_command_SOURCES = $(command_target)
tests_fuzz_fuzz_command_LDFLAGS = -fsanitize=fuzzer
tests_fuzz_fuzz_gzip_SOURCES = $(gzip_target)
tests_fuzz_fuzz_gzip_LDFLAGS = -fsanitize=fuzzer
tests_fuzz_fuzz_joint_SOURCES = $(joint_target)
tests_fuzz_fuzz_joint_LDFLAGS = -fsanitize=fuzzer
tests_fuzz_fuzz_json_SOURCES = $(json_target)
tests_fuzz_fuzz_json_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_fuzz_json_LDFLAGS = -fsanitize=fuzzer
tests_fuzz_fuzz_layers_SOURCES = $(layers_target)
tests_fuzz_fuzz_layers_LDFLAGS = -fsanitize=fuzzer
tests_fuzz_fuzz_log_SOURCES = $(log_target)
tests_fuzz_fuzz_log_LDFLAGS = -fsanitize=fuzzer
tests_fuzz_fuzz_pickle_SOURCES = $(pickle_target)
tests_fuzz_fuzz_pickle_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_fuzz_pickle_LDFLAGS = -fsanitize=fuzzer
tests_fuzz_fuzz_profiler_SOURCES = $(profiler_target)
tests_fuzz_fuzz_profiler_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_fuzz_profiler_LDFLAGS = -fsanitize=fuzzer
tests_fuzz_fuzz_pprof_SOURCES = $(pprof_target)
tests_fuzz_fuzz_pprof_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_fuzz_pprof_LDFLAGS = -fsanitize=fuzzer
tests_fuzz_fuzz_stats_SOURCES = $(stats_target)
tests_fuzz_fuzz_stats_LDFLAGS = -fsanitize=fuzzer
tests_fuzz_fuzz_timeline_SOURCES = $(timeline_target)
tests_fuzz_fuzz_timeline_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_fuzz_timeline_LDFLAGS = -fsanitize=fuzzer
tests_fuzz_fuzz_run_SOURCES = $(run_target)
tests_fuzz_fuzz_run_LDFLAGS = -fsanitize=fuzzer
if ENABLE_FUZZING
noinst_PROGRAMS = $(fuzzers)
endif
