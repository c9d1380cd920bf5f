#include "runtime/mpi/datatypes/layout.h"

namespace phx::mpi {
namespace {

Bounds basic_bounds(const Basic& basic) {
  return {.lower_mark = {},
          .upper_mark = {},
          .first = {.at = 0, .is_known = true},
          .last = {.at = basic.size, .is_known = true},
          .alignment = basic.alignment};
}

Piece one_run(MPI_Aint offset, MPI_Count bytes) {
  return {.offset = offset, .count = 1, .stride = bytes, .unit = bytes, .inner = nullptr};
}

}  // namespace

LayoutRef basic_layout(const Basic& basic) {
  auto made = std::make_shared<Layout>();
  made->unit = one_run(0, basic.size);
  made->bounds = basic_bounds(basic);
  auto signature = std::make_shared<Signature>();
  signature->add(basic, 1);
  made->signature = std::move(signature);
  made->named = basic.handle;
  return made;
}

LayoutRef pair_layout(MPI_Datatype handle, const Basic& value, const Basic& index) {
  auto made = std::make_shared<Layout>();
  const MPI_Aint place = (value.size + index.alignment - 1) / index.alignment * index.alignment;
  Runs runs;
  runs.add(one_run(0, value.size));
  runs.add(one_run(place, index.size));
  made->unit = Runs::as_piece(std::move(runs));
  made->bounds = basic_bounds(value);
  made->bounds.add(basic_bounds(index), place, 1, 0);
  auto signature = std::make_shared<Signature>();
  signature->add(value, 1);
  signature->add(index, 1);
  made->signature = std::move(signature);
  made->named = handle;
  return made;
}

LayoutRef marker_layout(MPI_Datatype handle) {
  auto made = std::make_shared<Layout>();
  const End mark{.at = 0, .is_known = true};
  if (handle == MPI_LB) made->bounds.lower_mark = mark;
  if (handle == MPI_UB) made->bounds.upper_mark = mark;
  made->signature = std::make_shared<Signature>();
  made->named = handle;
  return made;
}

LayoutRef repeated_layout(const Layout& old, MPI_Count count, MPI_Aint stride) {
  auto made = std::make_shared<Layout>();
  made->unit = repeated(old.unit, count, stride);
  made->bounds.add(old.bounds, 0, count, stride);
  auto signature = std::make_shared<Signature>();
  signature->add(old.signature, count);
  made->signature = std::move(signature);
  return made;
}

LayoutRef blocks_layout(std::span<const Block> blocks) {
  auto made = std::make_shared<Layout>();
  auto signature = std::make_shared<Signature>();
  Runs runs;
  for (const Block& block : blocks) {
    Piece piece = block.layout->many(block.count);
    piece.offset += block.place;
    runs.add(std::move(piece));
    made->bounds.add(block.layout->bounds, block.place, block.count, block.layout->extent());
    signature->add(block.layout->signature, block.count);
  }
  made->unit = Runs::as_piece(std::move(runs));
  made->signature = std::move(signature);
  return made;
}

LayoutRef resized_layout(const Layout& old, MPI_Aint lb, MPI_Aint extent) {
  auto made = std::make_shared<Layout>(old);
  made->bounds.lower_mark = {.at = lb, .is_known = true};
  made->bounds.upper_mark = {.at = lb + extent, .is_known = true};
  made->named = MPI_DATATYPE_NULL;
  return made;
}

}  // namespace phx::mpi
