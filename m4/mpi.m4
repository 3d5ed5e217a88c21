# MEMSNAP_MPI(IF-SO)
# Sets MPI_CFLAGS and MPI_LIBS from what $MPICC says it runs, if it is set, or else from pkg-config,
# or else from mpicc, and defines HAVE_MPI. Ends configure if no program can be linked with MPI.
AC_DEFUN([MEMSNAP_MPI], [
  AC_ARG_VAR([MPICC], [compiler wrapper of MPI, such as mpicc.mpich, instead of what pkg-config knows])
  AS_IF([test -n "$MPICC"], [MEMSNAP_MPICC],
    [PKG_CHECK_MODULES([MPI], [mpi-c], [],
      [PKG_CHECK_MODULES([MPI], [ompi-c], [],
        [PKG_CHECK_MODULES([MPI], [ompi], [],
          [PKG_CHECK_MODULES([MPI], [mpich], [], [MEMSNAP_MPICC])])])])])
  dnl Its headers are not held to our warnings.
  MPI_CFLAGS=`AS_ECHO([" $MPI_CFLAGS"]) | $SED 's/ -I/ -isystem /g'`
  memsnap_saved_CFLAGS=$CFLAGS memsnap_saved_LIBS=$LIBS
  CFLAGS="$CFLAGS $MPI_CFLAGS" LIBS="$MPI_LIBS $LIBS"
  AC_MSG_CHECKING([for MPI 3])
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>]],
      [[MPI_Request request; return MPI_Init(0, 0) || MPI_Ibcast(0, 0, MPI_BYTE, 0, MPI_COMM_WORLD, &request);]])],
    [AC_MSG_RESULT([yes])
     AC_DEFINE([HAVE_MPI], [1], [several processes of MPI may share the work of a command])
     $1],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([--with-mpi: MPI is missing (Debian: libopenmpi-dev)])])
  CFLAGS=$memsnap_saved_CFLAGS LIBS=$memsnap_saved_LIBS
])
# MEMSNAP_MPICC
# Asks the wrapper: MPICH's mpicc prints its command, and so does Open MPI's.
AC_DEFUN([MEMSNAP_MPICC], [
  AC_CHECK_PROGS([MPICC], [mpicc])
  memsnap_mpi=`test -n "$MPICC" && $MPICC -show 2>/dev/null`
  MPI_CFLAGS= MPI_LIBS=
  for memsnap_word in $memsnap_mpi; do
    AS_CASE([$memsnap_word],
      [-I*|-D*], [AS_VAR_APPEND([MPI_CFLAGS], [" $memsnap_word"])],
      [-L*|-l*|-Wl*], [AS_VAR_APPEND([MPI_LIBS], [" $memsnap_word"])])
  done
])
