/* A matrix, spread by rows, is transposed by datatypes alone. */
#include "check.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  enum { ROWS = 5 };
  const int n = ROWS * size;
  double* a = malloc(sizeof(double) * (size_t)(ROWS * n));
  double* t = malloc(sizeof(double) * (size_t)(ROWS * n));
  for (int i = 0; i < ROWS; ++i)
    for (int j = 0; j < n; ++j) a[i * n + j] = (rank * ROWS + i) * 1000 + j;
  MPI_Datatype column, columns, block, part;
  MPI_Type_vector(ROWS, 1, n, MPI_DOUBLE, &column);
  MPI_Type_create_resized(column, 0, sizeof(double), &columns);
  MPI_Type_contiguous(ROWS, columns, &block);
  MPI_Type_create_resized(block, 0, ROWS * sizeof(double), &part);
  MPI_Type_commit(&part);
  MPI_Datatype rows, row_part;
  MPI_Type_vector(ROWS, ROWS, n, MPI_DOUBLE, &rows);
  MPI_Type_create_resized(rows, 0, ROWS * sizeof(double), &row_part);
  MPI_Type_commit(&row_part);
  MPI_Alltoall(a, 1, part, t, 1, row_part, MPI_COMM_WORLD);
  int wrong = 0;
  for (int i = 0; i < ROWS; ++i)
    for (int j = 0; j < n; ++j) wrong += t[i * n + j] != j * 1000 + rank * ROWS + i;
  CHECK(wrong == 0);
  free(a);
  free(t);
  return end();
}
