#include "runtime/mpi/calls/showing.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "runtime/mpi/engine/process.h"

namespace phx::mpi {
namespace {

enum class Operation : std::uint32_t {
  kBarrier = 1,
  kBroadcast,
  kReduce,
  kAllreduce,
  kAllgather,
  kAlltoall
};

/// What is shown in an operation says which it is.
std::uint32_t number_of(Operation what, int root) {
  return (static_cast<std::uint32_t>(what) << 16U) | static_cast<std::uint32_t>(root);
}

std::string spell(std::uint32_t number) {
  const std::string root = " of rank " + std::to_string(number & 0xFFFFU);
  switch (static_cast<Operation>(number >> 16U)) {
    case Operation::kBarrier:
      return "MPI_Barrier";
    case Operation::kBroadcast:
      return "MPI_Bcast" + root;
    case Operation::kReduce:
      return "MPI_Reduce" + root;
    case Operation::kAllreduce:
      return "MPI_Allreduce";
    case Operation::kAllgather:
      return "MPI_Allgather";
    case Operation::kAlltoall:
      return "MPI_Alltoall";
  }
  return "another one";
}

Board* board_of(const Communicator& comm) {
  if (comm.context() != kWorldContext || comm.is_inter()) return nullptr;
  Nearby* const near = Process::current().near();
  return near == nullptr ? nullptr : near->board();
}

/// Whether a value may be shown.
bool is_short(MPI_Count bytes) {
  return bytes > 0 && bytes <= static_cast<MPI_Count>(Board::kBytesMost);
}

void nudge_all(const Communicator& comm) {
  for (int rank = 0; rank < comm.size(); ++rank) {
    if (rank != comm.rank()) Process::current().near()->nudge(rank);
  }
}

/// One operation, from its beginning on to its end here.
class Showing {
 public:
  /// REQUIRES has_board(comm).
  Showing(const Communicator& comm, Operation what, int root, std::size_t bytes)
      : board_(*board_of(comm)),
        comm_(comm),
        operation_(number_of(what, root)),
        bytes_(bytes),
        shown_(bytes) {
    board_.begin();
    // Who never has to wait takes what has come all the same: others wait for that.
    if (Process::current().near()->is_called()) {
      static_cast<void>(Process::current().test([](Traffic&) { return true; }));
    }
  }
  ~Showing() {
    if (board_.leave()) nudge_all(comm_);
  }
  Showing(const Showing&) = delete;
  Showing& operator=(const Showing&) = delete;

  /// Where to write what is shown. Waits until there is a place.
  std::byte* place() {
    if (!board_.has_place()) {
      Process::current().wait([this](Traffic&) { return board_.has_place(); },
                              [] { return std::string("the others"); });
    }
    return board_.place().data();
  }
  /// What this rank gives has so many bytes. If that does not fit, it shows less, which nobody
  /// reads.
  void give(MPI_Count bytes) {
    const bool is_longer = bytes > static_cast<MPI_Count>(bytes_);
    shown_ = is_longer ? 0 : static_cast<std::size_t>(bytes);
    if (shown_ == bytes_ || !misfit_.empty()) return;
    error_ = is_longer ? MPI_ERR_TRUNCATE : MPI_ERR_NOT_SAME;
    misfit_ = "what this rank gives has " + std::to_string(bytes) + " bytes, and its place " +
              std::to_string(bytes_);
  }
  [[nodiscard]] bool fits() const { return misfit_.empty(); }
  void show_to(int rank) {
    board_.show(operation_, shown_);
    Process::current().near()->nudge(rank);
  }
  void show_to_all() {
    board_.show(operation_, shown_);
    nudge_all(comm_);
  }

  /// What that rank shows, `bytes` of it; null: it does not fit, which finish() says.
  const std::byte* shown_by(int rank) {
    std::optional<Board::Shown> shown;
    bool is_over = false;
    const auto look = [&] {
      is_over = board_.has_left(rank);
      shown = board_.shown_by(rank);
      return shown || is_over;
    };
    if (!look()) {
      Process::current().wait([&look](Traffic&) -> bool { return look(); },
                              [rank] { return "rank " + std::to_string(rank); });
    }
    if (shown && shown->operation == operation_ && shown->bytes.size() == bytes_) {
      return shown->bytes.data();
    }
    if (misfit_.empty()) note_misfit(rank, shown);
    return nullptr;
  }

