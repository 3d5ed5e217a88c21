libmemsnap_a_SOURCES += \
	src/render/analyze/allocations.c \
	src/render/analyze/analyze.h \
	src/render/analyze/explain.c \
	src/render/analyze/explain.h \
	src/render/analyze/findings.c \
	src/render/analyze/findings.h \
	src/render/analyze/fragmentation.c \
	src/render/analyze/fragmentation_rows.c \
	src/render/analyze/growth.c \
	src/render/analyze/growth.h \
	src/render/analyze/growth_advice.c \
	src/render/analyze/growth_advice.h \
	src/render/analyze/growth_rows.c \
	src/render/analyze/internal.h \
	src/render/analyze/joint.c \
	src/render/analyze/json.c \
	src/render/analyze/live.c \
	src/render/analyze/memory.h \
	src/render/analyze/oom.c \
	src/render/analyze/oom_json.c \
	src/render/analyze/phases.c \
	src/render/analyze/stack.c \
	src/render/analyze/summary.c \
	src/render/analyze/text.c \
	src/render/backends.c \
	src/render/backends.h \
	src/render/check/annotations.c \
	src/render/check/check.h \
	src/render/check/json.c \
	src/render/check/junit.c \
	src/render/check/text.c \
	src/render/check/words.c \
	src/render/check/words.h \
	src/render/core/device_use.c \
	src/render/core/device_use.h \
	src/render/core/escape.c \
	src/render/core/escape.h \
	src/render/core/fields.c \
	src/render/core/fields.h \
	src/render/core/fit.c \
	src/render/core/fit.h \
	src/render/core/input_line.c \
	src/render/core/input_line.h \
	src/render/core/json.c \
	src/render/core/json.h \
	src/render/core/moments.c \
	src/render/core/moments.h \
	src/render/core/pack.h \
	src/render/core/page.c \
	src/render/core/page.h \
	src/render/core/record_rows.c \
	src/render/core/records.c \
	src/render/core/records.h \
	src/render/core/rows.c \
	src/render/core/rows.h \
	src/render/core/site_type.c \
	src/render/core/site_type.h \
	src/render/core/table.c \
	src/render/core/table.h \
	src/render/diff/diff.h \
	src/render/diff/json.c \
	src/render/diff/layers.c \
	src/render/diff/rows.c \
	src/render/diff/rows.h \
	src/render/diff/summaries.c \
	src/render/diff/text.c \
	src/render/dump/internal.h \
	src/render/dump/json.c \
	src/render/dump/json.h \
	src/render/dump/leaf.c \
	src/render/dump/leaf.h \
	src/render/dump/refs.c \
	src/render/dump/scalars.c \
	src/render/export/allocations.c \
	src/render/export/database.c \
	src/render/export/database.h \
	src/render/export/events.c \
	src/render/export/export.c \
	src/render/export/export.h \
	src/render/export/internal.h \
	src/render/export/layout.c \
	src/render/export/pickler.c \
	src/render/export/pickler.h \
	src/render/export/pickler_internal.h \
	src/render/export/pickler_texts.c \
	src/render/export/sites.c \
	src/render/export/snapshot_pickle.c \
	src/render/export/snapshot_pickle.h \
	src/render/export/snapshot_settings.c \
	src/render/export/snapshot_settings.h \
	src/render/fit/fit.h \
	src/render/fit/json.c \
	src/render/fit/text.c \
	src/render/flame/flame.c \
	src/render/flame/flame.h \
	src/render/layers/convert.h \
	src/render/layers/convert_json.c \
	src/render/layers/convert_msgpack.c \
	src/render/layers/facts.c \
	src/render/layers/facts.h \
	src/render/layers/internal.h \
	src/render/layers/json.c \
	src/render/layers/layers.h \
	src/render/layers/operator_curves.c \
	src/render/layers/operator_curves.h \
	src/render/layers/tables.c \
	src/render/layers/text.c \
	src/render/oom/json.c \
	src/render/oom/oom.h \
	src/render/oom/text.c \
	src/render/page/columns.c \
	src/render/page/columns.h \
	src/render/page/data.c \
	src/render/page/html.h \
	src/render/page/internal.h \
	src/render/page/layout.c \
	src/render/page/page.c \
	src/render/page/run.c \
	src/render/page/run.h \
	src/render/page/run_internal.h \
	src/render/page/run_map.c \
	src/render/page/run_rank.c \
	src/render/page/run_text.c \
	src/render/page/stacks.c \
	src/render/page/stacks.h \
	src/render/page/still.c \
	src/render/plot/bands.c \
	src/render/plot/bars.c \
	src/render/plot/bars.h \
	src/render/plot/categories.c \
	src/render/plot/compare.c \
	src/render/plot/compare.h \
	src/render/plot/fit.c \
	src/render/plot/flame.c \
	src/render/plot/flame_frames.c \
	src/render/plot/flame_internal.h \
	src/render/plot/fsdp.c \
	src/render/plot/fsdp_internal.h \
	src/render/plot/fsdp_rows.c \
	src/render/plot/groups.c \
	src/render/plot/iterations.c \
	src/render/plot/iterations_bars.c \
	src/render/plot/iterations_internal.h \
	src/render/plot/kind.h \
	src/render/plot/layers.c \
	src/render/plot/legend.c \
	src/render/plot/legend.h \
	src/render/plot/pareto.c \
	src/render/plot/phases.c \
	src/render/plot/plot.c \
	src/render/plot/plot.h \
	src/render/plot/ranks.c \
	src/render/plot/ranks_internal.h \
	src/render/plot/ranks_lines.c \
	src/render/plot/ranks_lines.h \
	src/render/plot/ranks_text.c \
	src/render/plot/replay.c \
	src/render/plot/report.c \
	src/render/plot/report_internal.h \
	src/render/plot/report_words.c \
	src/render/plot/script.c \
	src/render/plot/script.h \
	src/render/plot/segment_boxes.c \
	src/render/plot/segment_lines.c \
	src/render/plot/segment_titles.c \
	src/render/plot/segments.c \
	src/render/plot/segments.h \
	src/render/plot/segments_internal.h \
	src/render/plot/shard.c \
	src/render/plot/shard_bars.c \
	src/render/plot/shard_curves.c \
	src/render/plot/shard_internal.h \
	src/render/plot/shard_region.c \
	src/render/plot/sites.c \
	src/render/plot/sites.h \
	src/render/plot/snapshot.c \
	src/render/plot/snapshot.h \
	src/render/plot/steps.c \
	src/render/plot/svg_polygon.c \
	src/render/plot/svg_polygon.h \
	src/render/plot/svg_titles.c \
	src/render/plot/svg_titles.h \
	src/render/plot/text_rows.c \
	src/render/plot/text_rows.h \
	src/render/plot/time.c \
	src/render/plot/time.h \
	src/render/plot/timeline.c \
	src/render/plot/timeline.h \
	src/render/plot/timeline_internal.h \
	src/render/plot/trend.c \
	src/render/plot/trend_internal.h \
	src/render/plot/trend_labels.c \
	src/render/plot/trend_values.c \
	src/render/ranks/json.c \
	src/render/ranks/order.c \
	src/render/ranks/ranks.h \
	src/render/ranks/rows.c \
	src/render/ranks/rows.h \
	src/render/ranks/text.c \
	src/render/replay/json.c \
	src/render/replay/replay.h \
	src/render/replay/rows.c \
	src/render/replay/rows.h \
	src/render/replay/text.c \
	src/render/run/internal.h \
	src/render/run/json.c \
	src/render/run/operators.h \
	src/render/run/operators_json.c \
	src/render/run/operators_text.c \
	src/render/run/rows.c \
	src/render/run/run.h \
	src/render/run/tables.c \
	src/render/run/tables_json.c \
	src/render/run/text.c \
	src/render/shard/by_unit.c \
	src/render/shard/by_unit.h \
	src/render/shard/csv.c \
	src/render/shard/curves.c \
	src/render/shard/curves.h \
	src/render/shard/json.c \
	src/render/shard/notes.c \
	src/render/shard/notes.h \
	src/render/shard/python.c \
	src/render/shard/shard.h \
	src/render/shard/spelling.c \
	src/render/shard/spelling.h \
	src/render/shard/split.c \
	src/render/shard/split.h \
	src/render/shard/stops.c \
	src/render/shard/stops.h \
	src/render/shard/strategy_code.c \
	src/render/shard/strategy_code.h \
	src/render/shard/sweep.c \
	src/render/shard/text.c \
	src/render/shard/words.c \
	src/render/shard/words.h \
	src/render/stats/json.c \
	src/render/stats/stats.h \
	src/render/stats/text.c \
	src/render/suggest/basis.c \
	src/render/suggest/calls.c \
	src/render/suggest/forward.c \
	src/render/suggest/forward_json.c \
	src/render/suggest/front.c \
	src/render/suggest/json.c \
	src/render/suggest/json_apply.c \
	src/render/suggest/kept.c \
	src/render/suggest/left_out.c \
	src/render/suggest/loops.c \
	src/render/suggest/one_layer.c \
	src/render/suggest/parts.c \
	src/render/suggest/parts.h \
	src/render/suggest/placement.c \
	src/render/suggest/python.c \
	src/render/suggest/suggest.h \
	src/render/suggest/text.c \
	src/render/suggest/warnings.c \
	src/render/summary/summary.c \
	src/render/summary/summary.h \
	src/render/trend/trend.c \
	src/render/trend/trend.h

