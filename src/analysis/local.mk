libmemsnap_a_SOURCES += \
	src/analysis/annotations.c \
	src/analysis/annotations.h \
	src/analysis/carried.c \
	src/analysis/carried.h \
	src/analysis/category.c \
	src/analysis/category.h \
	src/analysis/frames.c \
	src/analysis/frames.h \
	src/analysis/labels.c \
	src/analysis/labels.h \
	src/analysis/live_source.c \
	src/analysis/live_source.h \
	src/analysis/notices.c \
	src/analysis/notices.h \
	src/analysis/operators.c \
	src/analysis/operators.h \
	src/analysis/paths.c \
	src/analysis/paths.h \
	src/analysis/phases.c \
	src/analysis/phases.h \
	src/analysis/report.c \
	src/analysis/report.h \
	src/analysis/report_sites.c \
	src/analysis/report_sites.h \
	src/analysis/site.c \
	src/analysis/site.h \
	src/analysis/site_label.c
