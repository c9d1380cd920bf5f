#include "runtime/wire/codec_jobs.h"

#include "runtime/wire/codec_overlay.h"

namespace phx::wire {

void write_stages(const Stages& stages, Entries<pb::ProcessorStage>* out, Sink& sink) {
  for (const auto& [first, last, stage] : stages.runs()) {
    pb::ProcessorStage& written = *out->Add();
    written.set_processor(first.value);
    written.set_further(last.value - first.value);
    write(stage, *written.mutable_stage(), sink);
  }
}

Stages read_stages(const Entries<pb::ProcessorStage>& in, Source& source, const char* field) {
  Stages stages;
  if (!source.require_short(in, field)) return stages;
  constexpr std::uint64_t kProcessorIdEnd = std::uint64_t{1} << 32U;
  std::uint64_t next = 0;
  for (const pb::ProcessorStage& entry : in) {
    const std::uint64_t last = std::uint64_t{entry.processor()} + entry.further();
    source.require(entry.processor() >= next && last < kProcessorIdEnd, field);
    if (!source.ok()) break;
    next = last + 1;
    stages.put({ProcessorId{entry.processor()}, ProcessorId{static_cast<std::uint32_t>(last)},
                read(entry.stage(), source)});
  }
  return stages;
}

void write(const runtime::JobSpec& in, pb::JobSpec& out, Sink& /*sink*/) {
  const auto& [vnodes, command, environment, directory, name, processors_max, balance, fixed,
               attach_timeout, detached, has_input, trees] = in;
  out.set_vnodes(vnodes);
  write_texts(command, out.mutable_command());
  write_texts(environment, out.mutable_environment());
  write_text(directory, out.mutable_directory());
  write_text(name, out.mutable_name());
  out.set_processors_max(processors_max);
  out.set_balance(balance);
  out.set_fixed(fixed);
  out.set_attach_timeout(duration_number(attach_timeout));
  out.set_detached(detached);
  out.set_has_input(has_input);
  write_text(trees, out.mutable_trees());
}

runtime::JobSpec read(const pb::JobSpec& in, Source& source) {
  source.require(in.vnodes() <= kVnodeIdEnd, "JobSpec.vnodes");
  return {.vnodes = in.vnodes(),
          .command = read_texts(in.command(), source, "JobSpec.command"),
          .environment = read_texts(in.environment(), source, "JobSpec.environment"),
          .directory = source.text(in.directory(), "JobSpec.directory"),
          .name = source.text(in.name(), "JobSpec.name"),
          .processors_max = in.processors_max(),
          .balance = in.balance(),
          .fixed = in.fixed(),
          .attach_timeout = source.duration(in.attach_timeout(), "JobSpec.attach_timeout"),
          .detached = in.detached(),
          .has_input = in.has_input(),
          .trees = source.text(in.trees(), "JobSpec.trees")};
}

void write(const runtime::JobRequest& in, pb::JobRequest& out, Sink& sink) {
  const auto& [request, spec] = in;
  out.set_request(request);
  write(spec, *out.mutable_spec(), sink);
}

runtime::JobRequest read(const pb::JobRequest& in, Source& source) {
  return {.request = in.request(), .spec = read(in.spec(), source)};
}

void write(const runtime::JobStart& in, pb::JobStart& out, Sink& sink) {
  const auto& [job, spec, home, request, processors, cast_cut] = in;
  out.set_job(job.value);
  write(spec, *out.mutable_spec(), sink);
  out.set_home(home.value);
  out.set_request(request);
  write_set(processors, out.mutable_processors());
  out.set_cast_piece(cast_cut.least);
  out.set_cast_cost(cast_cut.cost);
}

runtime::JobStart read(const pb::JobStart& in, Source& source) {
  return {.job = JobId{in.job()},
          .spec = read(in.spec(), source),
          .home = ProcessorId{in.home()},
          .request = in.request(),
          .processors = read_processors(in.processors(), source, "JobStart.processors"),
          .cast_cut = {in.cast_piece(), in.cast_cost()}};
}

namespace {

void write_exit(const runtime::Exit& in, pb::Exit* out) {
  const auto& [code, signal, finished, detail, aborted] = in;
  out->set_code(code);
  out->set_signal(signal);
  out->set_finished(finished);
  out->set_aborted(aborted);
  write_text(detail, out->mutable_detail());
}

}  // namespace

void write(const runtime::JobStage& in, pb::JobStage& out, Sink& /*sink*/) {
  const auto& [job, stage, exit, change, written, taken] = in;
  out.set_job(job.value);
  out.set_stage(static_cast<pb::Stage>(stage));
  write_exit(exit, out.mutable_exit());
  out.set_change(change);
  out.set_written(written);
  out.set_taken(taken);
}

runtime::JobStage read(const pb::JobStage& in, Source& source) {
  const pb::Exit& exit = in.exit();
  return {.job = JobId{in.job()},
          .stage = source.choice(in.stage(), runtime::Stage::kExited, "JobStage.stage"),
          .exit = {.code = exit.code(),
                   .signal = exit.signal(),
                   .finished = exit.finished(),
                   .detail = source.text(exit.detail(), "Exit.detail"),
                   .aborted = exit.aborted()},
          .change = in.change(),
          .written = in.written(),
          .taken = in.taken()};
}

void write(const runtime::JobEnd& in, pb::JobEnd& out, Sink& /*sink*/) {
  const auto& [job, code, reason] = in;
  out.set_job(job.value);
  out.set_code(code);
  write_text(reason, out.mutable_reason());
}

runtime::JobEnd read(const pb::JobEnd& in, Source& source) {
  return {.job = JobId{in.job()},
          .code = in.code(),
          .reason = source.text(in.reason(), "JobEnd.reason")};
}

void write(const runtime::Output& in, pb::Output& out, Sink& sink) {
  const auto& [job, processor, is_error, bytes, number, is_report] = in;
  out.set_job(job.value);
  out.set_processor(processor.value);
  out.set_is_error(is_error);
  out.set_bytes_size(sink.payload(bytes));
  out.set_number(number);
  out.set_is_report(is_report);
}

runtime::Output read(const pb::Output& in, Source& source) {
  return {.job = JobId{in.job()},
          .processor = ProcessorId{in.processor()},
          .is_error = in.is_error(),
          .bytes = source.payload(in.bytes_size(), "Output.bytes"),
          .number = in.number(),
          .is_report = in.is_report()};
}

void write(const runtime::JobHome& in, pb::JobHome& out, Sink& sink) {
  const auto& [job, home, view, is_new, stages] = in;
  out.set_job(job.value);
  out.set_home(home.value);
  out.set_view(view);
  out.set_is_new(is_new);
  write_stages(stages, out.mutable_stages(), sink);
}

runtime::JobHome read(const pb::JobHome& in, Source& source) {
  return {.job = JobId{in.job()},
          .home = ProcessorId{in.home()},
          .view = in.view(),
          .is_new = in.is_new(),
          .stages = read_stages(in.stages(), source, "JobHome.stages")};
}

void write(const runtime::VnodeFigures& in, pb::VnodeFigures& out, Sink& /*sink*/) {
  const auto& [vnode, messages, bytes, moves, waited_ms] = in;
  out.set_vnode(vnode.value);
  out.set_messages(messages);
  out.set_bytes(bytes);
  out.set_moves(moves);
  out.set_waited_ms(waited_ms);
}

runtime::VnodeFigures read(const pb::VnodeFigures& in, Source& source) {
  return {.vnode = source.vnode(in.vnode(), "VnodeFigures.vnode"),
          .messages = in.messages(),
          .bytes = in.bytes(),
          .moves = in.moves(),
          .waited_ms = in.waited_ms()};
}

void write(const runtime::JobStatus& in, pb::JobStatus& out, Sink& sink) {
  const auto& [job, name, home, stage, held, vnodes, parked, waiting, process_waits, is_held_up,
               ends_because, figures, vnode_figures] = in;
  out.set_job(job.value);
  write_text(name, out.mutable_name());
  out.set_home(home.value);
  out.set_stage(static_cast<pb::Stage>(stage));
  write_set(held, out.mutable_held());
  out.set_vnodes(vnodes);
  out.set_parked(parked);
  write_text(waiting, out.mutable_waiting());
  write_text(process_waits, out.mutable_process_waits());
  out.set_is_held_up(is_held_up);
  write_text(ends_because, out.mutable_ends_because());
  const auto& [messages, bytes, moves, waited_ms, silent_ms] = figures;
  out.set_messages(messages);
  out.set_bytes(bytes);
  out.set_moves(moves);
  out.set_waited_ms(waited_ms);
  out.set_silent_ms(silent_ms);
  write_list(vnode_figures, out.mutable_vnode_figures(), sink);
}

runtime::JobStatus read(const pb::JobStatus& in, Source& source) {
  return {.job = JobId{in.job()},
          .name = source.text(in.name(), "JobStatus.name"),
          .home = ProcessorId{in.home()},
          .stage = source.choice(in.stage(), runtime::Stage::kExited, "JobStatus.stage"),
          .held = read_vnodes(in.held(), source, "JobStatus.held"),
          .vnodes = in.vnodes(),
          .parked = in.parked(),
          .waiting = source.text(in.waiting(), "JobStatus.waiting"),
          .process_waits = source.text(in.process_waits(), "JobStatus.process_waits"),
          .is_held_up = in.is_held_up(),
          .ends_because = source.text(in.ends_because(), "JobStatus.ends_because"),
          .figures = {.messages = in.messages(),
                      .bytes = in.bytes(),
                      .moves = in.moves(),
                      .waited_ms = in.waited_ms(),
                      .silent_ms = in.silent_ms()},
          .vnode_figures = read_list(in.vnode_figures(), source, "JobStatus.vnode_figures")};
}

void write(const runtime::Counter& in, pb::Counter& out, Sink& /*sink*/) {
  const auto& [name, value] = in;
  write_text(name, out.mutable_name());
  out.set_value(value);
}

runtime::Counter read(const pb::Counter& in, Source& source) {
  return {.name = source.text(in.name(), "Counter.name"), .value = in.value()};
}

void write(const runtime::DetourStatus& in, pb::DetourStatus& out, Sink& /*sink*/) {
  const auto& [peer, via] = in;
  out.set_peer(peer.value);
  out.set_via(via.value);
}

runtime::DetourStatus read(const pb::DetourStatus& in, Source& /*source*/) {
  return {.peer = ProcessorId{in.peer()}, .via = ProcessorId{in.via()}};
}

void write(const runtime::TreeStatus& in, pb::TreeStatus& out, Sink& /*sink*/) {
  const auto& [tree, parent, children, distance] = in;
  write(tree, out.mutable_tree());
  out.set_parent(parent.value);
  write_ids(children, out.mutable_children());
  out.set_distance_to_root(duration_number(distance));
}

runtime::TreeStatus read(const pb::TreeStatus& in, Source& source) {
  return {
      .tree = read(in.tree(), source),
      .parent = ProcessorId{in.parent()},
      .children = read_ids(in.children(), source, "TreeStatus.children"),
      .distance_to_root = source.duration(in.distance_to_root(), "TreeStatus.distance_to_root")};
}

void write(const runtime::TreeQuestion& in, pb::TreeQuestion& out) {
  const auto& [root, size] = in;
  out.set_root(root.value);
  out.set_size(size);
}

runtime::TreeQuestion read(const pb::TreeQuestion& in, Source& source) {
  source.require(in.size() < kSizeClasses, "TreeQuestion.size");
  return {.root = ProcessorId{in.root()}, .size = static_cast<SizeClass>(in.size() % kSizeClasses)};
}

void write(const runtime::ProcessorStatus& in, pb::ProcessorStatus& out, Sink& sink) {
  const auto& [id, view, links, trees, jobs, counters, detours, asked_trees, leaving] = in;
  out.set_id(id.value);
  out.set_view(view);
  out.set_links(links);
  out.set_trees(trees);
  write_list(jobs, out.mutable_jobs(), sink);
  write_list(counters, out.mutable_counters(), sink);
  write_list(detours, out.mutable_detours(), sink);
  write_list(asked_trees, out.mutable_asked_trees(), sink);
  write_text(leaving, out.mutable_leaving_waits_for());
}

runtime::ProcessorStatus read(const pb::ProcessorStatus& in, Source& source) {
  return {.id = ProcessorId{in.id()},
          .view = in.view(),
          .links = in.links(),
          .trees = in.trees(),
          .jobs = read_list(in.jobs(), source, "ProcessorStatus.jobs"),
          .counters = read_list(in.counters(), source, "ProcessorStatus.counters"),
          .detours = read_list(in.detours(), source, "ProcessorStatus.detours"),
          .asked_trees = read_list(in.asked_trees(), source, "ProcessorStatus.asked_trees"),
          .leaving_waits_for =
              source.text(in.leaving_waits_for(), "ProcessorStatus.leaving_waits_for")};
}

}  // namespace phx::wire
