libmemsnap_a_SOURCES += \
	src/commands/analyze/analyze.c \
	src/commands/analyze/file.c \
	src/commands/analyze/file.h \
	src/commands/analyze/jobs.c \
	src/commands/analyze/jobs.h \
	src/commands/analyze/options.c \
	src/commands/analyze/options.h \
	src/commands/analyze/run.c \
	src/commands/analyze/run.h \
	src/commands/analyze/snapshot.c \
	src/commands/analyze/snapshot.h \
	src/commands/analyze/stats.c \
	src/commands/analyze/stats.h \
	src/commands/backends.c \
	src/commands/check/check.c \
	src/commands/check/file.c \
	src/commands/check/file.h \
	src/commands/check/options.c \
	src/commands/check/options.h \
	src/commands/check/pairs.c \
	src/commands/check/pairs.h \
	src/commands/check/policy.c \
	src/commands/check/policy.h \
	src/commands/check/print.c \
	src/commands/check/trend.c \
	src/commands/cli/arguments.c \
	src/commands/cli/arguments.h \
	src/commands/cli/capture.c \
	src/commands/cli/capture.h \
	src/commands/cli/choice.c \
	src/commands/cli/choice.h \
	src/commands/cli/command.h \
	src/commands/cli/complain.c \
	src/commands/cli/complain.h \
	src/commands/cli/files.c \
	src/commands/cli/files.h \
	src/commands/cli/folder.c \
	src/commands/cli/folder.h \
	src/commands/cli/inputs.c \
	src/commands/cli/inputs.h \
	src/commands/cli/look.c \
	src/commands/cli/look.h \
	src/commands/cli/new_file.c \
	src/commands/cli/new_file.h \
	src/commands/cli/options.c \
	src/commands/cli/options.h \
	src/commands/cli/output.c \
	src/commands/cli/output.h \
	src/commands/cli/small_file.c \
	src/commands/cli/small_file.h \
	src/commands/cli/topics.h \
	src/commands/cli/watch.c \
	src/commands/cli/watch.h \
	src/commands/cli/worker_pool.c \
	src/commands/cli/worker_pool.h \
	src/commands/cluster/cluster.h \
	src/commands/commands.c \
	src/commands/convert.c \
	src/commands/diff/diff.c \
	src/commands/diff/options.c \
	src/commands/diff/options.h \
	src/commands/diff/snapshots.c \
	src/commands/diff/summaries.c \
	src/commands/dryrun/arguments.c \
	src/commands/dryrun/arguments.h \
	src/commands/dryrun/child.c \
	src/commands/dryrun/child.h \
	src/commands/dryrun/dryrun.c \
	src/commands/dryrun/fit.c \
	src/commands/dryrun/fit.h \
	src/commands/dryrun/fit_result.c \
	src/commands/dryrun/fit_result.h \
	src/commands/dryrun/fit_runs.c \
	src/commands/dryrun/fit_runs.h \
	src/commands/dryrun/folder.c \
	src/commands/dryrun/folder.h \
	src/commands/dryrun/host_memory.c \
	src/commands/dryrun/host_memory.h \
	src/commands/dryrun/options.c \
	src/commands/dryrun/options.h \
	src/commands/dryrun/outcome.c \
	src/commands/dryrun/outcome.h \
	src/commands/dryrun/program.c \
	src/commands/dryrun/program.h \
	src/commands/dryrun/snapshot.c \
	src/commands/dryrun/snapshot.h \
	src/commands/dryrun/tail.c \
	src/commands/dryrun/tail.h \
	src/commands/dump.c \
	src/commands/export/database.c \
	src/commands/export/export.c \
	src/commands/export/options.c \
	src/commands/export/options.h \
	src/commands/export/parts.c \
	src/commands/export/stream.c \
	src/commands/flame.c \
	src/commands/merge.c \
	src/commands/oom.c \
	src/commands/plot/candidates.c \
	src/commands/plot/candidates.h \
	src/commands/plot/embedded.h \
	src/commands/plot/folder.c \
	src/commands/plot/folder.h \
	src/commands/plot/kinds.c \
	src/commands/plot/kinds.h \
	src/commands/plot/load.c \
	src/commands/plot/load.h \
	src/commands/plot/open.c \
	src/commands/plot/options.c \
	src/commands/plot/options.h \
	src/commands/plot/panels.c \
	src/commands/plot/panels.h \
	src/commands/plot/plot.c \
	src/commands/plot/process.c \
	src/commands/plot/process.h \
	src/commands/plot/ranks.c \
	src/commands/plot/run.c \
	src/commands/plot/run.h \
	src/commands/plot/several.c \
	src/commands/plot/several.h \
	src/commands/plot/steps.c \
	src/commands/plot/summary.c \
	src/commands/plot/svg.c \
	src/commands/plot/svg.h \
	src/commands/plot/template.c \
	src/commands/plot/term.c \
	src/commands/plot/term.h \
	src/commands/plot/trend.c \
	src/commands/ranks/into.c \
	src/commands/ranks/into.h \
	src/commands/ranks/ranks.c \
	src/commands/replay/arguments.c \
	src/commands/replay/arguments.h \
	src/commands/replay/options.c \
	src/commands/replay/options.h \
	src/commands/replay/replay.c \
	src/commands/sandbox/device_process.c \
	src/commands/sandbox/device_process.h \
	src/commands/sandbox/internal.h \
	src/commands/sandbox/sandbox.c \
	src/commands/sandbox/sandbox.h \
	src/commands/sandbox/seccomp.c \
	src/commands/shard/checkpoints.c \
	src/commands/shard/checkpoints.h \
	src/commands/shard/complete.c \
	src/commands/shard/load.c \
	src/commands/shard/load.h \
	src/commands/shard/options.c \
	src/commands/shard/options.h \
	src/commands/shard/shard.c \
	src/commands/shard/values.c \
	src/commands/shard/values.h \
	src/commands/suggest/answer.c \
	src/commands/suggest/answer.h \
	src/commands/suggest/options.c \
	src/commands/suggest/options.h \
	src/commands/suggest/snapshot.c \
	src/commands/suggest/snapshot.h \
	src/commands/suggest/suggest.c \
	src/commands/summary/gather.c \
	src/commands/summary/gather.h \
	src/commands/summary/gathered.c \
	src/commands/summary/gathered.h \
	src/commands/summary/options.c \
	src/commands/summary/options.h \
	src/commands/summary/report.c \
	src/commands/summary/report.h \
	src/commands/summary/spread.h \
	src/commands/summary/write.c \
	src/commands/summary/write.h \
	src/commands/trend/trend.c \
	src/commands/version.c

