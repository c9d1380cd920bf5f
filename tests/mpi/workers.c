/* A master gives tasks to whoever asks first; results of any length come from anybody. */
#include "check.h"

enum { TASKS = 60, TASK = 1, STOP = 2, RESULT = 3 };

int main(int argc, char** argv) {
  begin(&argc, &argv);
  static int result[20000];
  if (rank == 0 && size > 1) {
    long sum = 0, expected = 0;
    int given = 0, taken = 0;
    for (int w = 1; w < size; ++w) {
      if (given < TASKS) MPI_Send(&given, 1, MPI_INT, w, TASK, MPI_COMM_WORLD), ++given;
    }
    while (taken < given) {
      MPI_Status status;
      int count = 0;
      MPI_Probe(MPI_ANY_SOURCE, RESULT, MPI_COMM_WORLD, &status);
      MPI_Get_count(&status, MPI_INT, &count);
      MPI_Recv(result, count, MPI_INT, status.MPI_SOURCE, RESULT, MPI_COMM_WORLD, &status);
      CHECK(count == 1 + result[0] * 300);
      for (int i = 0; i < count; ++i) sum += result[i];
      ++taken;
      if (given < TASKS) MPI_Send(&given, 1, MPI_INT, status.MPI_SOURCE, TASK, MPI_COMM_WORLD), ++given;
    }
    for (int w = 1; w < size; ++w) MPI_Send(NULL, 0, MPI_INT, w, STOP, MPI_COMM_WORLD);
    for (long t = 0; t < TASKS; ++t) expected += t * (1 + t * 300);
    CHECK(sum == expected);
  }
  while (rank > 0) {
    MPI_Status status;
    int task = 0;
    MPI_Recv(&task, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    if (status.MPI_TAG == STOP) break;
    const int count = 1 + task * 300;
    for (int i = 0; i < count; ++i) result[i] = task;
    MPI_Request request;
    MPI_Isend(result, count, MPI_INT, 0, RESULT, MPI_COMM_WORLD, &request);
    for (int flag = 0; !flag;) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  }
  return end();
}