  /// Fails if something did not fit.
  void finish() const {
    if (!misfit_.empty()) throw Failure(error_, misfit_);
  }

 private:
  void note_misfit(int rank, const std::optional<Board::Shown>& shown) {
    const bool is_same = shown && shown->operation == operation_;
    const bool is_longer = is_same && shown->bytes.size() > bytes_;
    error_ = is_longer ? MPI_ERR_TRUNCATE : MPI_ERR_NOT_SAME;
    misfit_ = "rank " + std::to_string(rank);
    if (is_same) {
      misfit_ += " sends " + std::to_string(shown->bytes.size()) +
                 " bytes where this one expects " + std::to_string(bytes_);
    } else {
      misfit_ += " is in " + (shown ? spell(shown->operation) : std::string("another one"));
    }
    misfit_ +=
        ": the ranks are in different collective operations of this communicator, or in one with "
        "different counts";
  }

  Board& board_;
  const Communicator& comm_;
  const std::uint32_t operation_;
  const std::size_t bytes_;
  std::size_t shown_;
  std::string misfit_;
  int error_ = MPI_SUCCESS;
};

/// Predefined operations are for predefined datatypes, which are the same at all ranks. Without
/// gaps they lie as they are shown.
bool is_plain(const Combining& what) {
  const Layout& layout = what.own.datatype->layout();
  return what.op->predefined != MPI_OP_NULL && layout.size() == layout.extent() &&
         is_short(what.own.bytes());
}

using Value = std::array<std::byte, Board::kBytesMost>;

/// What all have contributed, in the order of ranks; nothing if some does not fit. Waits for them.
void combine_all(Showing& showing, const Communicator& comm, const Combining& what, Value& into) {
  const auto bytes = static_cast<std::size_t>(what.own.bytes());
  for (int rank = comm.size() - 1; rank >= 0; --rank) {
    const void* const value =
        rank == comm.rank() ? what.own.address : static_cast<const void*>(showing.shown_by(rank));
    if (!showing.fits()) continue;
    if (rank == comm.size() - 1) {
      std::memcpy(into.data(), value, bytes);
    } else {
      reduce(*what.op, *what.own.datatype, value, into.data(), what.own.count);
    }
  }
}

/// Equal parts, one after the other, of which each rank fills one. Fails as a Buffer does.
class Places {
 public:
  Places(const Area& first, int size) : first_(first), bytes_(first.bytes()) {
    Area all = first;
    all.count *= size;
    run_ = static_cast<std::byte*>(all.buffer().as_is());
  }
  void fill(int rank, const std::byte* value) const {
    if (run_ != nullptr) {
      std::memcpy(run_ + rank * bytes_, value, static_cast<std::size_t>(bytes_));
    } else {
      first_.part(rank * first_.count, first_.count).buffer().unpack(0, bytes_, value);
    }
  }

