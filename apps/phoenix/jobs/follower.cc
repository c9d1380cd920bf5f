#include "apps/phoenix/jobs/follower.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string_view>
#include <thread>
#include <utility>

#include "apps/phoenix/command_line/verb.h"
#include "apps/phoenix/mesh/interrupts.h"
#include "apps/phoenix/texts/amounts.h"
#include "runtime/messages/client_end.h"
#include "runtime/tcp/random_number.h"
#include "runtime/tcp/steady_now.h"

namespace phx::app {
namespace {

constexpr int kRefusalsMax = 3;
constexpr int kSignalled = 128;                    ///< And the number of the signal.
constexpr int kTerminated = kSignalled + SIGTERM;  ///< Of a job that was ended by request.
constexpr Duration kSearch = runtime::kToolReturns;
constexpr Duration kLook = 100ms;
constexpr Duration kPoke = 1s;
constexpr Duration kMute = 3s;     ///< It does not answer.
constexpr Duration kSuspect = 6s;  ///< Others are asked, every 3 s from then on.
constexpr Duration kGiveUp = 30s;
// Nothing else takes longer between two looks, but that this tool was stopped itself: then it
// blames nobody.
constexpr Duration kStepMax = 1s;
// All daemons are asked what the job's processes do: seldom, as it costs a message for each.
constexpr Duration kAskAll = Standstill::kStill + 2s;
constexpr Duration kAskAllSeldom = 30s;

/// Of an MPI program: rank 2 is the process of v2, which is not said of "rank 2 at p3 ...".
std::string with_ranks(std::string reason) {
  constexpr std::string_view kRank = "rank ";
  if (reason.starts_with(kRank)) {
    const std::string number =
        reason.substr(kRank.size(), reason.find(' ', kRank.size()) - kRank.size());
    const std::string again = ": it held v" + number;
    if (reason.ends_with(again)) reason.erase(reason.size() - again.size());
  }
  const std::pair<std::string, std::string> words[] = {{"it held v", "it was rank "},
                                                       {"and with it v", "and with it rank "}};
  for (const auto& [vnode, rank] : words) {
    const std::size_t at = reason.find(vnode);
    if (at != std::string::npos) reason.replace(at, vnode.size(), rank);
  }
  return reason;
}

}  // namespace

Follower::Follower(Session session, runtime::RunRequest request, JobOutput output)
    : session_(std::move(session)),
      request_(std::move(request)),
      output_(std::move(output)),
      asks_(tcp::steady_now() + kAskAll),
      asks_after_(kAskAll),
      looked_(tcp::steady_now()),
      for_number_(kForever),
      for_home_(kGiveUp),
      for_news_(kSearch) {
  request_.tool = tcp::random_number();
}

Follower::Follower(Session session, JobId job, JobOutput output)
    : Follower(std::move(session), runtime::RunRequest{}, std::move(output)) {
  job_ = job;
  is_guest_ = true;
}

int Follower::run() {
  const int code = follow_to_end();
  // However it ended: lines without an end are shown, too. That something is missing was told.
  static_cast<void>(output_.finish());
  return code;
}

int Follower::follow_to_end() {
  // If it is lost, the next look at the connection tells.
  if (job_) static_cast<void>(follow());
  if (const Status sent = job_ ? success() : session_.client.send(request_); !sent.ok()) {
    if (const auto code = ask_another(sent.error().what)) return *code;
  }
  while (true) {
    if (const int number = job_ ? Interrupts::take() : 0; number != 0) {
      if (is_guest_ && number != SIGINT) return fail(to_string(*job_) + " goes on", kInterrupted);
      pass_on(number);
    }
    if (const int number = job_ && !is_guest_ ? UserSignals::take() : 0; number != 0) {
      send_signal(number);
    }
    if (job_ && output_.is_unread() && ending_ == 0) {
      if (is_guest_) return fail(to_string(*job_) + " goes on", kUnread);
      pass_on(SIGPIPE);
    }
    if (is_given_up()) {
      return fail("interrupted before the job had a number; see phoenix ps" +
                      mesh_words(session_.dir.name()),
                  kInterrupted);
    }
    end_late();
    ask_all();
    if (const auto code = hear()) return *code;
  }
}

Follower::Code Follower::hear() {
  Result<runtime::ClientReply> reply = session_.client.receive(kLook);
  count_silence(reply.ok());
  if (!reply.ok()) {
    const Error& loss = reply.error();
    return loss.code == ErrorCode::kTimeout ? on_silence() : on_loss(loss);
  }
  const auto code = take(reply.value());
  if (!code) return std::nullopt;
  const bool is_complete = output_.finish();
  if (output_.is_unread() && *code == kOk) return kUnread;
  if (input_ && !input_->end()) {
    const int failed = fail("the job has not read all of its standard input");
    if (*code == kOk && is_complete) return failed;
  }
  return is_complete || *code != kOk ? *code : fail("the job's output is not complete");
}

/// Interrupted twice before the job had a number. If one comes all the same, the job is ended.
bool Follower::is_given_up() {
  if (job_ || Interrupts::count() < 2) return false;
  const Instant now = tcp::steady_now();
  if (!interrupted_) interrupted_ = now;
  return now - *interrupted_ >= kMute;
}

/// The first signal goes to the processes, so that they can end by themselves; the next ends the
/// job.
void Follower::pass_on(int number) {
  const bool asks = Interrupts::count() == 1 && number == SIGINT;
  std::fprintf(stderr, "phoenix: %s\n",
               asks ? "interrupt passed on to the job; once more ends it" : "ending the job");
  if (!asks) ending_ = number;
  send_signal(asks ? number : 0);
}

/// 0 ends the job.
void Follower::send_signal(int number) {
  const Status sent = session_.client.send(runtime::SignalRequest{*job_, number});
  if (!sent.ok()) std::fprintf(stderr, "phoenix: %s\n", sent.error().what.c_str());
}

std::string Follower::home() const {
  return to_string(session_.client.daemon()) + " at " + session_.client.endpoint() + ", which " +
         (job_ ? "looks after " + to_string(*job_) : "was asked to begin the job");
}

void Follower::count_silence(bool is_heard) {
  const Instant now = tcp::steady_now();
  silence_before_ = silence_;
  const Duration step = now - looked_;
  silence_ = is_heard ? Duration{} : silence_ + (step > kStepMax ? Duration{} : step);
  if (is_heard && silence_before_ >= Waiting::kQuiet) for_home_ = Waiting(kGiveUp);
  looked_ = now;
}

/// Whether it has just become as long as `begin`, or longer by another `period`.
bool Follower::silence_reaches(Duration begin, Duration period) const {
  const auto times = [&](Duration silence) {
    return silence < begin ? 0 : 1 + (silence - begin) / period;
  };
  return times(silence_) > times(silence_before_);
}

Follower::Code Follower::take(const runtime::ClientReply& reply) {
  if (const auto* m = std::get_if<runtime::RunStarted>(&reply)) begin(*m);
  if (const auto* m = std::get_if<runtime::StatusReply>(&reply)) on_status(*m);
  if (const auto* m = std::get_if<runtime::RunOutput>(&reply)) show(m->output);
  if (const auto* m = std::get_if<runtime::RunMoved>(&reply)) return move(*m);
  if (const auto* m = std::get_if<runtime::RunEnded>(&reply)) {
    return end(*m);
  }
  if (const auto* m = std::get_if<runtime::Done>(&reply); m != nullptr && !m->error.empty()) {
    return job_ ? on_unknown(m->error) : ask_another(m->error);
  }
  return std::nullopt;
}

int Follower::end(const runtime::RunEnded& ended) {
  if (!ended.reason.empty()) {
    reason_ = names_ranks_ ? with_ranks(ended.reason) : ended.reason;
    fail(to_string(ended.job) + ": " + reason_);
  }
  if (tells_time_) {
    std::fprintf(
        stderr, "phoenix: %s took %s\n", to_string(ended.job).c_str(),
        spell_seconds(std::chrono::duration<double>(tcp::steady_now() - begun_).count()).c_str());
  }
  has_ended_ = true;
  if (ending_ != 0 && !is_late_ && ended.code == kTerminated) return kSignalled + ending_;
  return is_late_ && !ended.reason.empty() ? static_cast<int>(kTimedOut) : ended.code;
}

/// Once, when its time is up.
void Follower::end_late() {
  if (!job_ || !most_ || ending_ != 0 || tcp::steady_now() < begun_ + *most_) return;
  is_late_ = true;
  std::fprintf(stderr, "phoenix: %s has run for %s, its --timeout: ending it\n",
               to_string(*job_).c_str(),
               spell_seconds(std::chrono::duration<double>(*most_).count()).c_str());
  ending_ = SIGTERM;
  const Status sent = session_.client.send(runtime::SignalRequest{*job_, 0});
  if (!sent.ok()) std::fprintf(stderr, "phoenix: %s\n", sent.error().what.c_str());
}

/// Whether the job goes on; what they say comes to take().
void Follower::ask_all() {
  const Instant now = tcp::steady_now();
  if (!job_ || ending_ != 0 || now < asks_) return;
  asks_ = now + asks_after_;
  asks_after_ = std::min(2 * asks_after_, kAskAllSeldom);
  static_cast<void>(session_.client.send(runtime::StatusRequest{/*ask_all=*/true}));
}

void Follower::on_status(const runtime::StatusReply& reply) {
  if (!job_) {
    return for_number_.look(to_string(reply.coordinator) +
                            ", the coordinator of the mesh, to give " + "the job that " +
                            to_string(session_.client.daemon()) + " is to begin its number");
  }
  if (reply.processors.size() + reply.silent.size() < reply.view.members.size()) return;
  const auto text = standstill_.look(reply, *job_, session_.dir.name());
  if (text) std::fprintf(stderr, "phoenix: %s\n", text->c_str());
  const auto again = standstill_.look_again_after();
  if (again) asks_ = std::min(asks_, tcp::steady_now() + *again);
}

void Follower::begin(const runtime::RunStarted& reply) {
  const JobId job = reply.job;
  if (!job_) begun_ = tcp::steady_now();
  if (std::exchange(passes_input_, false)) {
    input_.emplace(session_.dir.name(), JobInput::Reader{job, reply.first, names_ranks_});
  }
  job_ = job;
  moves_ = 0;
  moved_.reset();
  give_up_.reset();
  if (!on_start_ || interrupted_) return;
  const Status started = std::exchange(on_start_, nullptr)(job);
  if (started.ok()) return;
  fail(started.error().what);
  pass_on(SIGTERM);
}

void Follower::show(const runtime::Output& output) {
  std::uint64_t& last = shown_[output.processor];
  if (output.number <= last) return;
  last = output.number;
  if (output.is_report) {
    if (report_ != nullptr) report_->add(output.processor, output.bytes.text());
    return;
  }
  output_.write(output, [this] {
    if (const int number = Interrupts::take(); number != 0) pass_on(number);
    end_late();
    return ending_ == 0;
  });
}

Status Follower::follow() {
  return session_.client.send(runtime::FollowRequest{*job_, shown_, request_.tool, is_guest_});
}

Follower::Code Follower::on_loss(const Error& loss) {
  silence_ = {};
  return job_ ? find_again(loss) : ask_another(loss.what);
}

/// Nothing has come. A daemon that hangs closes no connection; the others notice and end the job.
Follower::Code Follower::on_silence() {
  // If it is lost, the next look at the connection tells.
  if (silence_reaches(kPoke, kPoke)) {
    static_cast<void>(session_.client.send(runtime::StatusRequest{/*ask_all=*/false}));
  }
  if (job_ && ending_ != 0 && silence_ >= kMute) return end_elsewhere();
  if (silence_ >= kGiveUp)
    return fail(home() + ", has not answered for 30 s; see phoenix status" +
                mesh_words(session_.dir.name()));
  for_home_.look(home() + ", to answer", silence_);
  return silence_reaches(kSuspect, kMute) ? ask_about_home() : std::nullopt;
}

/// If the daemon is a member no more, another one knows what became of the job.
Follower::Code Follower::ask_about_home() {
  const ProcessorId mute = session_.client.daemon();
  auto next = connect(session_.dir.name(), {.not_at = session_.client.endpoint()});
  const auto status = next.ok() ? ask_status(next.value(), /*ask_all=*/false) : next.error();
  const Instant now = tcp::steady_now();
  silence_ += now - std::exchange(looked_, now);
  if (!status.ok() || status.value().view.members.contains(mute)) return std::nullopt;
  const std::string why = to_string(mute) + " does not answer and is no longer in the mesh";
  if (!job_) return on_loss({ErrorCode::kUnavailable, why});
  std::fprintf(stderr, "phoenix: %s\n", why.c_str());
  session_ = std::move(next).value();
  silence_ = {};
  static_cast<void>(follow());
  return std::nullopt;
}

/// The job is to end, but the daemon that was told does not answer: any other can do it, too.
int Follower::end_elsewhere() {
  std::string text = home() + ", does not answer; ";
  auto next = connect(session_.dir.name(), {.not_at = session_.client.endpoint()});
  const runtime::SignalRequest request{*job_, 0};
  if (next.ok()) {
    const auto done = ask<runtime::Done>(next.value(), request, 3s);
    const std::string name = to_string(next.value().client.daemon());
    const std::string error = done.ok() ? done.value().error : done.error().what;
    text += error.empty() ? name + " ends it" : name + " says: " + error;
  } else {
    text += next.error().what;
  }
  return fail(text, is_late_ ? static_cast<int>(kTimedOut) : kSignalled + ending_);
}

/// The daemon has not begun the job; it may just be leaving. If it has died, so has the job, whose
/// home it would be.
Follower::Code Follower::ask_another(const std::string& why) {
  const auto refusing = session_.client.daemon();
  for (; refusals_ < kRefusalsMax; ++refusals_) {
    auto next = connect_to_staying(session_.dir.name(), {refusing});
    if (!next.ok()) break;
    session_ = std::move(next).value();
    if (!session_.client.send(request_).ok()) continue;
    ++refusals_;
    return std::nullopt;
  }
  return fail("the job was not begun: " + why);
}

/// The daemon went away without a word: the others learn soon what became of the job.
Follower::Code Follower::find_again(const Error& loss) {
  const std::string lost = to_string(session_.client.daemon());
  const Instant now = tcp::steady_now();
  if (!moved_) moved_ = now;
  if (!give_up_) {
    give_up_ = now + kSearch;
    for_news_ = Waiting(kSearch);
  }
  const std::string all =
      "lost " + lost + ", which looked after " + to_string(*job_) + ": " + loss.what;
  for_news_.look("the daemons to tell what became of " + to_string(*job_) +
                 ", since the connection to " + lost + " is lost");
  std::this_thread::sleep_for(kLook);
  auto next = connect(session_.dir.name(), {.last = {session_.client.daemon()}});
  if (!next.ok()) return on_no_daemon(all, next.error());
  if (now > *give_up_) return fail(all + "; no other daemon knows what became of it");
  session_ = std::move(next).value();
  // If this is lost too, the next look at the connection tells.
  static_cast<void>(follow());
  if (ending_ != 0) static_cast<void>(session_.client.send(runtime::SignalRequest{*job_, 0}));
  return std::nullopt;
}

/// A connection that broke, and a daemon that refuses the next one, may be the network's doing:
/// only of this machine's daemons it is known that they are gone.
Follower::Code Follower::on_no_daemon(const std::string& loss, const Error& why) {
  const bool may_answer = why.code == ErrorCode::kTimeout || why.code == ErrorCode::kUnavailable;
  const bool are_gone = session_.dir.daemons().empty() && !session_.dir.has_others();
  if (!may_answer || are_gone) return fail(loss + "; " + why.what);
  if (ending_ == 0 && tcp::steady_now() <= *give_up_) return std::nullopt;
  const std::string text = loss + "; no daemon answers, but the job may go on: see phoenix status" +
                           mesh_words(session_.dir.name());
  if (ending_ == 0) return fail(text);
  return fail(text, is_late_ ? static_cast<int>(kTimedOut) : kSignalled + ending_);
}

/// A job that has moved to this daemon may not have been announced there yet.
Follower::Code Follower::on_unknown(const std::string& why) {
  if (!moved_ || tcp::steady_now() > *moved_ + kSearch) return fail(why);
  std::this_thread::sleep_for(kLook);
  return follow_at({session_.client.endpoint()});
}

Follower::Code Follower::move(const runtime::RunMoved& moved) {
  job_ = moved.job;
  if (!moved_) moved_ = tcp::steady_now();
  // The next home may not have heard yet that the one before leaves, and send us back.
  if (++moves_ > 1) std::this_thread::sleep_for(kLook);
  return follow_at(moved.endpoints);
}

Follower::Code Follower::follow_at(const std::vector<std::string>& endpoints) {
  auto next = connect_to(session_.dir.name(), endpoints);
  if (!next.ok()) return find_again(next.error());
  session_ = std::move(next).value();
  const Status sent = follow();
  return sent.ok() ? std::nullopt : find_again(sent.error());
}

}  // namespace phx::app
