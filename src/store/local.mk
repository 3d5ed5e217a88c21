libmemsnap_a_SOURCES += \
	src/store/store.h

if HAVE_SQLITE
libmemsnap_a_SOURCES += \
	src/store/internal.h \
	src/store/open.c \
	src/store/read.c \
	src/store/write.c
EXTRA_DIST += src/store/none.c
else
libmemsnap_a_SOURCES += src/store/none.c
endif
