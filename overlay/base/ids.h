#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>

namespace phx {

/// A number that names one kind of thing and does not convert into the name of another kind.
/// `Tag` supplies the letter used in logs: `p6`, `v120`, `j2`.
template <class Tag, class Rep = std::uint64_t>
struct StrongId {
  using rep = Rep;
  Rep value = 0;

  friend constexpr auto operator<=>(const StrongId&, const StrongId&) = default;
  friend std::ostream& operator<<(std::ostream& stream, const StrongId& id) {
    return stream << Tag::kLetter << id.value;
  }
};

template <class Tag, class Rep>
[[nodiscard]] std::string to_string(StrongId<Tag, Rep> id) {
  return Tag::kLetter + std::to_string(id.value);
}

struct ProcessorTag {
  static constexpr char kLetter = 'p';
};
struct VnodeTag {
  static constexpr char kLetter = 'v';
};
struct JobTag {
  static constexpr char kLetter = 'j';
};
struct ApplicationTag {
  static constexpr char kLetter = 'a';
};
struct ClientTag {
  static constexpr char kLetter = 'c';
};

/// A participating processor. Given once by the mesh and never reused; 0 is nobody.
using ProcessorId = StrongId<ProcessorTag, std::uint32_t>;
/// A name in the fixed application space 0..V-1 of one job.
using VnodeId = StrongId<VnodeTag>;
/// A job of the mesh. Given once and never reused; 0 is none.
using JobId = StrongId<JobTag, std::uint32_t>;
/// An application process attached to one daemon; meaningful only to that daemon.
using ApplicationId = StrongId<ApplicationTag, std::uint32_t>;
/// A tool (or a joining processor) connected to one daemon; meaningful only to that daemon.
using ClientId = StrongId<ClientTag, std::uint32_t>;

inline constexpr ProcessorId kNobody{0};

/// How often a vnode has changed hands; only the owner raises it.
using Epoch = std::uint64_t;
/// Number of a membership view; every change of the membership adds one.
using ViewNumber = std::uint64_t;

/// The lifetime of one connection to `peer`, or of one way to it through a third processor. FIFO
/// inside; an unknown suffix is lost when it breaks. `incarnation` counts the connections of the
/// daemon that names them, so both ends may number the same connection differently.
struct LinkId {
  ProcessorId peer;
  std::uint64_t incarnation = 0;
  ProcessorId via = kNobody;  ///< The processor that it leads through; nobody: a connection.
  friend constexpr auto operator<=>(const LinkId&, const LinkId&) = default;
};

}  // namespace phx

template <class Tag, class Rep>
struct std::hash<phx::StrongId<Tag, Rep>> {
  std::size_t operator()(const phx::StrongId<Tag, Rep>& id) const noexcept {
    return std::hash<Rep>{}(id.value);
  }
};
