/* Conjugate gradients for a line of springs, rows spread over processes: allgatherv and allreduce. */
#include "check.h"

enum { N = 120 };

static void apply(const double* x, double* y, int from, int to) {
  for (int i = from; i < to; ++i)
    y[i - from] = 2.1 * x[i] - (i > 0 ? x[i - 1] : 0) - (i < N - 1 ? x[i + 1] : 0);
}

static double dot(const double* a, const double* b, int n) {
  double own = 0, all = 0;
  for (int i = 0; i < n; ++i) own += a[i] * b[i];
  MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  int* counts = malloc(sizeof(int) * (size_t)size);
  int* places = malloc(sizeof(int) * (size_t)size);
  for (int i = 0; i < size; ++i) {
    places[i] = i * N / size;
    counts[i] = (i + 1) * N / size - places[i];
  }
  const int from = places[rank], n = counts[rank];
  double x[N] = {0}, r[N], p[N], all[N], q[N];
  for (int i = 0; i < n; ++i) r[i] = p[i] = 1 + (from + i) % 7;
  double old = dot(r, r, n);
  for (int k = 0; k < 200 && old > 1e-20; ++k) {
    MPI_Allgatherv(p, n, MPI_DOUBLE, all, counts, places, MPI_DOUBLE, MPI_COMM_WORLD);
    apply(all, q, from, from + n);
    const double alpha = old / dot(p, q, n);
    for (int i = 0; i < n; ++i) x[i] += alpha * p[i], r[i] -= alpha * q[i];
    const double next = dot(r, r, n);
    for (int i = 0; i < n; ++i) p[i] = r[i] + next / old * p[i];
    old = next;
  }
  MPI_Gatherv(x, n, MPI_DOUBLE, all, counts, places, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    apply(all, q, 0, N);
    double worst = 0;
    for (int i = 0; i < N; ++i) worst = fmax(worst, fabs(q[i] - (1 + i % 7)));
    CHECK(worst < 1e-8);
  }
  free(counts);
  free(places);
  return end();
}
