#include "runtime/channels/stream.h"
#include "runtime/messages/weight.h"

#include <doctest/doctest.h>

namespace phx::runtime::stream_test {

TEST_SUITE_BEGIN("runtime/stream");

TEST_CASE("envelopes are numbered from 1 and kept until they are confirmed") {
  Stream stream;
  CHECK(stream.push(StatusQuestion{10}) == 1);
  CHECK(stream.push(StatusQuestion{20}) == 2);
  CHECK(stream.frame(2) == Frame{2, 0, StatusQuestion{20}});

  CHECK(stream.on_acknowledged(1));

  CHECK(stream.acknowledged() == 1);
  CHECK(stream.last_sent() == 2);
  CHECK(stream.frame(2) == Frame{2, 0, StatusQuestion{20}});
  CHECK(stream.on_acknowledged(2));
  CHECK(stream.all_acknowledged());
  CHECK(stream.kept_bytes() == 0);
}

TEST_CASE("a confirmation may come late, but never too early") {
  Stream stream;
  stream.push(StatusQuestion{1});
  stream.push(StatusQuestion{2});
  CHECK(stream.on_acknowledged(2));

  CHECK(stream.on_acknowledged(1));
  CHECK(stream.acknowledged() == 2);
  CHECK(!stream.on_acknowledged(3));
}

TEST_CASE("arrivals are next, duplicate or a gap") {
  Stream stream;
  CHECK(stream.on_arrived(2) == Stream::Arrival::kGap);
  CHECK(stream.on_arrived(1) == Stream::Arrival::kNext);
  CHECK(stream.on_arrived(1) == Stream::Arrival::kDuplicate);
  CHECK(stream.on_arrived(2) == Stream::Arrival::kNext);
  CHECK(stream.received() == 2);
  CHECK(stream.acknowledgement() == Frame{0, 2, std::nullopt});
}

TEST_CASE("the payloads inside an envelope are counted") {
  const Payload kilobyte(Bytes(1000));
  PointToPoint piece;
  piece.payload = kilobyte;
  VnodeParcel parcel;
  parcel.bundle.state = kilobyte;
  parcel.bundle.mailbox.push_back(Message{Message::Kind::kPointToPoint, {}, 0, 0, kilobyte});

  CHECK(weight_of(Envelope{VnodeMessage{JobId{1}, 0, piece}}).total() > 1000);
  CHECK(weight_of(Envelope{Migrate{JobId{1}, {parcel}}}).total() > 2000);
  CHECK(weight_of(Envelope{Heartbeat{}}).total() < 200);
}

TEST_SUITE_END();

}  // namespace phx::runtime::stream_test
