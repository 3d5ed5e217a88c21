libmemsnap_a_SOURCES += \
	src/solve/backend.c \
	src/solve/backend.h \
	src/solve/cost_reference.c \
	src/solve/cost_table.c \
	src/solve/cost_table.h \
	src/solve/cpu.c
