#pragma once

/* What all programs here need: a check that says what is wrong, and a code that says whether. */
#ifdef PHX_LIBRARY_FOLDER
#include <dlfcn.h>
#endif
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, errors;

static void check_at(int line, int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "rank %d, line %d: not so: %s\n", rank, line, what);
  ++errors;
}
#define CHECK(condition) check_at(__LINE__, (condition), #condition)

/* Where the build says which library is to be tested: whether it is that one. */
static void check_library(void) {
#ifdef PHX_LIBRARY_FOLDER
  Dl_info info;
  CHECK(dladdr((void*)(size_t)MPI_Init, &info) != 0);
  CHECK(strncmp(info.dli_fname, PHX_LIBRARY_FOLDER "/", strlen(PHX_LIBRARY_FOLDER) + 1) == 0);
#endif
}

static void begin(int* argc, char*** argv) {
  int level;
  MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
}

static int end(void) {
  int all = 0;
  check_library();
  MPI_Allreduce(&errors, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all != 0;
}
