#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace phx::app {

/// Lines of fields for other programs, as RFC 4180 has them: a field with a comma, a quote or a
/// line break is quoted. Deviation: lines end as in all other files here, by '\n' alone.
class Csv {
 public:
  explicit Csv(const std::vector<std::string>& titles);
  /// REQUIRES as many fields as there are titles.
  void add(const std::vector<std::string>& fields);
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void write(const std::vector<std::string>& fields);

  std::size_t columns_;
  std::string text_;
};

}  // namespace phx::app
