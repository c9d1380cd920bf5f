#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "runtime/messages/contents.h"
#include "runtime/messages/parcels.h"
#include "runtime/messages/weight.h"
#include "tests/support/seeds.h"
#include "tests/wire/families.h"

namespace phx::wire::codec_test {
namespace {

using runtime::Frame;
using runtime::ToDaemon;

/// Whether the message comes back as it was after encoding and decoding.
template <class Top>
bool comes_back(Encoder& encoder, Decoder& decoder, const Top& message) {
  const Encoded encoded = encoder.encode(message);
  const auto decoded = FamilyOf<Top>::decode(decoder, header_of(encoded), payload_of(encoded));
  return decoded.ok() && decoded.value() == message;
}

template <class Top>
void check_round_trips() {
  Encoder encoder;
  Decoder decoder;
  for (std::uint64_t seed = 0; seed < support::seeds(300); ++seed) {
    CAPTURE(seed);
    support::RandomMessages random(seed);
    for (std::size_t kind = 0; kind < FamilyOf<Top>::kKinds; ++kind) {
      CAPTURE(kind);
      CHECK(comes_back(encoder, decoder, FamilyOf<Top>::make(random, kind)));
    }
  }
}

template <class Top>
void check_truncation() {
  Encoder encoder;
  Decoder decoder;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    CAPTURE(seed);
    support::RandomMessages random(seed);
    for (std::size_t kind = 0; kind < FamilyOf<Top>::kKinds; ++kind) {
      const Encoded encoded = encoder.encode(FamilyOf<Top>::make(random, kind));
      const Payload payload = payload_of(encoded);
      const Decoder::Header header = header_of(encoded);
      for (std::size_t size = 0; size < header.size(); ++size) {
        const auto decoded = FamilyOf<Top>::decode(decoder, header.first(size), payload);
        if (decoded.ok()) CHECK(comes_back(encoder, decoder, decoded.value()));
      }
      for (std::size_t size = 0; size < payload.size(); ++size) {
        CHECK_FALSE(FamilyOf<Top>::decode(decoder, header, payload.slice(0, size)).ok());
      }
      Bytes longer(payload.bytes().begin(), payload.bytes().end());
      longer.push_back(std::byte{1});
      CHECK_FALSE(FamilyOf<Top>::decode(decoder, header, Payload(longer)).ok());
    }
  }
}

template <class Top>
void check_bit_flips() {
  Encoder encoder;
  Decoder decoder;
  for (std::size_t kind = 0; kind < FamilyOf<Top>::kKinds; ++kind) {
    CAPTURE(kind);
    support::RandomMessages random(kind);
    const Encoded encoded = encoder.encode(FamilyOf<Top>::make(random, kind));
    const Payload payload = payload_of(encoded);
    Bytes header(header_of(encoded).begin(), header_of(encoded).end());
    // Seven shares no factor with eight, so that each bit of a byte has its turn.
    constexpr std::size_t kStep = support::kIsSanitized ? 7 : 1;
    for (std::size_t bit = 0; bit < 8 * header.size(); bit += kStep) {
      const std::byte mask{static_cast<unsigned char>(1U << (bit % 8))};
      header[bit / 8] ^= mask;
      const auto decoded = FamilyOf<Top>::decode(decoder, header, payload);
      if (decoded.ok()) CHECK(comes_back(encoder, decoder, decoded.value()));
      header[bit / 8] ^= mask;
    }
  }
}

TEST_CASE("every message comes back as it was") {
  for_all_families([](auto family) { check_round_trips<typename decltype(family)::Top>(); });
}

TEST_CASE("the size of a frame is known without its bytes") {
  Encoder encoder;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    support::RandomMessages random(seed);
    for (std::size_t kind = 0; kind < FamilyOf<Frame>::kKinds; ++kind) {
      CAPTURE(kind);
      const Frame frame = FamilyOf<Frame>::make(random, kind);
      CHECK(encoder.size(frame) == encoder.encode(frame).size());
    }
  }
}

TEST_CASE("a truncated header or payload is refused or harmless, at every byte") {
  for_all_families([](auto family) { check_truncation<typename decltype(family)::Top>(); });
}

TEST_CASE("flipped bits in a header give an error or another valid message") {
  for_all_families([](auto family) { check_bit_flips<typename decltype(family)::Top>(); });
}

