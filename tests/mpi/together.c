/* Every collective operation, blocking and not: each root, counts that differ and are nothing, in
 * place, operations that do not commute, pairs with places, derived types. */
#include "check.h"

static MPI_Request request;
#define BOTH(Name, ...)                       \
  for (int later = 0; later < 2; ++later)     \
    if (later) {                              \
      MPI_I##Name(__VA_ARGS__, &request);     \
      MPI_Wait(&request, MPI_STATUS_IGNORE);  \
    } else

/* Concatenation of digits, which is not the same the other way round: 10^digits beside the value. */
static void append(void* in, void* inout, int* count, MPI_Datatype* type) {
  long long* a = in;
  long long* b = inout;
  (void)type;
  for (int i = 0; i < *count; ++i) {
    b[2 * i] = (a[2 * i] * b[2 * i + 1] + b[2 * i]) % 1000000007;
    b[2 * i + 1] = a[2 * i + 1] * b[2 * i + 1] % 1000000007;
  }
}
static long long digits(int from, int to) {
  long long value = 0;
  for (int r = from; r <= to; ++r) value = (value * 10 + r % 10) % 1000000007;
  return value;
}

static void in_order(void) {
  MPI_Datatype pair;
  MPI_Op op;
  int commutes = 1;
  MPI_Type_contiguous(2, MPI_LONG_LONG, &pair);
  MPI_Type_commit(&pair);
  MPI_Op_create(append, 0, &op);
  MPI_Op_commutative(op, &commutes);
  CHECK(!commutes);
  const long long mine[2] = {rank % 10, 10};
  long long out[2];
  for (int root = 0; root < size; ++root) {
    memset(out, 0, sizeof out);
    MPI_Reduce(mine, out, 1, pair, op, root, MPI_COMM_WORLD);
    if (rank == root) CHECK(out[0] == digits(0, size - 1));
  }
  MPI_Allreduce(mine, out, 1, pair, op, MPI_COMM_WORLD);
  CHECK(out[0] == digits(0, size - 1));
  MPI_Scan(mine, out, 1, pair, op, MPI_COMM_WORLD);
  CHECK(out[0] == digits(0, rank));
  MPI_Exscan(mine, out, 1, pair, op, MPI_COMM_WORLD);
  if (rank > 0) CHECK(out[0] == digits(0, rank - 1));
  memcpy(out, mine, sizeof out);
  MPI_Scan(MPI_IN_PLACE, out, 1, pair, op, MPI_COMM_WORLD);
  CHECK(out[0] == digits(0, rank));
  MPI_Op_free(&op);
  MPI_Type_free(&pair);
}

