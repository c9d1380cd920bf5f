#include <doctest/doctest.h>

#include <random>

#include "runtime/mpi/datatypes/pack.h"
#include "tests/mpi_types/running.h"
#include "tests/mpi_types/typemap.h"

namespace phx::mpi::random_types_test {
namespace {

/// A datatype made by the library, and the same written out.
struct Both {
  MPI_Datatype handle;
  Typemap map;
};

class Maker {
 public:
  explicit Maker(unsigned seed) : random_(seed) {}

  int draw(int from, int to) { return std::uniform_int_distribution<int>(from, to)(random_); }

  Both make(int depth) {
    if (depth == 0) {
      const MPI_Datatype basics[] = {MPI_CHAR, MPI_SHORT, MPI_INT, MPI_DOUBLE, MPI_LONG_DOUBLE};
      const MPI_Datatype handle = basics[draw(0, 4)];
      return {handle, Typemap::of(handle)};
    }
    const Both old = make(depth - 1);
    switch (draw(0, 6)) {
      case 0:
        return contiguous(old);
      case 1:
        return vector(old);
      case 2:
        return indexed(old);
      case 3:
        return blocks(old);
      case 4:
        return structure(old, make(depth - 1));
      case 5:
        return resized(old);
      default:
        return subarray(old);
    }
  }

 private:
  Both contiguous(const Both& old) {
    Both made{0, old.map.block(0, 0)};
    const int count = draw(0, 3);
    CHECK(MPI_Type_contiguous(count, old.handle, &made.handle) == MPI_SUCCESS);
    made.map = old.map.block(count, old.map.extent());
    return made;
  }
  Both vector(const Both& old) {
    Both made{0, {}};
    const int count = draw(0, 4);
    const int length = draw(0, 3);
    MPI_Aint stride = draw(-6, 6);
    if (draw(0, 1) == 0) {
      MPI_Type_vector(count, length, static_cast<int>(stride), old.handle, &made.handle);
      stride *= old.map.extent();
    } else {
      MPI_Type_create_hvector(count, length, stride, old.handle, &made.handle);
    }
    made.map = old.map.block(length, old.map.extent()).block(count, stride);
    return made;
  }
  Both indexed(const Both& old) {
    Both made{0, {}};
    std::vector<int> lengths;
    std::vector<int> places;
    const int count = draw(0, 4);
    for (int i = 0; i < count; ++i) {
      lengths.push_back(draw(0, 3));
      places.push_back(draw(-4, 9));
      made.map.add(old.map.block(lengths.back(), old.map.extent()),
                   places.back() * old.map.extent());
    }
    MPI_Type_indexed(count, lengths.data(), places.data(), old.handle, &made.handle);
    return made;
  }
  Both blocks(const Both& old) {
    Both made{0, {}};
    std::vector<MPI_Aint> places;
    const int count = draw(0, 5);
    const int length = draw(1, 2);
    const MPI_Aint step = draw(-3, 40);
    for (int i = 0; i < count; ++i) {
      places.push_back(draw(0, 3) == 0 ? draw(-30, 60) : i * step);
      made.map.add(old.map.block(length, old.map.extent()), places.back());
    }
    MPI_Type_create_hindexed_block(count, length, places.data(), old.handle, &made.handle);
    return made;
  }
  Both structure(const Both& a, const Both& b) {
    Both made{0, {}};
    const int lengths[] = {draw(0, 2), draw(0, 2), 1};
    const MPI_Aint places[] = {draw(-20, 20), draw(-20, 20), draw(0, 50)};
    const MPI_Datatype types[] = {a.handle, b.handle, MPI_INT};
    made.map.add(a.map.block(lengths[0], a.map.extent()), places[0]);
    made.map.add(b.map.block(lengths[1], b.map.extent()), places[1]);
    made.map.add(Typemap::of(MPI_INT), places[2]);
    MPI_Type_create_struct(3, lengths, places, types, &made.handle);
    return made;
  }
  Both resized(const Both& old) {
    Both made{0, old.map};
    const MPI_Aint lb = draw(-8, 8);
    const MPI_Aint extent = draw(0, 40);
    MPI_Type_create_resized(old.handle, lb, extent, &made.handle);
    made.map.lb_mark = lb;
    made.map.ub_mark = lb + extent;
    return made;
  }
  Both subarray(const Both& old) {
    const int sizes[] = {draw(1, 4), draw(1, 4)};
    const int subsizes[] = {draw(1, sizes[0]), draw(1, sizes[1])};
    const int starts[] = {draw(0, sizes[0] - subsizes[0]), draw(0, sizes[1] - subsizes[1])};
    const bool is_c = draw(0, 1) == 0;
    Both made{0, {}};
    MPI_Type_create_subarray(2, sizes, subsizes, starts, is_c ? MPI_ORDER_C : MPI_ORDER_FORTRAN,
                             old.handle, &made.handle);
    const int dense = is_c ? 1 : 0;
    for (int i = 0; i < subsizes[1 - dense]; ++i) {
      for (int j = 0; j < subsizes[dense]; ++j) {
        const int index = (starts[1 - dense] + i) * sizes[dense] + starts[dense] + j;
        made.map.add(old.map, index * old.map.extent());
      }
    }
    made.map.lb_mark = 0;
    made.map.ub_mark = sizes[0] * sizes[1] * old.map.extent();
    return made;
  }

