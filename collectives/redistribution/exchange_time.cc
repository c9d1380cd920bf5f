#include "collectives/redistribution/exchange_time.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace phx::redistribution {
namespace {

// Of all bytes together; a piece is never less than what a link carries at once.
constexpr std::uint64_t kPieces = 4096;
constexpr std::uint64_t kPieceLeast = 65536;

/// Pieces on their way through interfaces and ways.
class Prediction {
 public:
  Prediction(const Schedule& schedule, const Exchange& exchange)
      : exchange_(exchange),
        pacer_(schedule, exchange.bytes, exchange.pace),
        out_(exchange.bytes.processors),
        in_(exchange.bytes.processors),
        between_(exchange.ways.between.size()),
        piece_bytes_(std::max(kPieceLeast, bounds_of(exchange.bytes).total / kPieces)) {}

  Duration run() {
    for (std::size_t i = 0; i < out_.size(); ++i) go_on(i, Duration{});
    while (!pieces_.empty()) {
      const Piece piece = pieces_.top();
      pieces_.pop();
      on_piece(piece);
    }
    return last_;
  }

 private:
  enum class Stage : std::uint8_t { kWay, kEnter, kArrived, kConfirmed };
  /// Or the confirmation of a part.
  struct Piece {
    Duration at{};
    std::uint64_t number = 0;  ///< In the order of their making, so that runs repeat themselves.
    Stage stage = Stage::kWay;
    bool is_last = false;  ///< Of its part.
    std::size_t from = 0;
    std::size_t to = 0;
    std::size_t step = 0;
    std::uint64_t bytes = 0;
    friend bool operator>(const Piece& a, const Piece& b) {
      return std::pair(a.at, a.number) > std::pair(b.at, b.number);
    }
  };

  void put(Piece piece, Duration at, Stage stage) {
    piece.at = at;
    piece.number = next_number_++;
    piece.stage = stage;
    pieces_.push(piece);
  }

  /// Sends what its pace lets it.
  void go_on(std::size_t self, Duration now) {
    for (const auto& [step, part] : pacer_.take(self)) {
      const std::size_t to = exchange_.bytes.messages[part.message].to;
      out_[self] = std::max(out_[self], now) + exchange_.setup;
      for (std::uint64_t left = part.amount; left > 0;) {
        const std::uint64_t bytes = std::min(left, piece_bytes_);
        left -= bytes;
        out_[self] += wire_time(bytes, exchange_.ways.processors[self].out);
        put({.is_last = left == 0, .from = self, .to = to, .step = step, .bytes = bytes},
            out_[self], Stage::kWay);
      }
    }
  }

  /// When a thing that serves one after the other is done with this.
  static Duration pass(Duration& free, Duration now, Duration takes) {
    return free = std::max(free, now) + takes;
  }

  void on_piece(const Piece& piece) {
    const Ways& ways = exchange_.ways;
    const Ways::Way& way = ways.way(piece.from, piece.to);
    switch (piece.stage) {
      case Stage::kWay: {
        const Duration takes = wire_time(piece.bytes, way.bytes_per_second);
        Duration& free = between_[ways.way_of(piece.from, piece.to)];
        return put(piece, pass(free, piece.at, takes) + way.latency, Stage::kEnter);
      }
      case Stage::kEnter: {
        const Duration takes = wire_time(piece.bytes, ways.processors[piece.to].in);
        return put(piece, pass(in_[piece.to], piece.at, takes), Stage::kArrived);
      }
      case Stage::kArrived:
        last_ = std::max(last_, piece.at);
        if (piece.is_last) on_arrived(piece);
        return;
      case Stage::kConfirmed:
        pacer_.on_confirmed(piece.from);
        return go_on(piece.from, piece.at);
    }
  }

  void on_arrived(const Piece& piece) {
    if (exchange_.pace == Pace::kNoBarrier) return;
    pacer_.on_arrived(piece.to, piece.step);
    const Duration back = exchange_.ways.way(piece.to, piece.from).latency;
    put(piece, piece.at + back, Stage::kConfirmed);
    go_on(piece.to, piece.at);
  }

  const Exchange& exchange_;
  Pacer pacer_;
  // When each is free.
  std::vector<Duration> out_;
  std::vector<Duration> in_;
  std::vector<Duration> between_;
  std::uint64_t piece_bytes_;
  std::uint64_t next_number_ = 0;
  std::priority_queue<Piece, std::vector<Piece>, std::greater<>> pieces_;
  Duration last_{};
};

}  // namespace

Duration exchange_time(const Schedule& schedule, const Exchange& exchange) {
  return Prediction(schedule, exchange).run();
}

}  // namespace phx::redistribution