TEST_CASE("the worked example of the document is what is written") {
  constexpr std::array<unsigned char, 18> kExample{0xf5, 0x01, 0x0d, 0x00, 0x02, 0x00,
                                                   0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
                                                   0x7e, 0x75, 0x7a, 0x62, 0x10, 0x03};
  Encoder encoder;

  const Bytes bytes = flatten(encoder.encode(Frame{0, 3, std::nullopt}));

  REQUIRE(bytes.size() == kExample.size());
  CHECK(std::ranges::equal(bytes, std::as_bytes(std::span(kExample))));
}

TEST_CASE("a set of processors that names more than there can be is refused") {
  Encoder encoder;
  Decoder decoder;
  for (const bool is_sound : {true, false}) {
    runtime::JobStart start;
    const ProcessorId last{is_sound ? std::uint32_t{kListMax} : 0xffffffffU};
    start.processors = ProcessorSet::range(ProcessorId{1}, last);
    const Encoded encoded = encoder.encode(Frame{1, 0, start});
    CHECK(encoded.size() < 100);
    CHECK(decoder.frame(header_of(encoded), payload_of(encoded)).ok() == is_sound);
  }
}

TEST_CASE("what a job is started with is counted before it is sent, however long it is") {
  Encoder encoder;
  runtime::JobSpec spec;
  spec.vnodes = 4;
  spec.directory = std::string(5'000, 'd');
  for (int i = 0; i < 100; ++i) {
    spec.command.push_back(std::string(1'000, 'c'));
    spec.environment.push_back("NAME=" + std::string(1'000, 'e'));
  }
  runtime::JobStage stage;
  stage.exit.detail = std::string(3'000, 'x');
  runtime::JobStart start;
  start.spec = spec;
  runtime::JobHome home;
  home.stages.put(ProcessorId{1}, stage);
  runtime::ViewInstall install;
  install.gone.push_back({ProcessorId{1}, runtime::Departure::kSilent, std::string(2'000, 'g')});
  for (const runtime::Envelope& envelope :
       {runtime::Envelope{runtime::JobRequest{1, spec}}, runtime::Envelope{start},
        runtime::Envelope{home}, runtime::Envelope{install}}) {
    const std::uint64_t size = encoder.encode(Frame{1, 0, envelope}).size();
    CHECK(weight_of(envelope).total() >= size);
    CHECK(weight_of(envelope).total() < size + size / 10);
  }
}

TEST_CASE("payloads of a decoded message are slices of what was received") {
  Encoder encoder;
  Decoder decoder;
  runtime::Migrate migrate{JobId{1}, {}};
  for (std::uint64_t id = 0; id < 3; ++id) {
    runtime::VnodeParcel parcel{.vnode = VnodeId{id}, .epoch = 2, .bundle = {}};
    parcel.bundle.state = Payload::copy_of("state " + std::to_string(id));
    migrate.parcels.push_back(parcel);
  }

  const Encoded encoded = encoder.encode(Frame{1, 0, migrate});
  const Payload received = payload_of(encoded);
  const auto decoded = decoder.frame(header_of(encoded), received);

  CHECK(encoded.tail.size() == 3);
  CHECK(encoded.tail[1].bytes().data() == migrate.parcels[1].bundle.state->bytes().data());
  REQUIRE(decoded.ok());
  const auto& parcels = std::get<runtime::Migrate>(*decoded.value().envelope).parcels;
  CHECK(parcels[2].bundle.state->bytes().data() == received.bytes().data() + 14);
}

TEST_CASE("a vnode whose contents take another way is the same when it has them again") {
  constexpr std::size_t kMigrate = 17;
  Encoder encoder;
  Decoder decoder;
  std::uint64_t taken_out = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(300); ++seed) {
    CAPTURE(seed);
    support::RandomMessages random(seed);
    Frame frame = random.frame(kMigrate);
    for (const auto& parcel : std::get<runtime::Migrate>(*frame.envelope).parcels) {
      runtime::Migrate bare{JobId{1}, {parcel}, 3, 0};
      runtime::VnodeBundle& bundle = bare.parcels[0].bundle;
      const auto contents = runtime::contents_of(bundle);
      for (const Payload& content : contents) taken_out += content.size();
      runtime::drop_contents(bundle);
      CHECK(runtime::weight_of(bundle).payload == 0);

      const Encoded encoded = encoder.encode(Frame{1, 0, bare});
      auto read = decoder.frame(header_of(encoded), payload_of(encoded));
      REQUIRE(read.ok());
      auto& back = std::get<runtime::Migrate>(*read.value().envelope).parcels[0];
      REQUIRE(runtime::put_contents(back.bundle, contents));
      CHECK(back == parcel);
    }
  }
  CHECK(taken_out > 0);
}

TEST_CASE("a small message costs few bytes, whatever the number of vnodes in contiguous ranges") {
  Encoder encoder;
  const runtime::CollectiveMessage copy{
      JobId{1}, collectives::TreeCopy{.tree = {.root = ProcessorId{3}, .kind = TreeKind::kLatency},
                                      .hops_left = 20,
                                      .vnodes = VnodeSet::range(VnodeId{0}, VnodeId{999'999}),
                                      .piece = {.root = VnodeId{7},
                                                .number = 3,
                                                .tag = 0,
                                                .purpose = {},
                                                .rest_bits = 0,
                                                .payload = Payload::copy_of("x")}}};

  CHECK(encoder.encode(Frame{1, 0, copy}).size() <= kPrefixBytes + 36 + 1);
}

TEST_CASE("a text that is too long is cut, so that it never costs a connection") {
  Encoder encoder;
  Decoder decoder;
  const ToDaemon waiting = runtime::AppWaiting{std::string(kTextMax + 10, 'x')};

  const Encoded encoded = encoder.encode(waiting);
  const auto decoded = decoder.to_daemon(header_of(encoded), {});

  REQUIRE(decoded.ok());
  CHECK(std::get<runtime::AppWaiting>(decoded.value()).what.size() == kTextMax);
}

TEST_CASE("a vnode id beyond the limit is refused, and the error names the field") {
  Encoder encoder;
  Decoder decoder;
  runtime::PointToPoint message;
  message.to = VnodeId{kVnodeIdEnd};

  const Encoded encoded = encoder.encode(ToDaemon{runtime::AppSend{message}});
  const auto decoded = decoder.to_daemon(header_of(encoded), {});

  REQUIRE_FALSE(decoded.ok());
  CHECK(decoded.error().code == ErrorCode::kBadInput);
  CHECK(decoded.error().what.find("PointToPoint.to") != std::string::npos);
}

TEST_CASE("a number of more than 64 bits is refused where a broadcast says what follows") {
  for (const std::uint8_t bits : {std::uint8_t{64}, std::uint8_t{65}}) {
    Encoder encoder;
    Decoder decoder;
    runtime::BroadcastDelivery delivery;
    delivery.piece.rest_bits = bits;

    const Encoded encoded =
        encoder.encode(runtime::ToApplication{runtime::AppDeliver{1, delivery}});
    const auto decoded = decoder.to_application(header_of(encoded), {});

    CHECK(decoded.ok() == (bits == 64));
    if (!decoded.ok()) CHECK(decoded.error().what.find("rest_bits") != std::string::npos);
  }
}

namespace {

/// Whether a vnode that moves with this in its stream from v1 is taken, and from broadcasts of v1.
struct Taken {
  bool as_message = false;
  bool as_broadcast = false;
  friend bool operator==(const Taken&, const Taken&) = default;
};

Taken taken(std::uint64_t next, std::uint64_t number, const runtime::Delivery& early) {
  const auto is_taken = [&](bool is_broadcast) {
    runtime::VnodeParcel parcel{VnodeId{2}, 1, {}};
    auto& streams = is_broadcast ? parcel.bundle.from_roots : parcel.bundle.from_vnodes;
    streams[VnodeId{1}] = {next, {}, {{number, early}}};
    Encoder encoder;
    Decoder decoder;
    const Encoded encoded = encoder.encode(Frame{1, 0, runtime::Migrate{JobId{1}, {parcel}}});
    const auto frame = decoder.frame(header_of(encoded), payload_of(encoded));
    if (!frame.ok()) CHECK(frame.error().what.find("Inbound.early") != std::string::npos);
    return frame.ok();
  };
  return {is_taken(false), is_taken(true)};
}

}  // namespace

TEST_CASE("pieces that no honest peer has in a stream are refused: kind, sender and number") {
  runtime::PointToPoint message;
  message.from = VnodeId{1};
  message.to = VnodeId{2};
  message.seq = 7;
  runtime::BroadcastDelivery broadcast{VnodeSet{VnodeId{2}}, {}};
  broadcast.piece.root = VnodeId{1};
  broadcast.piece.number = 7;

  CHECK(taken(5, 7, message) == Taken{true, false});
  CHECK(taken(5, 7, broadcast) == Taken{false, true});
  CHECK(taken(5, 7, collectives::ReductionToken{{VnodeId{1}, 7}, {}, {}, false}) == Taken{});
  CHECK(taken(6, 7, message) == Taken{true, false});
  CHECK(taken(7, 7, message) == Taken{});  // it would not be early
  CHECK(taken(7, 7, broadcast) == Taken{});
  CHECK(taken(5, 8, message) == Taken{});
  CHECK(taken(5, 8, broadcast) == Taken{});
  message.from = VnodeId{3};
  broadcast.piece.root = VnodeId{3};
  CHECK(taken(5, 7, message) == Taken{});
  CHECK(taken(5, 7, broadcast) == Taken{});
}

TEST_CASE("a frame has a number exactly if it has an envelope") {
  Encoder encoder;
  Decoder decoder;
  const Encoded unnumbered = encoder.encode(Frame{0, 5, runtime::Heartbeat{}});
  const Encoded empty = encoder.encode(Frame{4, 5, std::nullopt});

  CHECK_FALSE(decoder.frame(header_of(unnumbered), {}).ok());
  CHECK_FALSE(decoder.frame(header_of(empty), {}).ok());
}

TEST_CASE("a moving vnode takes no more of a header than it is reckoned to, by its large numbers") {
  const VnodeId far{(std::uint64_t{1} << 24U) - 1};
  const VnodeId farther{far.value - 1};
  const std::uint64_t number = std::uint64_t{1} << 48U;
  const std::uint32_t tag = 0xffff'ffff;
  const VnodeSet covered = VnodeSet{VnodeId{1}}.united(VnodeSet{far});
  std::array<runtime::VnodeBundle, 7> bundles;  // with one list each
  for (std::uint64_t i = 1; i <= 100; ++i) {
    bundles[0].mailbox.push_back({runtime::Message::Kind::kReduced, far, number, tag, {}});
    auto& flow = bundles[1].to_vnodes[VnodeId{i << 16U}];
    flow.next = flow.emitted = flow.offset = flow.limit = number;
    flow.received = number - 1;
    flow.kept.push_back({far, VnodeId{i << 16U}, number - 1, tag, number, {}});
    bundles[2].reductions[VnodeId{i << 16U}] = number;
    bundles[3].as_target.pending[number + i].parts.push_back({covered, {}});
    bundles[4].from_vnodes[far].begun.emplace_back();
    bundles[5].from_vnodes[far].early[number + i] =
        runtime::PointToPoint{far, farther, number + i, tag, number, {}};
    bundles[6].from_roots[far].early[number + i] = runtime::BroadcastDelivery{
        VnodeSet{farther}, {far, number + i, tag, collectives::Purpose::kAllreduce, true, {}}};
  }

  for (std::size_t list = 0; list < bundles.size(); ++list) {
    CAPTURE(list);
    Encoder encoder;
    const runtime::VnodeParcel parcel{far, number, bundles[list]};
    const Encoded encoded = encoder.encode(Frame{1, 0, runtime::Migrate{JobId{1}, {parcel}}});
    CHECK(header_of(encoded).size() <= weight_of(parcel).total());
  }
}

TEST_CASE("what is beyond the receiver's limits is known before it is sent") {
  Encoder encoder;
  const Encoded encoded = encoder.encode(ToDaemon{runtime::AppSend{
      {.from = {}, .to = {}, .seq = 0, .tag = 0, .rest = 0, .payload = Payload(Bytes(1000))}}});

  CHECK(is_within(encoded, {}));
  CHECK(is_within(encoded, {.header_max = 100, .payload_max = 1000}));
  CHECK_FALSE(is_within(encoded, {.header_max = 100, .payload_max = 999}));
  CHECK_FALSE(is_within(encoded, {.header_max = 4, .payload_max = 1000}));
}

}  // namespace
}  // namespace phx::wire::codec_test
