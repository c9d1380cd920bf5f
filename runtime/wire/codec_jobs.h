#pragma once

#include "runtime/messages/messages.h"
#include "runtime/wire/codec_parts.h"
#include "runtime/wire/phoenix.pb.h"

namespace phx::wire {

using Stages = runtime::JobStages;
void write_stages(const Stages& stages, Entries<pb::ProcessorStage>* out, Sink& sink);
[[nodiscard]] Stages read_stages(const Entries<pb::ProcessorStage>& in, Source& source,
                                 const char* field);

void write(const runtime::JobSpec& in, pb::JobSpec& out, Sink& sink);
void write(const runtime::JobRequest& in, pb::JobRequest& out, Sink& sink);
void write(const runtime::JobStart& in, pb::JobStart& out, Sink& sink);
void write(const runtime::JobStage& in, pb::JobStage& out, Sink& sink);
void write(const runtime::JobEnd& in, pb::JobEnd& out, Sink& sink);
void write(const runtime::Output& in, pb::Output& out, Sink& sink);
void write(const runtime::JobHome& in, pb::JobHome& out, Sink& sink);
void write(const runtime::JobStatus& in, pb::JobStatus& out, Sink& sink);
void write(const runtime::Counter& in, pb::Counter& out, Sink& sink);
void write(const runtime::DetourStatus& in, pb::DetourStatus& out, Sink& sink);
void write(const runtime::TreeStatus& in, pb::TreeStatus& out, Sink& sink);
void write(const runtime::TreeQuestion& in, pb::TreeQuestion& out);
void write(const runtime::ProcessorStatus& in, pb::ProcessorStatus& out, Sink& sink);
[[nodiscard]] runtime::JobSpec read(const pb::JobSpec& in, Source& source);
[[nodiscard]] runtime::JobRequest read(const pb::JobRequest& in, Source& source);
[[nodiscard]] runtime::JobStart read(const pb::JobStart& in, Source& source);
[[nodiscard]] runtime::JobStage read(const pb::JobStage& in, Source& source);
[[nodiscard]] runtime::JobEnd read(const pb::JobEnd& in, Source& source);
[[nodiscard]] runtime::Output read(const pb::Output& in, Source& source);
[[nodiscard]] runtime::JobHome read(const pb::JobHome& in, Source& source);
[[nodiscard]] runtime::JobStatus read(const pb::JobStatus& in, Source& source);
[[nodiscard]] runtime::Counter read(const pb::Counter& in, Source& source);
[[nodiscard]] runtime::DetourStatus read(const pb::DetourStatus& in, Source& source);
[[nodiscard]] runtime::TreeStatus read(const pb::TreeStatus& in, Source& source);
[[nodiscard]] runtime::TreeQuestion read(const pb::TreeQuestion& in, Source& source);
[[nodiscard]] runtime::ProcessorStatus read(const pb::ProcessorStatus& in, Source& source);

}  // namespace phx::wire
