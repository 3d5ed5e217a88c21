libmemsnap_a_SOURCES += \
	src/commands/analyze.c \
	src/commands/analyze_curves.c \
	src/commands/analyze_curves.h \
	src/commands/analyze_kind.c \
	src/commands/analyze_kind.h \
	src/commands/analyze_layers.c \
	src/commands/analyze_layers.h \
	src/commands/analyze_options.c \
	src/commands/analyze_options.h \
	src/commands/analyze_snapshot.c \
	src/commands/analyze_snapshot.h \
	src/commands/arguments.c \
	src/commands/arguments.h \
	src/commands/at.c \
	src/commands/at.h \
	src/commands/backends.c \
	src/commands/capture.c \
	src/commands/capture.h \
	src/commands/check.c \
	src/commands/check_file.c \
	src/commands/check_file.h \
	src/commands/check_options.c \
	src/commands/check_options.h \
	src/commands/check_policy.c \
	src/commands/check_policy.h \
	src/commands/closest.c \
	src/commands/closest.h \
	src/commands/command.h \
	src/commands/commands.c \
	src/commands/complain.c \
	src/commands/complain.h \
	src/commands/completion.c \
	src/commands/completion.h \
	src/commands/convert.c \
	src/commands/crew.c \
	src/commands/crew.h \
	src/commands/device_process.c \
	src/commands/device_process.h \
	src/commands/diff.c \
	src/commands/diff_job.h \
	src/commands/diff_layers.c \
	src/commands/diff_options.c \
	src/commands/diff_options.h \
	src/commands/diff_snapshots.c \
	src/commands/dump.c \
	src/commands/export.c \
	src/commands/export_capture.c \
	src/commands/export_options.c \
	src/commands/export_options.h \
	src/commands/export_snapshot.c \
	src/commands/export_stream.c \
	src/commands/export_tables.h \
	src/commands/files.c \
	src/commands/files.h \
	src/commands/flame.c \
	src/commands/flame_options.c \
	src/commands/flame_options.h \
	src/commands/help.c \
	src/commands/inputs.c \
	src/commands/inputs.h \
	src/commands/options.c \
	src/commands/options.h \
	src/commands/output.c \
	src/commands/output.h \
	src/commands/plot.c \
	src/commands/plot_candidates.c \
	src/commands/plot_candidates.h \
	src/commands/plot_bands.c \
	src/commands/plot_bands.h \
	src/commands/plot_draw_categories.c \
	src/commands/plot_draw_compare.c \
	src/commands/plot_draw_layers.c \
	src/commands/plot_draw_pareto.c \
	src/commands/plot_draw_flame.c \
	src/commands/plot_draw_phases.c \
	src/commands/plot_draw_report.c \
	src/commands/plot_draw_segments.c \
	src/commands/plot_draw_sites.c \
	src/commands/plot_draw_timeline.c \
	src/commands/plot_folder.c \
	src/commands/plot_folder.h \
	src/commands/plot_job.c \
	src/commands/plot_kinds.c \
	src/commands/plot_kinds.h \
	src/commands/plot_options.c \
	src/commands/plot_options.h \
	src/commands/plot_page.c \
	src/commands/plot_page.h \
	src/commands/plot_process.c \
	src/commands/plot_process.h \
	src/commands/plot_show.c \
	src/commands/plot_show.h \
	src/commands/plot_snapshot.c \
	src/commands/plot_snapshot.h \
	src/commands/plot_template.c \
	src/commands/plot_svg.c \
	src/commands/plot_svg.h \
	src/commands/plot_term.c \
	src/commands/plot_term.h \
	src/commands/rules_file.c \
	src/commands/rules_file.h \
	src/commands/small_file.c \
	src/commands/small_file.h \
	src/commands/sandbox.c \
	src/commands/sandbox.h \
	src/commands/sandbox_landlock.c \
	src/commands/sandbox_layers.h \
	src/commands/sandbox_seccomp.c \
	src/commands/suggest.c \
	src/commands/suggest_answer.c \
	src/commands/suggest_answer.h \
	src/commands/suggest_options.c \
	src/commands/suggest_options.h \
	src/commands/suggest_snapshot.c \
	src/commands/suggest_snapshot.h \
	src/commands/terminal.c \
	src/commands/terminal.h \
	src/commands/topics.c \
	src/commands/topics.h \
	src/commands/version.c \
	src/commands/watch.c \
	src/commands/watch.h

# What `memsnap help TOPIC` prints: the man pages of section 7 as text.
topic_pages = man/memsnap-categories.7 man/memsnap-formats.7 man/memsnap-numbers.7
EXTRA_DIST += scripts/man-text.awk
nodist_libmemsnap_a_SOURCES += src/commands/topics_text.c
CLEANFILES += src/commands/topics_text.c src/commands/topic-page

src/commands/topics_text.c: $(topic_pages) $(top_srcdir)/scripts/embed \
		$(top_srcdir)/scripts/man-text.awk
	$(AM_V_GEN)$(MKDIR_P) src/commands && rm -f $@-new && header=commands/topics.h && export header && \
	for topic in categories formats numbers; do \
	    LC_ALL=C $(AWK) -f $(top_srcdir)/scripts/man-text.awk \
	        $(top_srcdir)/man/memsnap-$$topic.7 >src/commands/topic-page && \
	    $(embed) topic_$$topic src/commands/topic-page >>$@-new || exit 1; \
	done && rm -f src/commands/topic-page && mv $@-new $@
