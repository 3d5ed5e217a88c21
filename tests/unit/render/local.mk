unit_runners += tests/unit/render/run
tests_unit_render_run_CPPFLAGS = $(unit_cppflags)
tests_unit_render_run_LDADD = $(unit_libs)
tests_unit_render_run_SOURCES = $(unit_common) \
	tests/unit/analysis/capture.c \
	tests/unit/analysis/capture.h \
	tests/unit/render/check_words_test.c \
	tests/unit/render/escape_test.c \
	tests/unit/render/columns_test.c \
	tests/unit/render/database_test.c \
	tests/unit/render/fields_test.c \
	tests/unit/render/fit_test.c \
	tests/unit/render/render.h \
	tests/unit/render/pickler_test.c \
	tests/unit/render/plot_kinds_test.c \
	tests/unit/render/plot_ranks_test.c \
	tests/unit/render/plot_script_test.c \
	tests/unit/render/plot_text_test.c \
	tests/unit/render/records_test.c \
	tests/unit/render/run_page_test.c \
	tests/unit/render/suggest_loops_test.c \
	tests/unit/render/svg_titles_test.c \
	tests/unit/render/suite.c
