/* Heat on a plate, cut into a grid of processes; the result is that of one process. */
#include "check.h"

enum { N = 48, STEPS = 40 };

static double start_at(int i, int j) { return sin(i * 0.3) + cos(j * 0.2); }

static void sequential(double a[N + 2][N + 2]) {
  static double b[N + 2][N + 2];
  for (int i = 0; i < N + 2; ++i)
    for (int j = 0; j < N + 2; ++j) a[i][j] = b[i][j] = start_at(i, j);
  for (int s = 0; s < STEPS; ++s) {
    for (int i = 1; i <= N; ++i)
      for (int j = 1; j <= N; ++j) b[i][j] = (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]) / 4;
    memcpy(a, b, sizeof(b));
  }
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  int dims[2] = {0, 0}, wraps[2] = {0, 0}, at[2], up, down, left, right;
  MPI_Dims_create(size, 2, dims);
  MPI_Comm grid;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, wraps, 1, &grid);
  int me;
  MPI_Comm_rank(grid, &me);
  MPI_Cart_coords(grid, me, 2, at);
  MPI_Cart_shift(grid, 0, 1, &up, &down);
  MPI_Cart_shift(grid, 1, 1, &left, &right);
  const int i0 = at[0] * N / dims[0], i1 = (at[0] + 1) * N / dims[0];
  const int j0 = at[1] * N / dims[1], j1 = (at[1] + 1) * N / dims[1];
  const int rows = i1 - i0, columns = j1 - j0, width = columns + 2;
  double* a = malloc(sizeof(double) * (size_t)((rows + 2) * width));
  double* b = malloc(sizeof(double) * (size_t)((rows + 2) * width));
  for (int i = 0; i < rows + 2; ++i)
    for (int j = 0; j < width; ++j) a[i * width + j] = b[i * width + j] = start_at(i0 + i, j0 + j);
  MPI_Datatype column;
  MPI_Type_vector(rows, 1, width, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  for (int s = 0; s < STEPS; ++s) {
    MPI_Request r[8];
    MPI_Irecv(&a[1], columns, MPI_DOUBLE, up, 0, grid, &r[0]);
    MPI_Irecv(&a[(rows + 1) * width + 1], columns, MPI_DOUBLE, down, 1, grid, &r[1]);
    MPI_Irecv(&a[width], 1, column, left, 2, grid, &r[2]);
    MPI_Irecv(&a[width + columns + 1], 1, column, right, 3, grid, &r[3]);
    MPI_Isend(&a[rows * width + 1], columns, MPI_DOUBLE, down, 0, grid, &r[4]);
    MPI_Isend(&a[width + 1], columns, MPI_DOUBLE, up, 1, grid, &r[5]);
    MPI_Isend(&a[width + columns], 1, column, right, 2, grid, &r[6]);
    MPI_Isend(&a[width + 1], 1, column, left, 3, grid, &r[7]);
    MPI_Waitall(8, r, MPI_STATUSES_IGNORE);
    for (int i = 1; i <= rows; ++i)
      for (int j = 1; j <= columns; ++j)
        b[i * width + j] = (a[(i - 1) * width + j] + a[(i + 1) * width + j] + a[i * width + j - 1] + a[i * width + j + 1]) / 4;
    double* c = a;
    a = b;
    b = c;
  }
  static double whole[N + 2][N + 2];
  sequential(whole);
  int wrong = 0;
  for (int i = 1; i <= rows; ++i)
    for (int j = 1; j <= columns; ++j) wrong += a[i * width + j] != whole[i0 + i][j0 + j];
  CHECK(wrong == 0);
  MPI_Type_free(&column);
  MPI_Comm_free(&grid);
  free(a);
  free(b);
  return end();
}
