#include "runtime/wire/codec_members.h"

namespace phx::wire {

void write(const runtime::Member& in, pb::Member& out, Sink& /*sink*/) {
  const auto& [id, incarnation, endpoints, name, leaving, emptied, embedded] = in;
  out.set_id(id.value);
  out.set_incarnation(incarnation);
  write_texts(endpoints, out.mutable_endpoints());
  write_text(name, out.mutable_name());
  out.set_leaving(leaving);
  out.set_emptied(emptied);
  out.set_embedded(embedded);
}

runtime::Member read(const pb::Member& in, Source& source) {
  return {.id = ProcessorId{in.id()},
          .incarnation = in.incarnation(),
          .endpoints = read_texts(in.endpoints(), source, "Member.endpoints"),
          .name = source.text(in.name(), "Member.name"),
          .leaving = in.leaving(),
          .emptied = in.emptied(),
          .embedded = in.embedded()};
}

void write(const runtime::View& in, pb::View& out, Sink& sink) {
  const auto& [number, members, next_processor, next_job, line, relaying_since, origin] = in;
  out.set_number(number);
  for (const auto& entry : members) write(entry.second, *out.add_members(), sink);
  out.set_next_processor(next_processor);
  out.set_next_job(next_job);
  out.set_line(line);
  out.set_relaying_since(relaying_since);
  out.set_origin(origin);
}

runtime::View read(const pb::View& in, Source& source) {
  runtime::View view{.number = in.number(),
                     .members = {},
                     .next_processor = in.next_processor(),
                     .next_job = in.next_job(),
                     .line = in.line(),
                     .relaying_since = in.relaying_since(),
                     .origin = in.origin()};
  if (!source.require_short(in.members(), "View.members")) return view;
  ProcessorId before = kNobody;
  for (const pb::Member& member : in.members()) {
    const ProcessorId id{member.id()};
    source.require(id > before, "View.members");
    if (!source.ok()) break;
    view.members.put(read(member, source));
    before = id;
  }
  return view;
}

void write(const runtime::ViewChange::Gone& in, pb::Gone& out, Sink& /*sink*/) {
  const auto& [id, why, detail] = in;
  out.set_id(id.value);
  out.set_why(static_cast<pb::Departure>(why));
  write_text(detail, out.mutable_detail());
}

runtime::ViewChange::Gone read(const pb::Gone& in, Source& source) {
  return {.id = ProcessorId{in.id()},
          .why = source.choice(in.why(), runtime::Departure::kSilent, "Gone.why"),
          .detail = source.text(in.detail(), "Gone.detail")};
}

void write(const runtime::ViewChange& in, pb::ViewChange& out, Sink& sink) {
  const auto& [number, joined, gone, next_job] = in;
  out.set_number(number);
  for (const runtime::SharedMember& member : joined) write(*member, *out.add_joined(), sink);
  write_list(gone, out.mutable_gone(), sink);
  out.set_next_job(next_job);
}

runtime::ViewChange read(const pb::ViewChange& in, Source& source) {
  std::vector<runtime::SharedMember> joined;
  const bool is_short = source.require_short(in.joined(), "ViewChange.joined");
  for (const pb::Member& member : in.joined()) {
    if (is_short) joined.emplace_back(read(member, source));
  }
  return {.number = in.number(),
          .joined = std::move(joined),
          .gone = read_list(in.gone(), source, "ViewChange.gone"),
          .next_job = in.next_job()};
}

void write(const runtime::Admit& in, pb::Admit& out, Sink& sink) {
  const auto& [newcomer, request] = in;
  write(newcomer, *out.mutable_newcomer(), sink);
  out.set_request(request);
}

runtime::Admit read(const pb::Admit& in, Source& source) {
  return {.newcomer = read(in.newcomer(), source), .request = in.request()};
}

void write(const runtime::Admitted& in, pb::Admitted& out, Sink& /*sink*/) {
  const auto& [request, id, refusal, view, is_final] = in;
  out.set_request(request);
  out.set_id(id.value);
  write_text(refusal, out.mutable_refusal());
  out.set_view(view);
  out.set_is_final(is_final);
}

runtime::Admitted read(const pb::Admitted& in, Source& source) {
  return {.request = in.request(),
          .id = ProcessorId{in.id()},
          .refusal = source.text(in.refusal(), "Admitted.refusal"),
          .view = in.view(),
          .is_final = in.is_final()};
}

void write(const runtime::Suspect& in, pb::Suspect& out, Sink& /*sink*/) {
  const auto& [accused, why, detail, accuser] = in;
  out.set_accused(accused.value);
  out.set_why(static_cast<pb::Departure>(why));
  write_text(detail, out.mutable_detail());
  out.set_accuser(accuser.value);
}

runtime::Suspect read(const pb::Suspect& in, Source& source) {
  return {.accused = ProcessorId{in.accused()},
          .why = source.choice(in.why(), runtime::Departure::kSilent, "Suspect.why"),
          .detail = source.text(in.detail(), "Suspect.detail"),
          .accuser = ProcessorId{in.accuser()}};
}

void write(const runtime::ViewInstall& in, pb::ViewInstall& out, Sink& sink) {
  const auto& [view, gone] = in;
  write(view, *out.mutable_view(), sink);
  write_list(gone, out.mutable_gone(), sink);
}

runtime::ViewInstall read(const pb::ViewInstall& in, Source& source) {
  return {.view = read(in.view(), source),
          .gone = read_list(in.gone(), source, "ViewInstall.gone")};
}

}  // namespace phx::wire
