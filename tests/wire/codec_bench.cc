#include <benchmark/benchmark.h>

#include "tests/wire/families.h"

/// What one small message of the hot path costs. Run by hand: <build>/bin/phx_codec_bench.
namespace phx::wire {
namespace {

runtime::PointToPoint point_to_point() {
  return {.from = VnodeId{17},
          .to = VnodeId{4211},
          .seq = 12345,
          .tag = 3,
          .rest = 0,
          .payload = Payload::copy_of("sixteen bytes ..")};
}

runtime::Frame vnode_frame() {
  return {.seq = 1000,
          .received = 998,
          .envelope = runtime::VnodeMessage{JobId{1}, 5, point_to_point()}};
}

runtime::Frame tree_frame() {
  return {.seq = 1000,
          .received = 998,
          .envelope = runtime::CollectiveMessage{
              JobId{1}, collectives::TreeCopy{.tree = {.root = ProcessorId{3}, .kind = {}},
                                              .hops_left = 20,
                                              .vnodes = VnodeSet::range(VnodeId{0}, VnodeId{999}),
                                              .piece = {.root = VnodeId{7},
                                                        .number = 3,
                                                        .tag = 0,
                                                        .purpose = {},
                                                        .rest_bits = 0,
                                                        .payload = Payload::copy_of("x")}}}};
}

runtime::ToDaemon app_send() {
  return runtime::AppSend{point_to_point()};
}
runtime::ToApplication app_deliver() {
  return runtime::AppDeliver{77, point_to_point()};
}

template <class Top>
void encode(benchmark::State& state, Top (*make)()) {
  const Top message = make();
  Encoder encoder;
  for (auto _ : state) benchmark::DoNotOptimize(encoder.encode(message));
}

template <class Top>
void decode(benchmark::State& state, Top (*make)()) {
  Encoder encoder;
  Decoder decoder;
  const Encoded encoded = encoder.encode(make());
  const Payload payload = payload_of(encoded);
  for (auto _ : state) {
    benchmark::DoNotOptimize(FamilyOf<Top>::decode(decoder, header_of(encoded), payload));
  }
}

void frame_reader(benchmark::State& state) {
  Encoder encoder;
  const Bytes bytes = flatten(encoder.encode(vnode_frame()));
  FrameReader reader(Family::kFrame);
  for (auto _ : state) {
    std::span<const std::byte> left = bytes;
    benchmark::DoNotOptimize(reader.consume(left));
    benchmark::DoNotOptimize(reader.take_payload());
    reader.next();
  }
}

BENCHMARK_CAPTURE(encode, frame_with_vnode_message, vnode_frame);
BENCHMARK_CAPTURE(decode, frame_with_vnode_message, vnode_frame);
BENCHMARK_CAPTURE(encode, frame_with_tree_copy, tree_frame);
BENCHMARK_CAPTURE(decode, frame_with_tree_copy, tree_frame);
BENCHMARK_CAPTURE(encode, app_send, app_send);
BENCHMARK_CAPTURE(decode, app_send, app_send);
BENCHMARK_CAPTURE(encode, app_deliver, app_deliver);
BENCHMARK_CAPTURE(decode, app_deliver, app_deliver);
BENCHMARK(frame_reader);

}  // namespace
}  // namespace phx::wire
BENCHMARK_MAIN();