# What `memsnap help TOPIC` prints: the man pages of section 7 as text.
topic_pages = man/memsnap-categories.7 man/memsnap-formats.7 man/memsnap-numbers.7 man/memsnap-record.7
EXTRA_DIST += scripts/man-text.awk
nodist_libmemsnap_a_SOURCES += src/commands/cli/topics_text.c
CLEANFILES += src/commands/cli/topics_text.c src/commands/cli/topic-page

src/commands/cli/topics_text.c: $(topic_pages) $(top_srcdir)/scripts/embed \
		$(top_srcdir)/scripts/man-text.awk
	$(AM_V_GEN)$(MKDIR_P) src/commands/cli && rm -f $@-new && header=commands/cli/topics.h && export header && \
	for topic in categories formats numbers record; do \
	    LC_ALL=C $(AWK) -f $(top_srcdir)/scripts/man-text.awk \
	        $(top_srcdir)/man/memsnap-$$topic.7 >src/commands/cli/topic-page && \
	    $(embed) topic_$$topic src/commands/cli/topic-page >>$@-new || exit 1; \
	done && rm -f src/commands/cli/topic-page && mv $@-new $@

# Several processes of MPI.
if HAVE_MPI
libmemsnap_a_SOURCES += \
	src/commands/cluster/frame.c \
	src/commands/cluster/frame.h \
	src/commands/cluster/mpi.c \
	src/commands/cluster/worker.c \
	src/commands/cluster/worker.h \
	src/commands/summary/spread.c
endif

# The templates of pictures, for a program that does not find them as files.
EXTRA_DIST += scripts/embed-table
nodist_libmemsnap_a_SOURCES += src/commands/plot/embedded.c
CLEANFILES += src/commands/plot/embedded.c
src/commands/plot/embedded.c: $(dist_plots_DATA) $(top_srcdir)/scripts/embed \
		$(top_srcdir)/scripts/embed-table
	$(AM_V_GEN)$(MKDIR_P) src/commands/plot && (cd $(srcdir) && \
	header=commands/plot/embedded.h && export header && \
	$(SHELL) scripts/embed-table plot_embedded $(dist_plots_DATA)) >$@-new && mv $@-new $@

# What runs in every Python of a dry run.
nodist_libmemsnap_a_SOURCES += src/commands/dryrun/recorder.c
CLEANFILES += src/commands/dryrun/recorder.c
src/commands/dryrun/recorder.c: $(dryrun_modules:%=$(top_srcdir)/src/dryrun/%.py) $(top_srcdir)/scripts/embed
	$(AM_V_GEN)$(MKDIR_P) src/commands/dryrun && header=commands/dryrun/folder.h && export header && \
	for name in $(dryrun_modules); do \
	    $(embed) dryrun_$$name $(top_srcdir)/src/dryrun/$$name.py || exit; \
	done >$@-new && mv $@-new $@
