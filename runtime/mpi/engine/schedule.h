#pragma once

#include <forward_list>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "collectives/messages.h"
#include "runtime/api/spare_memory.h"
#include "runtime/mpi/engine/request.h"
#include "runtime/mpi/engine/scope.h"

namespace phx::mpi {

class Traffic;

/// A collective operation as one process sees it: rounds of sends, receives and work of its own. A
/// round begins when all messages of the one before are there and away. Built first, then started.
/// Memory that it needs lives as long as it does.
class Schedule : public Request {
 public:
  /// All messages of it carry `tag`.
  explicit Schedule(Scope scope, int tag = 0);
  /// The same, said before it starts.
  void set_tag(int tag) { tag_ = tag; }
  ~Schedule() override;

  // Building: into the current round.
  void send(int to, const Buffer& buffer) { add(Step::Kind::kSend, to).buffer = buffer; }
  void receive(int from, const Buffer& buffer) { add(Step::Kind::kReceive, from).buffer = buffer; }
  /// The same; less than there is room for is an error.
  void fill(int from, const Buffer& buffer) { add(Step::Kind::kFill, from).buffer = buffer; }
  /// To all others, who receive it. REQUIRES a scope that is whole.
  void cast(const Buffer& buffer) { add(Step::Kind::kCast, 0).buffer = buffer; }
  /// Takes part in the next reduction of all towards `target`. REQUIRES a scope that may combine,
  /// and that nothing was added before: reductions are begun in the order of calls.
  void contribute(int target, const collectives::ReductionKind& how, const Buffer& value);
  /// Its result.
  void result(int target, const collectives::ReductionKind& how, const Buffer& buffer);
  /// Nothing was added that is not done.
  [[nodiscard]] bool is_empty() const { return steps_.empty(); }
  /// What follows begins when all before is there.
  void then() { begins_round_ = true; }
  /// Work that follows what is before, and comes before what follows. Of a rank alone it is done at
  /// once, unless a message was added before: nobody has to be waited for.
  template <class Work>
  void run(Work work) {
    if (is_empty() && scope().size() == 1) return work();
    add_work(std::move(work));
  }
  /// Bytes that live as long as this.
  [[nodiscard]] std::byte* memory(MPI_Count bytes);
  /// Another scope for what follows.
  void enter(Scope scope) { scopes_.push_front(std::move(scope)); }
  [[nodiscard]] const Scope& scope() const { return scopes_.front(); }

  // For Traffic.
  /// Whether the round is over.
  bool on_part_done(Request& part);
  /// What came, and does not fit into what this process expects; null: nothing.
  [[nodiscard]] const ReceiveRequest* misfit() const { return misfit_.get(); }
  /// The first message of the round that is not done; null: none.
  [[nodiscard]] const Request* open_part() const;
  /// Begins rounds as long as possible; whether all are over.
  bool advance(Traffic& traffic);

 private:
  struct Step {
    enum class Kind { kSend, kReceive, kFill, kCast, kContribute, kResult, kWork };
    Kind kind;
    bool begins_round;
    int rank;
    const Scope* scope;
    std::optional<Buffer> buffer{};
    std::function<void()> work{};
    collectives::ReductionKind combined{};
  };
  Step& add(Step::Kind what, int rank);
  void add_work(std::function<void()> work);
  void begin(Step& step, Traffic& traffic);
  void note(Request& part);

  std::forward_list<Scope> scopes_;  ///< The first one is that of what is added.
  int tag_;
  std::vector<Step> steps_;
  bool begins_round_ = false;  ///< the next step
  std::size_t at_ = 0;         ///< the next step to begin
  std::size_t open_ = 0;       ///< messages of the current round that are not done
  std::vector<Ref<Request>> parts_;
  Ref<ReceiveRequest> misfit_;
  std::vector<SpareMemory::Block> memory_;
};

}  // namespace phx::mpi