# The page of an interactive picture, in the program; its script is these files, in this order.
html_page_files = src/render/page/page.html src/render/page/colours.css src/render/page/page.css src/render/page/run.css $(html_script_files)
html_script_files = \
	src/render/page/text.js \
	src/render/page/data.js \
	src/render/page/layout.js \
	src/render/page/stack.js \
	src/render/page/view.js \
	src/render/page/raster.js \
	src/render/page/colours.js \
	src/render/page/labels.js \
	src/render/page/chart.js \
	src/render/page/overview.js \
	src/render/page/panel.js \
	src/render/page/blocks.js \
	src/render/page/search.js \
	src/render/page/controls.js \
	src/render/page/page.js
EXTRA_DIST += scripts/embed-hash $(html_page_files)
nodist_libmemsnap_a_SOURCES += src/render/page/embedded.c
CLEANFILES += src/render/page/embedded.c
embed_hash = $(SHELL) $(abs_top_srcdir)/scripts/embed-hash

src/render/page/embedded.c: $(html_page_files) $(top_srcdir)/scripts/embed \
		$(top_srcdir)/scripts/embed-hash
	$(AM_V_GEN)$(MKDIR_P) src/render/page && (cd $(srcdir) && header=render/page/internal.h && \
	export header && \
	$(embed) html_frame src/render/page/page.html && \
	$(embed) html_style src/render/page/colours.css src/render/page/page.css && \
	$(embed) html_script $(html_script_files) && \
	$(embed) run_style src/render/page/colours.css src/render/page/run.css && \
	$(embed_hash) run_style_hash src/render/page/colours.css src/render/page/run.css && \
	$(embed_hash) html_style_hash src/render/page/colours.css src/render/page/page.css && \
	$(embed_hash) html_script_hash $(html_script_files)) >$@-new && mv $@-new $@