static void combined(void) {
  double values[3] = {rank, -rank, rank * 0.5}, all[3];
  MPI_Allreduce(values, all, 3, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  CHECK(all[0] == size - 1 && all[1] == 0 && all[2] == (size - 1) * 0.5);
  MPI_Allreduce(MPI_IN_PLACE, values, 3, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  CHECK(values[0] == 0 && values[1] == 1 - size);
  struct { double value; int where; } at = {(rank * 3) % size, rank}, best;
  MPI_Allreduce(&at, &best, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
  CHECK(best.value == 0 && best.where == 0);
  unsigned bits = 1u << (rank % 31), sum;
  MPI_Allreduce(&bits, &sum, 1, MPI_UNSIGNED, MPI_BOR, MPI_COMM_WORLD);
  CHECK(sum == (size >= 31 ? 0x7fffffffu : (1u << size) - 1));
  int* many = malloc(sizeof(int) * (size_t)size * 3);
  int* counts = malloc(sizeof(int) * (size_t)size);
  int mine[3], total = 0, begin_of_mine = 0;
  for (int r = 0; r < size; ++r) {
    counts[r] = r % 3;
    if (r == rank) begin_of_mine = total;
    total += counts[r];
  }
  BOTH(reduce_scatter, many, mine, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD) {
    for (int i = 0; i < total; ++i) many[i] = i + rank;
    MPI_Reduce_scatter(many, mine, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  for (int i = 0; i < counts[rank]; ++i) {
    CHECK(mine[i] == size * (begin_of_mine + i) + size * (size - 1) / 2);
  }
  for (int i = 0; i < 2 * size; ++i) many[i] = i;
  MPI_Reduce_scatter_block(many, mine, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(mine[0] == 2 * rank * size && mine[1] == (2 * rank + 1) * size);
  MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  free(many);
  free(counts);
}

static void spread(int root) {
  int* all = malloc(sizeof(int) * (size_t)size * 4);
  int* counts = malloc(sizeof(int) * (size_t)size);
  int* places = malloc(sizeof(int) * (size_t)size);
  int mine[4] = {rank, rank, rank, rank}, got[4];
  for (int r = 0; r < size; ++r) {
    counts[r] = (r + root) % 4;
    places[r] = 4 * (size - 1 - r);
  }
  BOTH(gatherv, mine, counts[rank], MPI_INT, all, counts, places, MPI_INT, root, MPI_COMM_WORLD)
    MPI_Gatherv(mine, counts[rank], MPI_INT, all, counts, places, MPI_INT, root, MPI_COMM_WORLD);
  if (rank == root) {
    for (int r = 0; r < size; ++r)
      for (int i = 0; i < counts[r]; ++i) CHECK(all[places[r] + i] == r);
  }
  BOTH(scatterv, all, counts, places, MPI_INT, got, counts[rank], MPI_INT, root, MPI_COMM_WORLD)
    MPI_Scatterv(all, counts, places, MPI_INT, got, counts[rank], MPI_INT, root, MPI_COMM_WORLD);
  for (int i = 0; i < counts[rank]; ++i) CHECK(got[i] == rank);
  for (int i = 0; i < 4 * size; ++i) all[i] = i / 4 == rank ? rank : -1;
  BOTH(allgather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 4, MPI_INT, MPI_COMM_WORLD)
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 4, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < 4 * size; ++i) CHECK(all[i] == i / 4);
  BOTH(allgatherv, mine, counts[rank], MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD)
    MPI_Allgatherv(mine, counts[rank], MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < size; ++r)
    for (int i = 0; i < counts[r]; ++i) CHECK(all[places[r] + i] == r);
  if (rank == root) {
    for (int r = 0; r < size; ++r) all[r] = 10 * r;
    MPI_Scatter(all, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, root, MPI_COMM_WORLD);
    all[rank] = 7 * rank;
    MPI_Gather(MPI_IN_PLACE, 1, MPI_INT, all, 1, MPI_INT, root, MPI_COMM_WORLD);
    for (int r = 0; r < size; ++r) CHECK(all[r] == 7 * r);
  } else {
    MPI_Scatter(NULL, 0, MPI_INT, got, 1, MPI_INT, root, MPI_COMM_WORLD);
    CHECK(got[0] == 10 * rank);
    got[0] = 7 * rank;
    MPI_Gather(got, 1, MPI_INT, NULL, 0, MPI_INT, root, MPI_COMM_WORLD);
  }
  free(all);
  free(counts);
  free(places);
}

static void exchanged(void) {
  const size_t n = (size_t)size;
  int* out = malloc(sizeof(int) * n * n);
  int* in = malloc(sizeof(int) * n * n);
  int* give = malloc(sizeof(int) * n);
  int* take = malloc(sizeof(int) * n);
  int* from = malloc(sizeof(int) * n);
  int* bytes = malloc(sizeof(int) * n);
  MPI_Datatype* types = malloc(sizeof(MPI_Datatype) * n);
  for (int r = 0; r < size; ++r) {
    give[r] = (rank + r) % 3;
    take[r] = give[r];
    from[r] = r * size;
    bytes[r] = r * size * (int)sizeof(int);
    types[r] = MPI_INT;
    for (int i = 0; i < size; ++i) out[r * size + i] = 100 * rank + r;
  }
  if (size < 3) give[0] = take[0] = 0;
  BOTH(alltoall, out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD)
    MPI_Alltoall(out, size, MPI_INT, in, size, MPI_INT, MPI_COMM_WORLD);
  if (size >= 3) {
    BOTH(alltoallv, out, give, from, MPI_INT, in, take, from, MPI_INT, MPI_COMM_WORLD)
      MPI_Alltoallv(out, give, from, MPI_INT, in, take, from, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < size; ++r)
      for (int i = 0; i < take[r]; ++i) CHECK(in[from[r] + i] == 100 * r + rank);
    memset(in, 0, sizeof(int) * n * n);
    BOTH(alltoallw, out, give, bytes, types, in, take, bytes, types, MPI_COMM_WORLD)
      MPI_Alltoallw(out, give, bytes, types, in, take, bytes, types, MPI_COMM_WORLD);
    for (int r = 0; r < size; ++r)
      for (int i = 0; i < take[r]; ++i) CHECK(in[from[r] + i] == 100 * r + rank);
  }
  for (int r = 0; r < size; ++r) in[r] = 100 * rank + r;
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 1, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < size; ++r) CHECK(in[r] == 100 * r + rank);
  free(out), free(in), free(give), free(take), free(from), free(bytes), free(types);
}

/* A long message of a type with gaps, from each root. */
static void gaps(int root) {
  enum { kPairs = 30000 };
  int* memory = malloc(sizeof(int) * 3 * kPairs);
  MPI_Datatype type;
  MPI_Type_vector(kPairs, 2, 3, MPI_INT, &type);
  MPI_Type_commit(&type);
  for (int i = 0; i < 3 * kPairs; ++i) memory[i] = rank == root ? i : -1;
  MPI_Bcast(memory, 1, type, root, MPI_COMM_WORLD);
  int wrong = 0;
  for (int i = 0; i < 3 * kPairs; ++i) wrong += memory[i] != (i % 3 < 2 || rank == root ? i : -1);
  CHECK(wrong == 0);
  MPI_Type_free(&type);
  free(memory);
}

/* Of an array of whatever type: its elements are told apart by the extent. */
static void add_first(void* in, void* inout, int* count, MPI_Datatype* type) {
  MPI_Aint low = -1, extent = 0;
  CHECK(MPI_Type_get_extent(*type, &low, &extent) == MPI_SUCCESS);
  for (int i = 0; i < *count; ++i) {
    *(int*)((char*)inout + i * extent) += *(int*)((char*)in + i * extent);
  }
}

/* A datatype, and an operation, may be freed while they are used. */
static void freed_meanwhile(void) {
  MPI_Datatype wide;
  MPI_Op op;
  int from[6] = {rank, 0, 0, 2 * rank, 0, 0}, into[6] = {0};
  MPI_Type_create_resized(MPI_INT, 0, 3 * sizeof(int), &wide);
  MPI_Type_commit(&wide);
  MPI_Op_create(add_first, 1, &op);
  MPI_Iallreduce(from, into, 2, wide, op, MPI_COMM_WORLD, &request);
  MPI_Type_free(&wide);
  MPI_Op_free(&op);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(into[0] == size * (size - 1) / 2);
  CHECK(into[3] == size * (size - 1));
}

/* Parts without elements need no datatype. */
static void nothing_of_no_type(void) {
  int* counts = calloc((size_t)size, sizeof(int));
  int* places = calloc((size_t)size, sizeof(int));
  MPI_Datatype* types = malloc((size_t)size * sizeof(MPI_Datatype));
  int mine = rank, came = -1;
  for (int i = 0; i < size; ++i) types[i] = MPI_DATATYPE_NULL;
  counts[rank] = 1;
  types[rank] = MPI_INT;
  MPI_Alltoallw(&mine, counts, places, types, &came, counts, places, types, MPI_COMM_WORLD);
  CHECK(came == rank);
  free(counts);
  free(places);
  free(types);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  in_order();
  combined();
  for (int root = 0; root < size; ++root) {
    spread(root);
    gaps(root);
  }
  exchanged();
  freed_meanwhile();
  nothing_of_no_type();
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return end();
}
