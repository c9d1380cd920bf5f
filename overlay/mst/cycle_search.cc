#include "overlay/mst/cycle_search.h"

#include <algorithm>

namespace phx::mst {

void CycleSearch::start(ProcessorId target, Outbox& out) {
  pass_on(Seek{stamp_, target, std::nullopt}, out);
}

void CycleSearch::on_seek(ProcessorId from, const Seek& m, Duration weight, Outbox& out) {
  asker_ = from;
  const EdgeKey edge = edge_key(weight, self_, from);
  const EdgeKey heaviest = m.heaviest ? std::max(*m.heaviest, edge) : edge;
  if (m.target == self_) return out.send(from, SeekReply{stamp_, heaviest});
  pass_on(Seek{stamp_, m.target, heaviest}, out);
}

void CycleSearch::pass_on(const Seek& m, Outbox& out) {
  for (const ProcessorId other : branches_) {
    if (other == asker_) continue;
    ++awaited_;
    out.send(other, m);
  }
  if (awaited_ == 0) finish(out);
}

void CycleSearch::on_reply(const SeekReply& m, Outbox& out) {
  if (awaited_ == 0) return;
  if (m.heaviest) heaviest_ = m.heaviest;
  if (--awaited_ == 0) finish(out);
}

void CycleSearch::finish(Outbox& out) {
  if (!asker_) return out.report(Answer{heaviest_});
  out.send(*asker_, SeekReply{stamp_, heaviest_});
}

}  // namespace phx::mst
