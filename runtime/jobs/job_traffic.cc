#include "runtime/jobs/job_traffic.h"

#include <algorithm>
#include <utility>

#include "collectives/broadcast.h"
#include "overlay/base/overloaded.h"
#include "runtime/jobs/given_elsewhere.h"
#include "runtime/messages/parcels.h"
#include "runtime/messages/weight.h"

namespace phx::runtime {
namespace {

/// Reductions of which is told, after one move, that their contributions were made elsewhere.
constexpr std::size_t kAnnouncedMax = 512;

std::vector<ProcessorId> first_owners(const JobStart& start) {
  std::vector<ProcessorId> owners = start.processors.ids();
  if (owners.empty()) owners.push_back(start.home);
  return owners;
}

/// It has contents for a program.
bool counts(const collectives::BroadcastPiece& piece) {
  return piece.purpose == collectives::Purpose::kApplication ||
         piece.purpose == collectives::Purpose::kAllreduce;
}

}  // namespace

JobTraffic::JobTraffic(ProcessorId self, const JobStart& start, const DaemonConfig& config)
    : self_(self),
      job_(start.job),
      config_(config),
      router_(self, start.job, VnodeMap(start.spec.vnodes, first_owners(start)),
              config.flow_bytes_max),
      mover_(self, start.job, config.balance_period,
             {config.state_piece_bytes, config.state_window_bytes, config.state_receivers,
              config.share_rule}),
      balance_(start.spec.balance),
      fixed_(start.spec.fixed),
      style_(planners::tree_style(start.spec.trees).value_or(planners::kLearnedStyle)),
      home_(start.home),
      reduction_(self, {}) {}

/// Nobody is ready for vnodes that stay where they are.
Standing JobTraffic::standing(const Surroundings& around) const {
  return {fixed_ ? ProcessorSet{} : ready_.common(around.staying),
          around.members.minus(ProcessorSet{self_}), around.leaving, ending_, around.network};
}

void JobTraffic::on_attached(const Surroundings& around, ApplicationId application,
                             JobOutbox& out) {
  router_.on_attached(application, out);
  ready_.insert(self_);
  on_standing(around, ready_, ending_, out);
}

void JobTraffic::on_app(const Surroundings& around, AppSend message, JobOutbox& out) {
  (void)around;
  router_.route(VnodeMessage{job_, 0, std::move(message.message)}, out);
}

void JobTraffic::on_app(const Surroundings& around, AppFlow message, JobOutbox& out) {
  (void)around;
  std::visit(
      [&](auto& m) {
        router_.route(VnodeMessage{job_, 0, std::move(m)}, out);
      },
      message.message);
}

void JobTraffic::on_app(const Surroundings& around, const AppClosing& message, JobOutbox& out) {
  (void)around;
  (void)message;
  ending_ = true;  // no vnode stays any more, and none goes: its sources have been told
  mover_.close("its process takes nothing more", router_, out);
  router_.on_closing(out);
}

void JobTraffic::on_app(const Surroundings& around, AppBroadcast message, JobOutbox& out) {
  if (message.is_direct) {
    if (counts(message.piece)) counters_.past_trees += message.to.size();
    return router_.serve(message.piece, {{std::move(message.to), 0}}, out);
  }
  collectives::TreeCopy copy;
  copy.tree = around.trees.in_use(self_, style_, message.piece.number, message.piece.size);
  copy.drawing = around.trees.drawing();
  copy.hops_left = static_cast<std::uint32_t>(around.members.size()) + 1;
  copy.vnodes = std::move(message.to);
  copy.piece = std::move(message.piece);
  out.report(UseTree{copy.tree});
  if (copy.tree.kind == TreeKind::kLatency && around.trees.is_for_bandwidth(copy.piece.size)) {
    out.report(UseTree{{self_, TreeKind::kBandwidth}});  // The next one may take it.
    copy.tree = around.trees.widest(self_, copy.piece.size);
  }
  has_cast_ = true;
  spread(around, std::move(copy), out);
}

void JobTraffic::on_app(const Surroundings& around, AppContribute message, JobOutbox& out) {
  on_message(around, self_, CollectiveMessage{job_, std::move(message.token)}, out);
}

void JobTraffic::on_app(const Surroundings& around, AppReleased message, JobOutbox& out) {
  for (const auto& [vnode, bundle] : message.vnodes) {
    if (immovable_.empty()) immovable_ = why_immovable(vnode, bundle);
  }
  if (!immovable_.empty()) return;  // the job ends
  mover_.on_released(std::move(message), router_, standing(around), out);
  reconsider_reductions(around, out);
}

void JobTraffic::on_app(const Surroundings& around, const AppAck& message, JobOutbox& out) {
  (void)around;
  router_.on_acknowledged(message.received, out);
}

void JobTraffic::on_app(const Surroundings& around, const AppAssume& message, JobOutbox& out) {
  mover_.assume(message.vnodes, router_, standing(around), out);
}

void JobTraffic::on_finished(const Surroundings& around, JobOutbox& out) {
  ending_ = true;
  mover_.close("its process has ended", router_, out);
  router_.on_finished(out);
  reconsider_reductions(around, out);
}

/// Only the home knows of all newcomers. If that one takes this one for it, their views differ: to
/// pass it back would go on until they do not any more, and keep the links full meanwhile.
void JobTraffic::on_message(const Surroundings& around, ProcessorId from, const Routes& m,
                            JobOutbox& out) {
  router_.on_routes(m.routes, out);
  VnodeSet changed;
  for (const Route& route : m.routes) changed = changed.united(route.vnodes);
  changed = changed.common(router_.map().all());
  if (m.pass_on && home_ == self_) {
    announce_later(around, changed, out);
  } else if (m.pass_on && home_ != from) {
    out.send(home_, m);
  } else if (m.pass_on) {
    given_back_ = given_back_.united(changed);
  }
  reconsider_reductions(around, out);
}

void JobTraffic::report_owned(const Surroundings& around, const VnodeSet& vnodes, JobOutbox& out) {
  if (vnodes.empty()) return;
  if (home_ == self_) return announce_later(around, vnodes, out);
  out.send(home_, Routes{job_, router_.map().routes(vnodes), true});
}

void JobTraffic::announce_later(const Surroundings& around, const VnodeSet& vnodes,
                                JobOutbox& out) {
  if (vnodes.empty()) return;
  unannounced_ = unannounced_.united(vnodes);
  // The first statement waits for nothing; those that follow soon are one.
  if (!std::exchange(announces_later_, true)) announce_routes(around, out);
}

void JobTraffic::announce_routes(const Surroundings& around, JobOutbox& out) {
  if (unannounced_.empty()) return;
  const bool is_home = home_ == self_;
  const Routes routes{job_, router_.map().routes(std::exchange(unannounced_, {})), !is_home};
  out.arm(JobTimer{JobTimer::Kind::kRoutes, job_, {}}, around.now + announce_pause(around));
  if (!is_home) return out.send(home_, routes);
  send_each(out, around.members, self_, routes);
}

void JobTraffic::on_home(const Surroundings& around, ProcessorId home, JobOutbox& out) {
  if (std::exchange(home_, home) == home) return;
  // What the former one was told it may not have passed on.
  const VnodeSet given_back = std::exchange(given_back_, {});
  report_owned(around, router_.map().owned_by(self_).united(given_back), out);
}

/// Who asked before the job was announced here may have left since; nothing would answer an offer.
void JobTraffic::on_message(const Surroundings& around, ProcessorId from, const Pull& m,
                            JobOutbox& out) {
  if (is_gone(around, from)) return;
  mover_.on_pull(from, m, router_, standing(around), out);
}

void JobTraffic::on_message(const Surroundings& around, ProcessorId from, const Offer& m,
                            JobOutbox& out) {
  mover_.on_offer(from, m, router_, standing(around), out);
}

void JobTraffic::on_message(const Surroundings& around, ProcessorId from, const OfferReply& m,
                            JobOutbox& out) {
  mover_.on_offer_reply(from, m, router_, standing(around), out);
}

void JobTraffic::on_message(const Surroundings& around, ProcessorId from, const OfferCancel& m,
                            JobOutbox& out) {
  mover_.on_offer_cancel(from, m, router_, standing(around), out);
}

void JobTraffic::on_message(const Surroundings& around, ProcessorId from, const StatePiece& m,
                            JobOutbox& out) {
  mover_.on_piece(from, m, router_, standing(around), out);
}

void JobTraffic::on_message(const Surroundings& around, ProcessorId from, const StateTaken& m,
                            JobOutbox& out) {
  mover_.on_taken(from, m, router_, standing(around), out);
  reconsider_reductions(around, out);
}

void JobTraffic::on_message(const Surroundings& around, ProcessorId from, Migrate m,
                            JobOutbox& out) {
  if (immovable_.empty()) immovable_ = mover_.complete(from, m);
  if (!immovable_.empty()) return;  // the job ends
  GivenElsewhere given;
  for (const VnodeParcel& parcel : m.parcels) {
    const auto next_numbers = next_numbers_of(parcel.bundle, reduction_.line());
    reduction_.on_arrived(parcel.vnode, next_numbers);
    add_given(parcel.bundle, next_numbers, given);
  }
  VnodeSet arrived;
  for (const VnodeParcel& parcel : m.parcels) arrived.insert(parcel.vnode);
  mover_.on_migrate(from, std::move(m), router_, standing(around), out);
  // With the whole runs: their other vnodes have a new epoch.
  report_owned(around, router_.runs_of(arrived), out);
  if (around.leaving && balance_) mover_.balance(around.now, router_, standing(around), out);
  reconsider_reductions(around, out);
  announce_contributed(around, given, out);
}

/// Tokens of a lower line come again. Those of a higher one might be passed on to somebody of whose
/// death this processor has not heard, and would not come again [collectives/README.md, "Lines"].
template <class M>
bool JobTraffic::admits(ProcessorId from, const collectives::ReductionToken& token, M& message) {
  if (token.line == reduction_.line()) return true;
  if (token.line < reduction_.line()) return false;
  ahead_bytes_ += weight_of(Envelope{message}).total();
  ahead_.emplace_back(from, std::move(message));
  return false;
}

void JobTraffic::on_message(const Surroundings& around, ProcessorId from, VnodeMessage&& m,
                            JobOutbox& out) {
  (void)around;
  const auto* token = std::get_if<collectives::ReductionToken>(&m.delivery);
  if (token != nullptr && !admits(from, *token, m)) return;
  router_.route(std::move(m), out);
}

void JobTraffic::on_message(const Surroundings& around, ProcessorId from, CollectiveMessage m,
                            JobOutbox& out) {
  const auto* token = std::get_if<collectives::ReductionToken>(&m.message);
  if (token != nullptr && !admits(from, *token, m)) return;
  std::visit([&](auto& message) { handle(around, from, std::move(message), out); }, m.message);
}

void JobTraffic::handle(const Surroundings& around, ProcessorId, collectives::TreeCopy m,
                        JobOutbox& out) {
  out.report(UseTree{m.tree});
  spread(around, std::move(m), out);
}

void JobTraffic::spread(const Surroundings& around, collectives::TreeCopy copy, JobOutbox& out) {
  const VnodeSet here = copy.vnodes.common(router_.held());
  const auto [tree, drawing] = around.trees.view(copy.tree, copy.drawing);
  auto plan = collectives::split_tree_copy(self_, copy.vnodes, here,
                                           router_.map().groups(copy.vnodes.minus(here)), tree,
                                           copy.hops_left);
  for (auto& child : plan.children) {
    out.send(child.id, CollectiveMessage{job_, collectives::TreeCopy{copy.tree, copy.hops_left - 1,
                                                                     std::move(child.vnodes),
                                                                     copy.piece, drawing}});
  }
  if (!plan.unknown.empty()) ++counters_.dropped;
  std::vector<collectives::Tokens> rest;
  if (counts(copy.piece)) counters_.along_trees += plan.deliver.size();
  if (!plan.deliver.empty()) rest.push_back({std::move(plan.deliver), 0});
  for (auto& group : plan.rest) {
    if (counts(copy.piece)) counters_.past_trees += group.vnodes.size();
    rest.push_back({std::move(group.vnodes), 0});
  }
  router_.serve(copy.piece, rest, out);
}

void JobTraffic::handle(const Surroundings& around, ProcessorId, collectives::FallbackCopy m,
                        JobOutbox& out) {
  (void)around;
  std::vector<collectives::Tokens> tokens = std::move(m.mine);
  // The list is also news: each entry was true when it was made.
  std::vector<Route> routes;
  collectives::Tokens onward;
  for (auto& group : collectives::groups_of(m.onward)) {
    onward.vnodes = onward.vnodes.united(group.vnodes);
    routes.push_back({std::move(group.vnodes), group.owner, group.epoch});
  }
  router_.on_routes(routes, out);
  if (!onward.vnodes.empty()) tokens.push_back(std::move(onward));
  router_.serve(m.piece, tokens, out);
}

/// Long reductions take the trees of long broadcasts, backwards.
TreeId JobTraffic::tree_of(const Surroundings& around, ProcessorId owner,
                           collectives::ReductionWay way) const {
  if (way == collectives::kShortWay) return around.trees.in_use(owner, style_);
  const SizeClass size = size_of_learned(way);
  return around.trees.in_use(owner, style_, way - first_learned(size), size, has_ranges(way));
}

template <class Step>
void JobTraffic::reduce(const Surroundings& around, Along along, Step step, JobOutbox& out) {
  const auto [id, way] = along;
  if (!router_.map().contains(id.target)) return;
  const ProcessorId owner = router_.map().owner(id.target).first;
  // If its process has ended there is no tree: it is passed on at once, or when its time is up, and
  // whoever keeps something for it hears that it is closed.
  const TreeView* tree =
      owner == kNobody ? nullptr : around.trees.view(tree_of(around, owner, way));
  const VnodeSet& own = router_.held();
  const auto below = [&](std::size_t child) {
    return router_.map().owned_by_any(tree->children[child].below);
  };
  const collectives::Reduction::Situation situation{own, owner, tree, below, around.emptied, way};
  collectives::Reduction::Outbox reduced;
  step(situation, reduced);
  carry_out(reduced, out);
}

void JobTraffic::carry_out(collectives::Reduction::Outbox& reduced, JobOutbox& out) {
  for (auto& item : reduced.take()) {
    std::visit(
        Overloaded{[&](collectives::Reduction::Outbox::Send& m) {
                     out.send(m.to, CollectiveMessage{job_, std::move(m.message)});
                   },
                   [&](collectives::Reduction::Outbox::Arm& arm) {
                     const JobTimer timer{JobTimer::Kind::kReduction, job_, arm.timer};
                     arm.at ? out.arm(timer, *arm.at) : out.disarm(timer);
                   },
                   [&](collectives::Reduction::Report& event) {
                     std::visit(
                         Overloaded{[&](collectives::Reduction::ToTarget& m) {
                                      router_.route(VnodeMessage{job_, 0, std::move(m.token)}, out);
                                    },
                                    [&](const collectives::Reduction::Anomaly& m) {
                                      note(out, Note::Level::kWarn, "reduction-anomaly",
                                           to_string(job_) + " target=" + to_string(m.id.target) +
                                               " v" + to_string(m.vnodes));
                                    }},
                         event);
                   }},
        item);
  }
}

void JobTraffic::handle(const Surroundings& around, ProcessorId from, collectives::ReductionToken m,
                        JobOutbox& out) {
  if (!router_.map().contains(m.id.target)) {
    ++counters_.dropped;
    return;
  }
  const ProcessorId owner = router_.map().owner(m.id.target).first;
  out.report(UseTree{tree_of(around, owner, m.way)});
  give(around, from == self_ ? std::nullopt : std::optional(from), std::move(m), out);
}

/// Vnodes that moved here contributed elsewhere to these. If nothing else comes of that from here,
/// whoever believes these vnodes here must not wait for it.
void JobTraffic::announce_contributed(const Surroundings& around, const GivenElsewhere& given,
                                      JobOutbox& out) {
  std::size_t left = kAnnouncedMax;
  for (const auto& [id, way] : given) {
    if (!router_.map().contains(id.target)) continue;
    if (left-- == 0) return;
    give(around, std::nullopt, {id, {}, {}, true, reduction_.line(), way}, out);
  }
}

void JobTraffic::give(const Surroundings& around, std::optional<ProcessorId> from,
                      collectives::ReductionToken token, JobOutbox& out) {
  const Along along{token.id, reduction_.way_of(token)};
  reduce(
      around, along,
      [&](const collectives::Reduction::Situation& situation,
          collectives::Reduction::Outbox& reduced) {
        reduction_.on_token(around.now, from, std::move(token), situation, reduced);
      },
      out);
}

void JobTraffic::reconsider_reductions(const Surroundings& around, JobOutbox& out) {
  for (const collectives::ReductionId id : reduction_.held()) {
    reduce(
        around, {id, reduction_.way_of(id)},
        [&](const collectives::Reduction::Situation& situation,
            collectives::Reduction::Outbox& reduced) {
          reduction_.on_situation(around.now, id, situation, reduced);
        },
        out);
  }
  collectives::Reduction::Outbox answers;
  for (const VnodeId target : reduction_.targets_lately(around.now)) {
    const ProcessorId owner = router_.map().owner(target).first;
    for (const collectives::ReductionWay way : reduction_.ways(target)) {
      const TreeView* tree = around.trees.view(tree_of(around, owner, way));
      reduction_.on_situation(around.now, target, owner, tree, answers, way);
    }
  }
  carry_out(answers, out);
}

void JobTraffic::on_timer(const Surroundings& around, const JobTimer& timer, JobOutbox& out) {
  if (timer.kind == JobTimer::Kind::kBalance) {
    if (balance_ || around.leaving) mover_.on_timer(around.now, router_, standing(around), out);
    return;
  }
  if (timer.kind == JobTimer::Kind::kRoutes) {
    announces_later_ = !unannounced_.empty();
    return announce_routes(around, out);
  }
  if (timer.kind != JobTimer::Kind::kReduction) return;
  reduce(
      around, {timer.reduction, reduction_.way_of(timer.reduction)},
      [&](const collectives::Reduction::Situation& situation,
          collectives::Reduction::Outbox& reduced) {
        reduction_.on_timer(around.now, timer.reduction, situation, reduced);
      },
      out);
}

void JobTraffic::on_tree_changed(const Surroundings& around, TreeId tree, JobOutbox& out) {
  reconsider_reductions(around, out);
  const bool is_own = tree == TreeId{} || tree.root == self_;
  if (!is_own || !router_.is_attached() || !std::exchange(has_cast_, false)) return;
  out.report(Effect{ToApp{router_.application(), AppRedrawn{}}});
}

void JobTraffic::on_standing(const Surroundings& around, ProcessorSet ready, bool ending,
                             JobOutbox& out) {
  if (ready != ready_ || (ending && !ending_)) mover_.on_news();
  ready_ = std::move(ready);
  ending_ = ending_ || ending;
  if (balance_ || around.leaving) mover_.balance(around.now, router_, standing(around), out);
  if (!around.leaving) return;
  const Routes ended{job_, router_.on_leaving(), /*pass_on=*/true};
  if (!ended.routes.empty()) on_message(around, self_, ended, out);
}

void JobTraffic::on_leaving(const Surroundings& around, JobOutbox& out) {
  announce_routes(around, out);
  if (!std::exchange(has_told_given_, true)) {
    // Receivers have said so, too, but on another way.
    const Routes given{job_, router_.given(), /*pass_on=*/true};
    if (!given.routes.empty()) on_message(around, self_, given, out);
  }
  mover_.on_news();
  mover_.start_leaving(router_, standing(around), out);
  mover_.balance(around.now, router_, standing(around), out);
  reconsider_reductions(around, out);
}

void JobTraffic::on_gone(const Surroundings& around, ProcessorId gone, JobOutbox& out) {
  mover_.on_gone(gone, router_, standing(around), out);
}

void JobTraffic::on_relieved(std::vector<CastCredit> credits, JobOutbox& out) {
  router_.tell(std::move(credits), out);
}

void JobTraffic::on_line(const Surroundings& around, JobOutbox& out) {
  const std::uint64_t line = around.view.line;
  if (line <= reduction_.line()) return;
  collectives::Reduction::Outbox reduced;
  reduction_.on_line(line, reduced);
  carry_out(reduced, out);
  if (router_.is_attached()) out.report(Effect{ToApp{router_.application(), AppRepair{line}}});
  ahead_bytes_ = 0;
  for (auto& [from, message] : std::exchange(ahead_, {})) {
    const ProcessorId sender = from;
    std::visit([&](auto& m) { on_message(around, sender, std::move(m), out); }, message);
  }
}

bool JobTraffic::is_empty() const {
  const bool owns_nothing = router_.map().owned_by(self_).empty();
  return owns_nothing && mover_.is_quiet() && router_.parked() == 0 && reduction_.held().empty() &&
         unannounced_.empty() && ahead_.empty();
}

std::string JobTraffic::waiting(const Surroundings& around) const {
  const VnodeSet own = router_.map().owned_by(self_);
  if (fixed_ && around.leaving && !own.empty()) {
    return own.size() == 1 ? "rank " + to_string(own) + " to end, which stays where it is"
                           : "ranks " + to_string(own) + " to end, which stay where they are";
  }
  const std::string moves = mover_.waiting(router_, standing(around));
  if (!moves.empty() || !around.leaving || !own.empty()) return moves;
  if (const std::size_t held = reduction_.held().size(); held > 0) {
    return "reductions that pass here, to go on: " + std::to_string(held);
  }
  if (const std::uint64_t parked = router_.parked(); parked > 0) {
    return "vnodes on their way, for which messages are here: " + std::to_string(parked);
  }
  if (!ahead_.empty()) return "the view without a processor that others know to be dead";
  return unannounced_.empty() ? "" : "its home to say who holds v" + to_string(unannounced_);
}

std::string JobTraffic::limit_reached() const {
  if (!immovable_.empty()) return immovable_;
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
  if (router_.undelivered_bytes() > config_.undelivered_bytes_max) {
    return "its application at " + to_string(self_) +
           " does not receive: " + std::to_string(router_.undelivered_bytes() / kMiB) +
           " MiB wait for it";
  }
  if (parked_bytes() > config_.parked_bytes_max) {
    return std::to_string(parked_bytes() / kMiB) + " MiB wait at " + to_string(self_) +
           " for vnodes or views on their way there";
  }
  return {};
}

void JobTraffic::check_invariants(const std::function<bool(const JobTimer&)>& is_armed,
                                  const ProcessorSet& there) const {
  router_.check_invariants();
  mover_.check_invariants(there);
  reduction_.check_invariants();
  // What is held leaves when its time is up, whatever happens to its target.
  for (const collectives::ReductionId id : reduction_.held()) {
    PHX_CHECK(is_armed({JobTimer::Kind::kReduction, job_, id}));
  }
}

}  // namespace phx::runtime
