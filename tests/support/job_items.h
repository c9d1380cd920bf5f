#pragma once

#include <utility>
#include <variant>
#include <vector>

#include "runtime/messages/job_outbox.h"

// What the machines of a job wanted done, picked out by kind.
namespace phx::support {

using JobItems = std::vector<runtime::JobOutbox::Item>;

/// Messages of this kind to processors, as (to, message).
template <class M>
std::vector<std::pair<ProcessorId, M>> sent(const JobItems& items) {
  std::vector<std::pair<ProcessorId, M>> found;
  for (const auto& item : items) {
    const auto* send = std::get_if<runtime::JobOutbox::Send>(&item);
    const auto* m = send == nullptr ? nullptr : std::get_if<M>(&send->message);
    if (m != nullptr) found.emplace_back(send->to, *m);
  }
  return found;
}

/// All effects of this kind.
template <class E>
std::vector<E> effects(const JobItems& items) {
  std::vector<E> found;
  for (const auto& item : items) {
    const auto* event = std::get_if<std::variant<runtime::Effect, runtime::UseTree>>(&item);
    const auto* effect = event == nullptr ? nullptr : std::get_if<runtime::Effect>(event);
    const auto* e = effect == nullptr ? nullptr : std::get_if<E>(effect);
    if (e != nullptr) found.push_back(*e);
  }
  return found;
}

/// All answers to tools.
inline std::vector<runtime::ClientReply> replied(const JobItems& items) {
  std::vector<runtime::ClientReply> found;
  for (const auto& effect : effects<runtime::Reply>(items)) found.push_back(effect.reply);
  return found;
}

/// All messages to applications.
inline std::vector<runtime::ToApplication> handed(const JobItems& items) {
  std::vector<runtime::ToApplication> found;
  for (const auto& effect : effects<runtime::ToApp>(items)) found.push_back(effect.message);
  return found;
}

/// Messages of this kind to applications.
template <class M>
std::vector<M> handed(const JobItems& items) {
  std::vector<M> found;
  for (const runtime::ToApplication& message : handed(items)) {
    if (const auto* m = std::get_if<M>(&message)) found.push_back(*m);
  }
  return found;
}

}  // namespace phx::support
