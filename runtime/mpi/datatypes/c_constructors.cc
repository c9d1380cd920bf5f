#include "runtime/mpi/base/entry.h"
#include "runtime/mpi/datatypes/constructed.h"

using namespace phx::mpi;

namespace {

void check_count(int count) {
  require(count >= 0, MPI_ERR_COUNT, "the count is negative");
}

void check_length(int length) {
  require(length >= 0, MPI_ERR_COUNT, "the length of a block is negative");
}

/// Fails if one of the arrays that must have `count` entries is null.
template <class... Arrays>
void check_arrays(int count, const Arrays*... arrays) {
  check_count(count);
  require(count == 0 || (... && (arrays != nullptr)), MPI_ERR_ARG, "an array is null");
}

template <class T>
std::vector<T> copied(const T* array, int count) {
  return {array, array + count};
}

LayoutRef vector_layout(const Layout& old, int count, int length, MPI_Aint stride) {
  return repeated_layout(*repeated_layout(old, length, old.extent()), count, stride);
}

/// `places` in units of `unit` bytes; `lengths` has one entry for all if `is_one_length`.
template <class Place>
LayoutRef indexed_layout(const Layout& old, std::span<const int> lengths, bool is_one_length,
                         std::span<const Place> places, MPI_Aint unit) {
  std::vector<Block> blocks(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    const int length = lengths[is_one_length ? 0 : i];
    check_length(length);
    blocks[i] = {.layout = &old, .count = length, .place = places[i] * unit};
  }
  return blocks_layout(blocks);
}

}  // namespace

PHX_MPI_ENTRY(int, Type_contiguous, (int count, MPI_Datatype old, MPI_Datatype* made)) {
  return enter("MPI_Type_contiguous", [&] {
    need({made});
    check_count(count);
    const Layout& layout = datatype_of(old).layout();
    *made = constructed(repeated_layout(layout, count, layout.extent()),
                        {MPI_COMBINER_CONTIGUOUS, {count}, {}, refs({old})});
  });
}

PHX_MPI_ENTRY(int, Type_vector,
              (int count, int length, int stride, MPI_Datatype old, MPI_Datatype* made)) {
  return enter("MPI_Type_vector", [&] {
    need({made});
    check_count(count);
    check_length(length);
    const Layout& layout = datatype_of(old).layout();
    *made = constructed(vector_layout(layout, count, length, stride * layout.extent()),
                        {MPI_COMBINER_VECTOR, {count, length, stride}, {}, refs({old})});
  });
}

PHX_MPI_ENTRY(int, Type_create_hvector,
              (int count, int length, MPI_Aint stride, MPI_Datatype old, MPI_Datatype* made)) {
  return enter("MPI_Type_create_hvector", [&] {
    need({made});
    check_count(count);
    check_length(length);
    *made = constructed(vector_layout(datatype_of(old).layout(), count, length, stride),
                        {MPI_COMBINER_HVECTOR, {count, length}, {stride}, refs({old})});
  });
}

PHX_MPI_ENTRY(int, Type_indexed,
              (int count, const int* lengths, const int* places, MPI_Datatype old,
               MPI_Datatype* made)) {
  return enter("MPI_Type_indexed", [&] {
    need({made});
    check_arrays(count, lengths, places);
    const Layout& layout = datatype_of(old).layout();
    std::vector<int> integers = {count};
    integers.insert(integers.end(), lengths, lengths + count);
    integers.insert(integers.end(), places, places + count);
    const auto n = static_cast<std::size_t>(count);
    *made =
        constructed(indexed_layout<int>(layout, {lengths, n}, false, {places, n}, layout.extent()),
                    {MPI_COMBINER_INDEXED, std::move(integers), {}, refs({old})});
  });
}