 private:
  const Area& first_;
  MPI_Count bytes_;
  std::byte* run_ = nullptr;  ///< all of it, if it lies as it is sent
};

/// Returns where it lies, to be shown.
const std::byte* pack_into(Showing& showing, const Buffer& buffer) {
  std::byte* const place = showing.place();
  showing.give(buffer.bytes());
  if (showing.fits()) buffer.pack(0, buffer.bytes(), place);
  return place;
}

/// Each reads what all others show, when all have; rank 0 tells when. What this rank
/// shows is written.
template <class Read>
void exchange(Showing& showing, const Communicator& comm, Read read) {
  std::array<const std::byte*, Board::kRanksMost> rows{};
  const auto row = [&](int rank) -> const std::byte*& {
    return rows[static_cast<std::size_t>(rank)];
  };
  if (comm.rank() != 0) {
    showing.show_to(0);
    row(0) = showing.shown_by(0);
  }
  for (int rank = 1; rank < comm.size(); ++rank) {
    if (rank != comm.rank()) row(rank) = showing.shown_by(rank);
  }
  if (comm.rank() == 0) showing.show_to_all();
  for (int rank = 0; rank < comm.size(); ++rank) {
    if (row(rank) != nullptr) read(rank, row(rank));
  }
  showing.finish();
}

}  // namespace

bool has_board(const Communicator& comm) {
  return board_of(comm) != nullptr;
}

bool meet(const Communicator& comm) {
  if (!has_board(comm)) return false;
  Showing showing(comm, Operation::kBarrier, 0, 0);
  static_cast<void>(showing.place());
  if (comm.rank() == 0) {
    for (int rank = 1; rank < comm.size(); ++rank) static_cast<void>(showing.shown_by(rank));
    showing.show_to_all();
  } else {
    showing.show_to(0);
    static_cast<void>(showing.shown_by(0));
  }
  showing.finish();
  return true;
}

bool show_broadcast(const Communicator& comm, int root, const Area& area) {
  const MPI_Count bytes = area.bytes();
  if (!has_board(comm) || !is_short(bytes)) return false;
  const Buffer buffer = area.buffer();
  Showing showing(comm, Operation::kBroadcast, root, static_cast<std::size_t>(bytes));
  if (comm.rank() == root) {
    buffer.pack(0, bytes, showing.place());
    showing.show_to_all();
  } else if (const std::byte* const value = showing.shown_by(root)) {
    buffer.unpack(0, bytes, value);
  }
  showing.finish();
  return true;
}

bool show_reduce(const Communicator& comm, int root, const Combining& what, const Area& result) {
  if (!has_board(comm) || !is_plain(what)) return false;
  const auto bytes = static_cast<std::size_t>(what.own.bytes());
  Showing showing(comm, Operation::kReduce, root, bytes);
  if (comm.rank() != root) {
    std::memcpy(showing.place(), what.own.address, bytes);
    showing.show_to(root);
    return true;
  }
  alignas(16) Value all;
  combine_all(showing, comm, what, all);
  showing.finish();
  std::memcpy(result.address, all.data(), bytes);
  return true;
}

bool show_allreduce(const Communicator& comm, const Combining& what, const Area& result) {
  if (!has_board(comm) || !is_plain(what)) return false;
  const auto bytes = static_cast<std::size_t>(what.own.bytes());
  Showing showing(comm, Operation::kAllreduce, 0, bytes);
  std::byte* const place = showing.place();
  alignas(16) Value all;
  const std::byte* combined = all.data();
  if (comm.rank() == 0) {
    combine_all(showing, comm, what, all);
    if (showing.fits()) {
      std::memcpy(place, all.data(), bytes);
    } else {
      showing.give(0);  // Nobody has a result.
    }
    showing.show_to_all();
  } else {
    std::memcpy(place, what.own.address, bytes);
    showing.show_to(0);
    combined = showing.shown_by(0);
  }
  showing.finish();
  std::memcpy(result.address, combined, bytes);
  return true;
}

bool show_allgather(const Communicator& comm, const std::optional<Area>& own, const Area& first) {
  const MPI_Count bytes = first.bytes();
  if (!has_board(comm) || !is_short(bytes)) return false;
  const Places places(first, comm.size());
  const Buffer mine =
      own ? own->buffer() : first.part(comm.rank() * first.count, first.count).buffer();
  Showing showing(comm, Operation::kAllgather, 0, static_cast<std::size_t>(bytes));
  const std::byte* const shown = pack_into(showing, mine);
  if (own && showing.fits()) places.fill(comm.rank(), shown);
  exchange(showing, comm, [&](int rank, const std::byte* value) { places.fill(rank, value); });
  return true;
}

bool show_alltoall(const Communicator& comm, const std::optional<Area>& from, const Area& to) {
  const MPI_Count bytes = to.bytes();
  const MPI_Count all = bytes * comm.size();
  if (!has_board(comm) || !is_short(all)) return false;
  const Places places(to, comm.size());
  Area row = from.value_or(to);
  row.count *= comm.size();
  const Buffer mine = row.buffer();
  Showing showing(comm, Operation::kAlltoall, 0, static_cast<std::size_t>(all));
  const MPI_Count here = comm.rank() * bytes;
  const std::byte* const shown = pack_into(showing, mine);
  if (from && showing.fits()) places.fill(comm.rank(), shown + here);
  exchange(showing, comm,
           [&](int rank, const std::byte* value) { places.fill(rank, value + here); });
  return true;
}

void pass_board(const Communicator& comm) {
  Board* const board = board_of(comm);
  if (board == nullptr) return;
  board->begin();
  if (board->leave()) nudge_all(comm);
}

}  // namespace phx::mpi
