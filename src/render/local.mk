libmemsnap_a_SOURCES += \
	src/render/analyze.h \
	src/render/analyze_allocations.c \
	src/render/analyze_growth.c \
	src/render/analyze_growth.h \
	src/render/analyze_growth_json.c \
	src/render/analyze_growth_pending.c \
	src/render/analyze_findings.c \
	src/render/analyze_findings.h \
	src/render/analyze_fragmentation.c \
	src/render/analyze_fragmentation_json.c \
	src/render/analyze_json.c \
	src/render/analyze_live.c \
	src/render/analyze_memory.h \
	src/render/analyze_oom.c \
	src/render/analyze_oom_json.c \
	src/render/analyze_parts.h \
	src/render/analyze_phases.c \
	src/render/analyze_stack.c \
	src/render/analyze_summary.c \
	src/render/analyze_text.c \
	src/render/backends.c \
	src/render/backends.h \
	src/render/diff.h \
	src/render/diff_csv.c \
	src/render/diff_json.c \
	src/render/diff_layers.c \
	src/render/diff_layers.h \
	src/render/diff_layers_json.c \
	src/render/diff_parts.h \
	src/render/diff_tables.c \
	src/render/diff_text.c \
	src/render/check.h \
	src/render/check_annotations.c \
	src/render/check_json.c \
	src/render/check_junit.c \
	src/render/check_text.c \
	src/render/check_words.c \
	src/render/check_words.h \
	src/render/dump_json.c \
	src/render/dump_json.h \
	src/render/dump_leaf.c \
	src/render/dump_leaf.h \
	src/render/dump_refs.c \
	src/render/dump_refs.h \
	src/render/dump_scalars.c \
	src/render/dumper.h \
	src/render/escape.c \
	src/render/escape.h \
	src/render/explain.c \
	src/render/explain.h \
	src/render/export.c \
	src/render/export.h \
	src/render/export_allocations.c \
	src/render/export_events.c \
	src/render/export_layout.c \
	src/render/export_parts.c \
	src/render/export_parts.h \
	src/render/export_sites.c \
	src/render/fit.c \
	src/render/fit.h \
	src/render/flame.h \
	src/render/flame_folded.c \
	src/render/flame_speedscope.c \
	src/render/html.h \
	src/render/html_columns.c \
	src/render/html_columns.h \
	src/render/html_data.c \
	src/render/html_page.c \
	src/render/html_parts.h \
	src/render/html_stacks.c \
	src/render/html_stacks.h \
	src/render/html_still.c \
	src/render/input_line.c \
	src/render/input_line.h \
	src/render/json.c \
	src/render/json.h \
	src/render/json_frames.c \
	src/render/json_frames.h \
	src/render/layers.h \
	src/render/layers_convert.h \
	src/render/layers_convert_json.c \
	src/render/layers_convert_msgpack.c \
	src/render/layers_json.c \
	src/render/layers_notices.c \
	src/render/layers_parts.h \
	src/render/layers_path.c \
	src/render/layers_path.h \
	src/render/layers_tables.c \
	src/render/layers_text.c \
	src/render/moments.c \
	src/render/moments.h \
	src/render/operator_curves.h \
	src/render/operator_curves_json.c \
	src/render/operator_curves_text.c \
	src/render/page.c \
	src/render/page.h \
	src/render/pickler.c \
	src/render/pickler.h \
	src/render/pickler_parts.h \
	src/render/pickler_texts.c \
	src/render/plot.c \
	src/render/plot.h \
	src/render/plot_band_colours.c \
	src/render/plot_band_sites.c \
	src/render/plot_band_titles.c \
	src/render/plot_bands.c \
	src/render/plot_bars.c \
	src/render/plot_bars.h \
	src/render/plot_categories.c \
	src/render/plot_categories.h \
	src/render/plot_colours.c \
	src/render/plot_compare.c \
	src/render/plot_compare.h \
	src/render/plot_pareto.c \
	src/render/plot_pareto.h \
	src/render/plot_spread.c \
	src/render/plot_spread.h \
	src/render/plot_layers.c \
	src/render/plot_layers.h \
	src/render/plot_flame.c \
	src/render/plot_flame_frames.c \
	src/render/plot_flame_parts.h \
	src/render/plot_flame.h \
	src/render/plot_legend.c \
	src/render/plot_legend.h \
	src/render/plot_phases.c \
	src/render/plot_phases.h \
	src/render/plot_report.c \
	src/render/plot_report.h \
	src/render/plot_report_parts.h \
	src/render/plot_report_words.c \
	src/render/plot_rest.c \
	src/render/plot_segment_boxes.c \
	src/render/plot_segment_lines.c \
	src/render/plot_segment_titles.c \
	src/render/plot_segments.c \
	src/render/plot_segments.h \
	src/render/plot_segments_parts.h \
	src/render/plot_sites.c \
	src/render/plot_sites.h \
	src/render/plot_terminal.c \
	src/render/plot_terminal.h \
	src/render/plot_time.c \
	src/render/plot_time.h \
	src/render/plot_timeline.c \
	src/render/plot_timeline.h \
	src/render/plot_timeline_parts.h \
	src/render/plot_words.c \
	src/render/plot_words.h \
	src/render/record_cells.c \
	src/render/records.c \
	src/render/records.h \
	src/render/settings.c \
	src/render/settings.h \
	src/render/snapshot_pickle.c \
	src/render/snapshot_pickle.h \
	src/render/snapshot_settings.c \
	src/render/snapshot_settings.h \
	src/render/svg_polygon.c \
	src/render/svg_polygon.h \
	src/render/svg_slivers.c \
	src/render/svg_slivers.h \
	src/render/svg_titles.c \
	src/render/svg_titles.h \
	src/render/suggest.h \
	src/render/suggest_forward.c \
	src/render/suggest_front.c \
	src/render/suggest_head.c \
	src/render/suggest_json.c \
	src/render/suggest_loops.c \
	src/render/suggest_parts.c \
	src/render/suggest_parts.h \
	src/render/suggest_python.c \
	src/render/suggest_text.c \
	src/render/table.c \
	src/render/table.h

# The page of an interactive picture, in the program; its script is these files, in this order.
html_page_files = src/render/page/page.html src/render/page/page.css $(html_script_files)
html_script_files = \
	src/render/page/text.js \
	src/render/page/data.js \
	src/render/page/stack.js \
	src/render/page/view.js \
	src/render/page/raster.js \
	src/render/page/colours.js \
	src/render/page/labels.js \
	src/render/page/chart.js \
	src/render/page/overview.js \
	src/render/page/panel.js \
	src/render/page/search.js \
	src/render/page/controls.js \
	src/render/page/page.js
EXTRA_DIST += scripts/embed-hash $(html_page_files)
nodist_libmemsnap_a_SOURCES += src/render/html_embedded.c
CLEANFILES += src/render/html_embedded.c
embed_hash = $(SHELL) $(abs_top_srcdir)/scripts/embed-hash

src/render/html_embedded.c: $(html_page_files) $(top_srcdir)/scripts/embed \
		$(top_srcdir)/scripts/embed-hash
	$(AM_V_GEN)$(MKDIR_P) src/render && (cd $(srcdir) && header=render/html_parts.h && \
	export header && \
	$(embed) html_frame src/render/page/page.html && \
	$(embed) html_style src/render/page/page.css && \
	$(embed) html_script $(html_script_files) && \
	$(embed_hash) html_style_hash src/render/page/page.css && \
	$(embed_hash) html_script_hash $(html_script_files)) >$@-new && mv $@-new $@
