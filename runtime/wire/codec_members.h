#pragma once

#include "runtime/messages/messages.h"
#include "runtime/wire/codec_parts.h"
#include "runtime/wire/phoenix.pb.h"

namespace phx::wire {

void write(const runtime::Member& in, pb::Member& out, Sink& sink);
void write(const runtime::View& in, pb::View& out, Sink& sink);
void write(const runtime::ViewChange::Gone& in, pb::Gone& out, Sink& sink);
void write(const runtime::ViewChange& in, pb::ViewChange& out, Sink& sink);
void write(const runtime::Admit& in, pb::Admit& out, Sink& sink);
void write(const runtime::Admitted& in, pb::Admitted& out, Sink& sink);
void write(const runtime::Suspect& in, pb::Suspect& out, Sink& sink);
void write(const runtime::ViewInstall& in, pb::ViewInstall& out, Sink& sink);
[[nodiscard]] runtime::Member read(const pb::Member& in, Source& source);
[[nodiscard]] runtime::View read(const pb::View& in, Source& source);
[[nodiscard]] runtime::ViewChange::Gone read(const pb::Gone& in, Source& source);
[[nodiscard]] runtime::ViewChange read(const pb::ViewChange& in, Source& source);
[[nodiscard]] runtime::Admit read(const pb::Admit& in, Source& source);
[[nodiscard]] runtime::Admitted read(const pb::Admitted& in, Source& source);
[[nodiscard]] runtime::Suspect read(const pb::Suspect& in, Source& source);
[[nodiscard]] runtime::ViewInstall read(const pb::ViewInstall& in, Source& source);

}  // namespace phx::wire
