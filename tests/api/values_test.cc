#include "runtime/api/values.h"

#include <doctest/doctest.h>

#include <deque>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "runtime/api/message.h"
#include "runtime/api/reduce.h"
#include "runtime/api/vnode_values.h"

/// Somebody else's types.
namespace geometry {

class Angle {
 public:
  Angle() = default;
  explicit Angle(double degrees) : degrees_(new double(degrees)) {}
  [[nodiscard]] double degrees() const { return degrees_ ? *degrees_ : 0; }

 private:
  std::shared_ptr<double> degrees_;
};

/// How they travel is said by whoever uses them.
void state(auto& io, Angle& angle) {
  double degrees = angle.degrees();
  io(degrees);
  angle = Angle(degrees);
}

}  // namespace geometry

namespace phx::values_test {
namespace {

struct Point {
  std::int32_t x = 0, y = 0;
  friend bool operator==(const Point&, const Point&) = default;
};

/// Not Plain: it says what its state is.
struct Board {
  std::string name;
  std::vector<Point> stones;
  std::map<int, std::vector<std::string>> notes;
  std::optional<double> score;
  std::array<std::string, 2> players;
  std::vector<bool> flags;

  void state(auto& io) { io(name, stones, notes, score, players, flags); }
  friend bool operator==(const Board&, const Board&) = default;
};

struct Cells {
  int count = 0;
  double* first = nullptr;
};
struct Line {
  char name[24] = {};
  Cells cells;
  std::string_view label;
};
struct Callback {
  void (*call)(int) = nullptr;
};
struct Alias {
  int& number;
};
struct Table : Point {
  std::array<Point, 4> points;
  double cells[1000] = {};
  std::optional<int> best;
};

/// Plain but for what it says: its descriptor means nothing elsewhere.
struct Device {
  int descriptor = -1;
  double reading = 0;
  void state(auto& io) { io(reading); }
};

/// One can go through its cells as through an array, but that is not all of it.
struct Grid {
  int width = 0;
  std::vector<double> cells;
  [[nodiscard]] auto begin() const { return cells.begin(); }
  [[nodiscard]] auto end() const { return cells.end(); }
  void state(auto& io) { io(width, cells); }
  friend bool operator==(const Grid&, const Grid&) = default;
};
/// It can be read as a text, but that is not all of it.
struct Label : std::string {
  int color = 0;
  void state(auto& io) { io(static_cast<std::string&>(*this), color); }
};
/// More than the map that it is.
struct Index : std::map<int, int> {
  int extra = 0;
};

template <class T>
T round_trip(const T& value) {
  return decode<T>(encode(value));
}

}  // namespace

TEST_SUITE_BEGIN("api/values");

TEST_CASE("numbers, structs and arrays are their bytes") {
  const std::vector<float> floats{1, 2, 3};

  CHECK(encode(std::int32_t{7}).size() == 4);
  CHECK(encode(floats).size() == 12);
  CHECK(encode(std::span(floats)) == encode(floats));
  CHECK(encode(std::string("text")).text() == "text");
  CHECK(encode("text").text() == "text");
  CHECK(round_trip(Point{1, -2}) == Point{1, -2});
  CHECK(round_trip(floats) == floats);
  CHECK(round_trip(std::vector<Point>{}) == std::vector<Point>{});
}

TEST_CASE("what refers to the memory of this process is no value") {
  CHECK(Plain<Point>);
  CHECK(Plain<Table>);
  CHECK_FALSE(Plain<int*>);
  CHECK_FALSE(Plain<Cells>);
  CHECK_FALSE(Plain<Line>);
  CHECK_FALSE(Plain<Callback>);
  CHECK_FALSE(Plain<Alias>);
  CHECK_FALSE(Plain<std::string_view>);
  CHECK_FALSE(Stateful<Cells, Writer>);
  CHECK(Stateful<Board, Writer>);
  CHECK(Stateful<Board, Reader>);
}

TEST_CASE("elements are read wherever they lie") {
  struct alignas(64) Row {
    double cells[8] = {};
    bool operator==(const Row&) const = default;
  };
  const std::vector<double> numbers{1.5, -2.5, 3.25};
  const std::vector<Row> rows{{{1, 2}}, {{3, 4}}};
  for (std::size_t offset = 0; offset < 9; ++offset) {
    CAPTURE(offset);
    const auto shifted = [&](const Payload& value) {
      Bytes bytes(offset);
      bytes.insert(bytes.end(), value.bytes().begin(), value.bytes().end());
      return Payload(std::move(bytes)).slice(offset, value.size());
    };
    CHECK(decode<std::vector<double>>(shifted(encode(numbers))) == numbers);
    CHECK(decode<std::vector<Row>>(shifted(encode(rows))) == rows);
  }
}

TEST_CASE("a payload is passed on without a copy") {
  const Payload payload = Payload::copy_of("bytes");

  CHECK(encode(payload).bytes().data() == payload.bytes().data());
}

TEST_CASE("what has a state is written and read by it") {
  const Board board{"go", {{1, 2}, {3, 4}}, {{5, {"a", ""}}}, 1.5, {"x", "y"}, {true, false}};

  CHECK(round_trip(board) == board);
  CHECK(round_trip(Board{}) == Board{});
  CHECK(round_trip(std::vector<Board>{board, {}}) == std::vector<Board>{board, {}});
}

TEST_CASE("who says what travels is asked, also if the bytes could travel as they are") {
  CHECK_FALSE(Plain<Device>);
  CHECK(encode(Device{3, 1.5}).size() == sizeof(double));
  CHECK(round_trip(Device{3, 1.5}).descriptor == -1);
  CHECK(round_trip(Device{3, 1.5}).reading == 1.5);
  CHECK(round_trip(std::vector<Device>{{3, 1.5}, {4, 2.5}})[1].descriptor == -1);
  CHECK(round_trip(std::optional<Device>{{3, 1.5}})->descriptor == -1);
  CHECK(round_trip(std::array<Device, 2>{Device{3, 1.5}, {}})[0].descriptor == -1);
}

TEST_CASE("what looks like a container and is more is none") {
  CHECK(round_trip(Grid{2, {1, 2, 3, 4}}) == Grid{2, {1, 2, 3, 4}});
  CHECK(round_trip(std::vector<Grid>{{1, {5}}})[0] == Grid{1, {5}});
  CHECK(Collection<std::map<int, int>>);
  CHECK_FALSE(Collection<Index>);
}

TEST_CASE("an array of char is a text up to its first zero, or to its end") {
  struct {
    char full[4] = {'f', 'u', 'l', 'l'};
    char behind[4] = "not";
  } const arrays;
  const char padded[8] = "pad";

  CHECK(encode(arrays.full).text() == "full");
  CHECK(encode(padded).text() == "pad");
  CHECK(encode(std::array<char, 4>{'a'}).size() == 4);
}

TEST_CASE("what is a text and says what travels besides is asked") {
  Label label;
  label.assign("red");
  label.color = 5;

  CHECK(round_trip(label) == "red");
  CHECK(round_trip(label).color == 5);
}

TEST_CASE("what a collective cannot read is told with the call and the vnode") {
  CHECK_THROWS_WITH_AS(
      static_cast<void>(decode_all<double>("gather: the value of", {encode(1.0), encode(1)})),
      "gather: the value of v1: a message of 4 bytes is not what was asked for: values of 8 bytes",
      Failure);
}

TEST_CASE("the containers of the standard library travel") {
  const std::deque<std::string> queue{"a", "", "c"};
  const std::list<std::vector<int>> list{{1, 2}, {}};
  const std::set<std::string> names{"x", "y"};
  const std::multimap<int, std::string> many{{1, "a"}, {1, "b"}, {2, ""}};
  const std::unordered_map<std::string, std::deque<int>> by_name{{"one", {1}}, {"none", {}}};
  const std::unordered_set<int> numbers{3, 1, 2};
  const std::tuple<int, std::string, std::optional<double>> three{1, "two", 3.0};

  CHECK(round_trip(queue) == queue);
  CHECK(round_trip(list) == list);
  CHECK(round_trip(names) == names);
  CHECK(round_trip(many) == many);
  CHECK(round_trip(by_name) == by_name);
  CHECK(round_trip(numbers) == numbers);
  CHECK(round_trip(three) == three);
  CHECK(round_trip(std::deque<int>{}).empty());
  CHECK(round_trip(std::pair(queue, names)) == std::pair(queue, names));
  const Payload whole = encode(queue);
  CHECK_THROWS_AS(
      static_cast<void>(decode<std::deque<std::string>>(whole.slice(0, whole.size() - 1))),
      Failure);
  const auto too_many = std::numeric_limits<std::size_t>::max() / 2;
  CHECK_THROWS_AS(static_cast<void>(decode<std::deque<std::string>>(encode(too_many))), Failure);
}

TEST_CASE("a type that is not one's own travels by a function beside it") {
  CHECK(round_trip(std::vector<geometry::Angle>{geometry::Angle(90)})[0].degrees() == 90);
  CHECK(round_trip(std::map<int, geometry::Angle>{{1, geometry::Angle(45)}})[1].degrees() == 45);
}

TEST_CASE("bytes that cannot be of the type are an error and cost no memory") {
  CHECK_THROWS_WITH_AS(static_cast<void>(decode<std::int64_t>(encode(std::int32_t{1}))),
                       "a message of 4 bytes is not what was asked for: values of 8 bytes",
                       Failure);
  const Message message{
      .to = 1, .from = 2, .tag = 7, .kind = Kind::kPointToPoint, .payload = encode(1)};
  CHECK_THROWS_WITH_AS(static_cast<void>(message.as<double>()),
                       "from v2 to v1, of tag 7: a message of 4 bytes is not what was asked for: "
                       "values of 8 bytes",
                       Failure);
  CHECK_THROWS_AS(static_cast<void>(decode<std::vector<double>>(Payload::copy_of("123456789"))),
                  Failure);
  const auto too_many = std::numeric_limits<std::size_t>::max() / 2;
  CHECK_THROWS_AS(static_cast<void>(decode<Board>(encode(too_many))), Failure);
  CHECK_THROWS_AS(static_cast<void>(decode<Board>(Payload())), Failure);
  Writer out;
  out(Board{}, 1);
  CHECK_THROWS_AS(static_cast<void>(decode<Board>(Payload(out.take()))), Failure);
}

TEST_CASE("every arithmetic type has its reduction type") {
  using enum collectives::ReduceType;

  CHECK(reduce_type<char>() == (std::is_signed_v<char> ? kInt8 : kUint8));
  CHECK(reduce_type<bool>() == kUint8);
  CHECK(reduce_type<long>() == kInt64);
  CHECK(reduce_type<unsigned long long>() == kUint64);
  CHECK(reduce_type<float>() == kFloat);
  CHECK(reduction<std::vector<double>>(sum, true).kind.type == kDouble);
}

/// Names the members of its heir.
template <class Heir>
struct NamesAll {
  void state(auto& io) { static_cast<Heir&>(*this).members(io); }
};
struct Heir : NamesAll<Heir> {
  std::string text;
  void members(auto& io) { io(text); }
};
struct Longer : Heir {
  std::string more;
  void state(auto& io) {
    Heir::state(io);
    io(more);
  }
};

TEST_CASE("a base class may name the members of its heir, and an heir its own beside them") {
  Heir heir;
  heir.text = "all";
  CHECK(decode<Heir>(encode(heir)).text == "all");
  Longer longer;
  longer.text = "all";
  longer.more = "this";
  CHECK(decode<Longer>(encode(longer)).text == "all");
  CHECK(decode<Longer>(encode(longer)).more == "this");
}

TEST_CASE("truth values are no numbers: they have no sum") {
  CHECK_THROWS_AS(static_cast<void>(reduction<bool>(sum, true)), Failure);
  CHECK_THROWS_AS(static_cast<void>(reduction<std::array<bool, 3>>(ordered(sum), true)), Failure);
  CHECK(reduction<bool>(logical_or, true).kind.op == collectives::ReduceOp::kLogicalOr);
  CHECK(reduction<bool>(max, true).kind.op == collectives::ReduceOp::kMax);
}

TEST_CASE("a user-defined operator works on truth values, alone and in arrays") {
  const auto differ = [](bool a, bool b) { return a != b; };
  const auto one = reduction<bool>(differ, false);
  using Three = std::array<bool, 3>;
  const auto three = reduction<Three>(differ, false);

  CHECK(decode<bool>(one.fold({encode(true), encode(false), encode(false)})));
  CHECK_FALSE(decode<bool>(one.fold({encode(true), encode(true)})));
  CHECK(three.element_bytes == 1);
  CHECK(decode<Three>(three.fold({encode(Three{true, true, false}), encode(Three{false, true})})) ==
        Three{true, false, false});
}

TEST_CASE("a user-defined operator works element by element") {
  const auto r = reduction<std::vector<int>>([](int a, int b) { return 10 * a + b; }, false);

  CHECK(r.kind.op == collectives::ReduceOp::kUser);
  CHECK(r.element_bytes == sizeof(int));
  CHECK(decode<std::vector<int>>(r.fold({encode(std::vector{1, 2}), encode(std::vector{3, 4})})) ==
        std::vector{13, 24});
  CHECK_THROWS_AS(r.fold({encode(std::vector{1}), encode(std::vector{1, 2})}), Failure);
}

TEST_SUITE_END();

}  // namespace phx::values_test
