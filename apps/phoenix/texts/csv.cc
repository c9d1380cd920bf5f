#include "apps/phoenix/texts/csv.h"

#include "overlay/base/check.h"

namespace phx::app {
namespace {

std::string quoted(const std::string& field) {
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  std::string result = "\"";
  for (const char c : field) result.append(c == '"' ? 2 : 1, c);
  return result + '"';
}

}  // namespace

Csv::Csv(const std::vector<std::string>& titles) : columns_(titles.size()) {
  write(titles);
}

void Csv::add(const std::vector<std::string>& fields) {
  PHX_CHECK(fields.size() == columns_);
  write(fields);
}

void Csv::write(const std::vector<std::string>& fields) {
  for (std::size_t i = 0; i < fields.size(); ++i) text_ += (i > 0 ? "," : "") + quoted(fields[i]);
  text_ += '\n';
}

}  // namespace phx::app
