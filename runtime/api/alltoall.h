#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "runtime/api/message.h"
#include "runtime/api/parts.h"
#include "runtime/api/past_trees.h"
#include "runtime/api/vnode_values.h"

namespace phx {

/// One process's part of an alltoall on bytes, without I/O. A vnode with few bytes for all
/// vnodes together gives them to everybody, by a reduction. Else each vnode of another process gets
/// a message: one of the whole process where values are short, which costs P x V messages and not V
/// x V; and one of each vnode where they are long, so that they are not copied.
class Alltoall {
 public:
  using Rows = std::map<Vnode, std::vector<Payload>>;

  /// `rows`: of each vnode held here one value for each of the `vnodes`. REQUIRES that they live as
  /// long as this.
  Alltoall(std::uint64_t vnodes, const Rows& rows);

  /// What each vnode held here contributes to a Gathering::kAlltoall.
  [[nodiscard]] VnodeValues parts() const;
  /// The messages for vnodes that are held elsewhere.
  [[nodiscard]] std::deque<PastTrees::Sent> sends() const;
  /// What has to come. `all`: what that gathering gave. Throws Failure (kBadInput) if it is
  /// damaged.
  [[nodiscard]] std::vector<PastTrees::Expected> expected(const Parts& all);
  /// By receiver held here, by sender: `received` in the order of expected().
  [[nodiscard]] Rows columns(const std::vector<Payload>& received);

 private:
  void read(Vnode from, const Payload& part);

  std::uint64_t vnodes_;
  const Rows& rows_;
  std::map<Vnode, Payload> inline_;  ///< Of the rows here those that all get.
  /// By the vnode in whose name its values are sent, whose they are; here, and of all others.
  std::map<Vnode, std::vector<Vnode>> sent_;
  std::map<Vnode, std::vector<Vnode>> awaited_;
  std::vector<PastTrees::Expected> expected_;
  Rows columns_;
};

}  // namespace phx
