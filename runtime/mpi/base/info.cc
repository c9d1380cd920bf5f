#include "runtime/mpi/base/info.h"

#include <algorithm>

#include "runtime/mpi/base/errors.h"

namespace phx::mpi {

void Info::set(const std::string& key, const std::string& value) {
  const std::lock_guard lock(mutex_);
  for (auto& [known, old] : entries_) {
    if (known != key) continue;
    old = value;
    return;
  }
  entries_.emplace_back(key, value);
}

std::optional<std::string> Info::find(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [known, value] : entries_) {
    if (known == key) return value;
  }
  return std::nullopt;
}

bool Info::remove(const std::string& key) {
  const std::lock_guard lock(mutex_);
  return std::erase_if(entries_, [&](const auto& entry) { return entry.first == key; }) > 0;
}

Info::Entries Info::entries() const {
  const std::lock_guard lock(mutex_);
  return entries_;
}

Handles<Info>& infos() {
  static Handles<Info>& all = *[] {
    auto* table = new Handles<Info>(Kind::kInfo);
    table->predefine(MPI_INFO_ENV, new Info);
    return table;
  }();
  return all;
}

Info& info_of(MPI_Info handle) {
  Info* found = infos().find(handle);
  require(found != nullptr, MPI_ERR_INFO, "the info object is null, freed or never made");
  return *found;
}

}  // namespace phx::mpi