  std::mt19937 random_;
};

void check_sizes(const Both& both) {
  MPI_Count size = 0;
  MPI_Aint lb = 0;
  MPI_Aint extent = 0;
  MPI_Type_size_x(both.handle, &size);
  MPI_Count bytes = 0;
  for (const Typemap::Element& e : both.map.elements) bytes += e.basic->size;
  REQUIRE(size == bytes);
  MPI_Type_get_extent(both.handle, &lb, &extent);
  REQUIRE(lb == both.map.lb());
  REQUIRE(extent == both.map.extent());
  MPI_Type_get_true_extent(both.handle, &lb, &extent);
  REQUIRE(lb == both.map.true_lb());
  REQUIRE(extent == both.map.true_ub() - both.map.true_lb());
}

constexpr std::byte kGuard{0xA5};

/// Packs whole, packs and unpacks in pieces; the range of memory is as wide as the datatype.
void check_bytes(Both& both, Maker& maker) {
  MPI_Type_commit(&both.handle);
  const MPI_Count count = maker.draw(0, 3);
  const Typemap all = both.map.block(count, both.map.extent());
  const MPI_Aint low = all.true_lb();
  std::vector<std::byte> memory(static_cast<std::size_t>(all.true_ub() - low) + 1);
  for (std::byte& b : memory) b = static_cast<std::byte>(maker.draw(0, 255));
  std::byte* base = memory.data() - low;
  const std::vector<std::byte> expected = both.map.pack(base, count);
  const Buffer buffer(base, count, both.handle);
  REQUIRE(buffer.bytes() == static_cast<MPI_Count>(expected.size()));

  std::vector<std::byte> packed(expected.size());
  std::vector<std::byte> written(memory.size(), std::byte{7});
  const Buffer target(written.data() - low, count, both.handle);
  // In pieces: packed without a byte too many, unpacked last piece first, with wrong bytes behind.
  std::vector<MPI_Count> cuts = {0};
  while (cuts.back() < buffer.bytes())
    cuts.push_back(std::min<MPI_Count>(buffer.bytes(), cuts.back() + maker.draw(1, 40)));
  for (std::size_t i = cuts.size() - 1; i-- > 0;) {
    std::vector<std::byte> part(static_cast<std::size_t>(cuts[i + 1] - cuts[i]) + 8, kGuard);
    buffer.pack(cuts[i], cuts[i + 1], part.data());
    CHECK(std::count(part.end() - 8, part.end(), kGuard) == 8);
    target.unpack(cuts[i], cuts[i + 1], part.data());
    std::copy(part.begin(), part.end() - 8, packed.begin() + cuts[i]);
  }
  CHECK(packed == expected);
  std::vector<std::byte> whole(expected.size());
  buffer.pack(0, buffer.bytes(), whole.data());
  CHECK(whole == expected);

  std::vector<std::byte> by_hand(memory.size(), std::byte{7});
  std::size_t at = 0;
  for (const auto& e : all.elements) {
    for (MPI_Aint i = 0; i < e.basic->size; ++i)
      by_hand[static_cast<std::size_t>(e.at - low + i)] = expected[at++];
  }
  CHECK(written == by_hand);
  if (buffer.as_is() != nullptr && !expected.empty())
    CHECK(std::equal(expected.begin(), expected.end(), static_cast<std::byte*>(buffer.as_is())));
}

}  // namespace

TEST_SUITE_BEGIN("mpi/random types");

TEST_CASE("random nested types are packed as an interpreter of single elements does") {
  const Running running;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    CAPTURE(seed);
    Maker maker(seed);
    Both both = maker.make(maker.draw(1, 4));
    if (both.map.elements.size() > 3000) continue;
    check_sizes(both);
    check_bytes(both, maker);
  }
}

TEST_SUITE_END();

}  // namespace phx::mpi::random_types_test
