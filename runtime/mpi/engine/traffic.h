#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collectives/messages.h"
#include "overlay/base/payload.h"
#include "runtime/mpi/engine/ahead.h"
#include "runtime/mpi/engine/matching.h"
#include "runtime/mpi/engine/nearby.h"
#include "runtime/mpi/engine/request.h"
#include "runtime/mpi/engine/schedule.h"
#include "runtime/mpi/engine/scope.h"

namespace phx::mpi {

/// The messages of one process, without I/O of its own: sends, receives and schedules of these.
/// States and messages: README.md. Not thread-safe: one owner, which sends what take_outputs()
/// gives. What use() was told of is called within commands and inputs, and calls nothing back.
///
/// Guarantees: messages of one process in one context meet receives in the order of sending; a send
/// that is done needs its buffer no more; a synchronous one has met its receive.
class Traffic {
 public:
  /// Short messages travel at once (near ones: NearWays::sent_most), longer ones when asked for.
  static constexpr MPI_Count kShortMax = 64 * 1024;
  /// A long message travels in parts of so many bytes.
  static constexpr MPI_Count kPart = 256 * 1024;
  static constexpr int kAll = -1;  ///< To all processes but this one.
  /// For process `to`. `tag` 0: begins with a Head; else a part for the receive of this number.
  struct Output {
    int to = 0;
    std::uint32_t tag = 0;
    Payload payload;
    /// A contribution to the next reduction towards `to`.
    std::optional<collectives::ReductionKind> combined{};
    /// Instead of `payload`: so many bytes of a send, packed by its carrier when there is room.
    Ref<SendRequest> packs{};
    MPI_Count bytes = 0;
    [[nodiscard]] Payload pack(MPI_Count from) const;  ///< A part, of kPart bytes at most.
  };
  /// Whose results: reductions of all processes towards one, which may tell all.
  struct Result {
    int target;
    bool is_for_all;
    friend auto operator<=>(const Result&, const Result&) = default;
  };
  enum class Mode { kStandard, kSynchronous, kBuffered };

  explicit Traffic(int self) : self_(self) {}
  /// Bytes of long messages that lie side by side are read there; short ones are written there.
  void use(NearWays ways) { near_ = std::move(ways); }
  /// How many processes there are [ahead.h].
  void expect_senders(int processes) { ahead_.expect_senders(processes); }

  // Inputs.
  /// `is_lent`: the bytes are gone when it returns.
  void on_message(int from, std::uint32_t tag, const Payload& payload, bool is_lent = false);
  /// All of a send that was to be packed is packed.
  void on_packed(SendRequest& send);
  /// A part of the result of the oldest reduction that is not over.
  void on_result(const Result& of, const Payload& part);

  // Commands. `to`: a rank of the scope.
  Ref<SendRequest> send(const Scope& scope, int to, int tag, const Buffer& buffer,
                        Mode mode = Mode::kStandard);
  /// The same without a request. False: it has to wait for its receive, and was not sent.
  bool send_at_once(const Scope& scope, int to, int tag, const Buffer& buffer);
  /// To all processes but this one. Done when it has left. REQUIRES a scope that is whole.
  Ref<Request> cast(const Scope& scope, int tag, const Buffer& buffer);
  void contribute(int target, const collectives::ReductionKind& kind, const Buffer& value);
  /// The result of the next reduction. REQUIRES that all processes contribute in the same order.
  Ref<ReceiveRequest> expect(const Result& of, const Buffer& buffer);
  Ref<ReceiveRequest> receive(const Wanted& wanted, const Buffer& buffer);
  /// The same for a message that was taken out by take().
  Ref<ReceiveRequest> receive_taken(Arrived arrived, const Buffer& buffer);
  [[nodiscard]] const Arrived* look(const Wanted& wanted) { return matching_.look(wanted); }
  [[nodiscard]] std::optional<Arrived> take(const Wanted& wanted) { return matching_.take(wanted); }
  void start(const Ref<Schedule>& schedule);
  /// Whether all sends and receives of its communicator are over. Looks at all under way.
  [[nodiscard]] bool is_quiet(std::uint64_t context) const;
  /// The communicator with this context is freed; what still waits in it is not lost.
  void forget(std::uint64_t context);
  /// It is done sooner or later, cancelled or not.
  void cancel(Request& request);
  /// Something that no message brings is done.
  void complete(Request& request);
  [[nodiscard]] std::vector<Output> take_outputs() { return std::exchange(outputs_, {}); }
  /// Into memory that is used again. REQUIRES that it is empty.
  void take_outputs(std::vector<Output>& into) { std::swap(into, outputs_); }

  [[nodiscard]] int self() const { return self_; }
  /// Counts what was done by complete(); news counts messages that have found no receive, too.
  [[nodiscard]] std::uint64_t completions() const { return completions_; }
  [[nodiscard]] std::uint64_t news() const { return completions_ + kept_; }
  [[nodiscard]] MPI_Count buffered() const { return buffered_; }  ///< Bytes of sends not done.
  void on_buffered(MPI_Count bytes) { buffered_ += bytes; }
  /// Bytes that came before their receives.
  [[nodiscard]] std::size_t waiting() const { return matching_.bytes(); }

 private:
  struct Came {
    Arrived message;
    bool is_lent;
  };
  /// A cast that waits until others have taken what was cast before.
  struct Held {
    Scope scope;
    Head head;
    Buffer buffer;
    Ref<Request> request;
  };
  [[nodiscard]] bool may_leave(int process, MPI_Count bytes);
  void handle(Came came);
  bool give_to_self(const Head& head, const Buffer& buffer);
  bool read(ReceiveRequest& receive, const Head& head, MPI_Count bytes);
  void handle_part(std::uint32_t number, const Payload& part);
  void match(ReceiveRequest& receive, const Arrived& arrived);
  void grant(const Head& head);
  void on_taken(int from, const Head& head);
  void release_casts();
  void put(int to, const Head& head, const Buffer* buffer = nullptr);
  void emit(Output output);
  void finish(Request& request);
  void settle();

  int self_;
  NearWays near_;
  Matching matching_;
  std::unordered_map<std::uint64_t, Ref<SendRequest>> sending_;  ///< what the receiver must answer
  std::unordered_map<std::uint32_t, Ref<ReceiveRequest>> receiving_;  ///< long messages that come
  std::map<Result, std::deque<Ref<ReceiveRequest>>> expected_;        ///< results, in order
  std::vector<Output> outputs_;
  std::deque<Output> to_self_;
  Ahead ahead_;
  std::deque<Held> held_;
  std::deque<Ref<Schedule>> ready_;  ///< may go on
  std::unordered_map<Schedule*, Ref<Schedule>> running_;
  bool is_settling_ = false, is_broken_ = false;  ///< The latter: thrown out of half-way.
  std::uint64_t sends_ = 0, completions_ = 0, kept_ = 0;
  std::uint32_t receives_ = 0;
  MPI_Count buffered_ = 0;
};

}  // namespace phx::mpi
