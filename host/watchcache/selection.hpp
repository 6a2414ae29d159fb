// The selection of a list or watch: a key range, a label selector, and requirements for the declared fields.
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

  // The key range is [start(), end()).
  const std::string& start() const noexcept { return start_; }
  const std::string& end() const noexcept { return end_; }
  // The prefix that continue tokens are relative to.
  const std::string& list_prefix() const noexcept { return list_prefix_; }
  // True if there are selectors: as upstream, remaining items are then not counted.
  bool selects() const noexcept { return selects_; }
  // True if the reader keeps none of the entries (ListOptions::transient_objects).
  bool transient() const noexcept { return transient_; }
  // The terms (summary.hpp) that a selected entry has.
  const Wanted& wanted() const noexcept { return wanted_; }
  // The term that an entry must have before or after a change that concerns the watch; nullopt: any change may concern the watch.
  std::optional<Topic> topic() const;
  // True if the client of the list has disconnected.
  bool abandoned() const noexcept { return abandoned_ != nullptr && abandoned_->load(std::memory_order_relaxed); }
  // True if the entry is in the key range.
  bool covers(const ObjectEntry& entry) const noexcept { return whole_ || (entry.key() >= start_ && entry.key() < end_); }
  // True if the selectors match. Precondition: the entry is in the key range.
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
  std::string ns_;    // the only namespace that can match; empty: any
  std::string name_;  // the name of the scope, if the scope has no namespace
  std::string one_;   // the only name that can match; empty: any
  LabelSelector labels_;
  std::vector<FieldCheck> fields_;
  Wanted wanted_;
  std::shared_ptr<const std::atomic<bool>> abandoned_;
};

}  // namespace backplane
