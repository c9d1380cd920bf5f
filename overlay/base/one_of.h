#pragma once

#include <concepts>
#include <cstddef>
#include <variant>

namespace phx {

/// A std::variant that is used as one, for the large ones that many files handle: its construction,
/// copies, moves, comparison and destruction are compiled once, not in each of these files. The
/// source file of the header that names such a type includes one_of_members.h and says
/// `template class phx::OneOf<...>;`, with the same list: else the linker misses OneOf<...>.
template <class... Alternatives>
class OneOf : public std::variant<Alternatives...> {
 public:
  using Variant = std::variant<Alternatives...>;

  OneOf();
  template <class T>
  requires(std::same_as<T, Alternatives> || ...) OneOf(T&& alternative)
      : OneOf(index_of<T>(), &alternative) {}
  template <class T>
  requires(std::same_as<T, Alternatives> || ...) OneOf(const T& alternative)
      : OneOf(T(alternative)) {}
  OneOf(const OneOf& other);
  OneOf(OneOf&& other) noexcept;
  OneOf& operator=(const OneOf& other);
  OneOf& operator=(OneOf&& other) noexcept;
  ~OneOf();

  [[nodiscard]] bool operator==(const OneOf& other) const;

 private:
  template <class T>
  static constexpr std::size_t index_of() {
    std::size_t index = 0;
    static_cast<void>(((std::same_as<T, Alternatives> || (++index, false)) || ...));
    return index;
  }
  /// Moves from `alternative`, which is an object of the type at `index`.
  OneOf(std::size_t index, void* alternative);
  template <class T>
  static void take(OneOf& to, void* alternative);
};

}  // namespace phx