# The Python that `memsnap suggest` prints with a plan is in the recorder, in sections: for every plan, for plans of
# modules, for plans that keep results of operators, for plans that need more than one checkpoint for each module, for those of modules that run several
# times, for plans of snapshots that keep results, for all plans of snapshots, and for those whose steps may call several
# modules.
nodist_libmemsnap_a_SOURCES += src/render/suggest/printed.c
CLEANFILES += src/render/suggest/printed.c src/render/suggest/section1.py src/render/suggest/section2.py \
	src/render/suggest/section3.py src/render/suggest/section4.py src/render/suggest/section5.py \
	src/render/suggest/section6.py src/render/suggest/section7.py src/render/suggest/section8.py \
	src/render/suggest/section9.py
src/render/suggest/printed.c: $(top_srcdir)/share/record/memsnap_record.py $(top_srcdir)/scripts/embed
	$(AM_V_GEN)$(MKDIR_P) src/render/suggest && \
	awk '/^[#] memsnap suggest prints /{n++; next} n {print >("src/render/suggest/section" n ".py")}' \
		$(top_srcdir)/share/record/memsnap_record.py && \
	header=render/suggest/parts.h && export header && \
	{ $(embed) suggest_every_code src/render/suggest/section1.py && \
	$(embed) suggest_modules_code src/render/suggest/section2.py && \
	$(embed) suggest_kept_code src/render/suggest/section3.py && \
	$(embed) suggest_parts_code src/render/suggest/section4.py && \
	$(embed) suggest_turns_code src/render/suggest/section5.py && \
	$(embed) suggest_changes_code src/render/suggest/section6.py && \
	$(embed) suggest_calls_code src/render/suggest/section7.py && \
	$(embed) suggest_several_code src/render/suggest/section8.py; } >$@-new && mv $@-new $@

if HAVE_SQLITE
libmemsnap_a_SOURCES += \
	src/render/export/database_rows.c \
	src/render/export/database_rows.h \
	src/render/export/database_sql.h \
	src/render/export/database_stacks.c \
	src/render/sqlite/database.c \
	src/render/sqlite/database.h \
	src/render/sqlite/file.c \
	src/render/sqlite/file.h \
	src/render/sqlite/sites.c \
	src/render/sqlite/sites.h \
	src/render/sqlite/table.c \
	src/render/sqlite/table.h
nodist_libmemsnap_a_SOURCES += src/render/export/database_sql.c
endif

# The schema of an exported database.
database_sql_files = src/render/export/database_tables.sql src/render/export/database_views.sql
EXTRA_DIST += $(database_sql_files)
CLEANFILES += src/render/export/database_sql.c

src/render/export/database_sql.c: $(database_sql_files) $(top_srcdir)/scripts/embed
	$(AM_V_GEN)$(MKDIR_P) src/render/export && (cd $(srcdir) && \
	header=render/export/database_sql.h && export header && \
	$(embed) export_database_tables src/render/export/database_tables.sql && \
	$(embed) export_database_views src/render/export/database_views.sql) >$@-new && mv $@-new $@
