// What a list or watch is about, resolved once: key range, label selector, field requirements as columns.
//
// Thread-safety: immutable after make().
// Lifetime:      values.
// Errors:        kBadRequest for a field that the resource does not declare.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backplane/core/object.hpp"
#include "backplane/core/options.hpp"
#include "watchcache/event_log.hpp"
#include "watchcache/resource_cache.hpp"

namespace backplane {

class Selection {
 public:
  static Result<Selection> make(const CacheConfig& config, const CacheScope& scope, const ListOptions& options);

  // First key, and the first key after the range.
  const std::string& start() const noexcept { return start_; }
  const std::string& end() const noexcept { return end_; }
  // The prefix that continue tokens are relative to.
  const std::string& list_prefix() const noexcept { return list_prefix_; }
  // True with selectors: remaining items are not counted then, as upstream.
  bool selects() const noexcept { return selects_; }
  // The reader keeps none of the entries (ListOptions::transient_objects).
  bool transient() const noexcept { return transient_; }
  // What an entry must have to be selected, as far as summaries know it.
  const Wanted& wanted() const noexcept { return wanted_; }
  // What an entry must have for a change of it to matter to a watch; nothing: everything may matter.
  std::optional<Topic> topic() const;
  // The client of the list has gone.
  bool abandoned() const noexcept { return abandoned_ != nullptr && abandoned_->load(std::memory_order_relaxed); }
  // In the key range.
  bool covers(const ObjectEntry& entry) const noexcept { return whole_ || (entry.key() >= start_ && entry.key() < end_); }
  // The selectors hold; the entry is known to be in the key range.
  bool selected(const ObjectEntry& entry) const noexcept;

 private:
  void want();

  static constexpr int kName = -1;
  static constexpr int kNamespace = -2;
  struct FieldCheck {
    int column = 0;
    bool equals = true;
    std::string value;
  };
  std::string start_;
  std::string end_;
  std::string list_prefix_;
  bool whole_ = false;  // the range is all of the resource
  bool selects_ = false;
  bool transient_ = false;
  std::string ns_;    // the only one there can be
  std::string name_;  // of a scope over all namespaces
  std::string one_;   // the only name there can be
  LabelSelector labels_;
  std::vector<FieldCheck> fields_;
  Wanted wanted_;
  std::shared_ptr<const std::atomic<bool>> abandoned_;
};

}  // namespace backplane