PHX_MPI_ENTRY(int, Type_create_hindexed,
              (int count, const int* lengths, const MPI_Aint* places, MPI_Datatype old,
               MPI_Datatype* made)) {
  return enter("MPI_Type_create_hindexed", [&] {
    need({made});
    check_arrays(count, lengths, places);
    std::vector<int> integers = {count};
    integers.insert(integers.end(), lengths, lengths + count);
    const auto n = static_cast<std::size_t>(count);
    *made = constructed(
        indexed_layout<MPI_Aint>(datatype_of(old).layout(), {lengths, n}, false, {places, n}, 1),
        {MPI_COMBINER_HINDEXED, std::move(integers), copied(places, count), refs({old})});
  });
}

PHX_MPI_ENTRY(int, Type_create_indexed_block,
              (int count, int length, const int* places, MPI_Datatype old, MPI_Datatype* made)) {
  return enter("MPI_Type_create_indexed_block", [&] {
    need({made});
    check_arrays(count, places);
    check_length(length);
    const Layout& layout = datatype_of(old).layout();
    std::vector<int> integers = {count, length};
    integers.insert(integers.end(), places, places + count);
    const auto n = static_cast<std::size_t>(count);
    *made =
        constructed(indexed_layout<int>(layout, {&length, 1}, true, {places, n}, layout.extent()),
                    {MPI_COMBINER_INDEXED_BLOCK, std::move(integers), {}, refs({old})});
  });
}

PHX_MPI_ENTRY(int, Type_create_hindexed_block,
              (int count, int length, const MPI_Aint* places, MPI_Datatype old,
               MPI_Datatype* made)) {
  return enter("MPI_Type_create_hindexed_block", [&] {
    need({made});
    check_arrays(count, places);
    check_length(length);
    const auto n = static_cast<std::size_t>(count);
    *made = constructed(
        indexed_layout<MPI_Aint>(datatype_of(old).layout(), {&length, 1}, true, {places, n}, 1),
        {MPI_COMBINER_HINDEXED_BLOCK, {count, length}, copied(places, count), refs({old})});
  });
}

PHX_MPI_ENTRY(int, Type_create_struct,
              (int count, const int* lengths, const MPI_Aint* places, const MPI_Datatype* olds,
               MPI_Datatype* made)) {
  return enter("MPI_Type_create_struct", [&] {
    need({made});
    check_arrays(count, lengths, places, olds);
    std::vector<Block> blocks(static_cast<std::size_t>(count));
    std::vector<int> integers = {count};
    for (int i = 0; i < count; ++i) {
      check_length(lengths[i]);
      blocks[static_cast<std::size_t>(i)] = {&datatype_of(olds[i]).layout(), lengths[i], places[i]};
      integers.push_back(lengths[i]);
    }
    *made = constructed(blocks_layout(blocks),
                        {MPI_COMBINER_STRUCT, std::move(integers), copied(places, count),
                         refs({olds, static_cast<std::size_t>(count)})});
  });
}

PHX_MPI_ENTRY(int, Type_create_resized,
              (MPI_Datatype old, MPI_Aint lb, MPI_Aint extent, MPI_Datatype* made)) {
  return enter("MPI_Type_create_resized", [&] {
    need({made});
    *made = constructed(resized_layout(datatype_of(old).layout(), lb, extent),
                        {MPI_COMBINER_RESIZED, {}, {lb, extent}, refs({old})});
  });
}

PHX_MPI_ENTRY(int, Type_hvector,
              (int count, int length, MPI_Aint stride, MPI_Datatype old, MPI_Datatype* made)) {
  return PMPI_Type_create_hvector(count, length, stride, old, made);
}

PHX_MPI_ENTRY(int, Type_hindexed,
              (int count, int* lengths, MPI_Aint* places, MPI_Datatype old, MPI_Datatype* made)) {
  return PMPI_Type_create_hindexed(count, lengths, places, old, made);
}

PHX_MPI_ENTRY(int, Type_struct,
              (int count, int* lengths, MPI_Aint* places, MPI_Datatype* olds, MPI_Datatype* made)) {
  return PMPI_Type_create_struct(count, lengths, places, olds, made);
}
