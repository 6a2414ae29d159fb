// Builds the immutable entries of the cache: one buffer holds the watch frame, and the object's JSON is a
// window into it.
//
// Thread-safety: an EntryBuilder is immutable; entries are immutable.
// Lifetime:      shared.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "backplane/core/object.hpp"
#include "backplane/rest/roles.hpp"
#include "watchcache/json_scan.hpp"
#include "watchcache/resource_cache.hpp"

namespace backplane {

class EntryBuilder {
 public:
  explicit EntryBuilder(CacheConfig config);

  const CacheConfig& config() const noexcept { return config_; }

  ObjectRef build(const KeyValue& stored, WatchEvent::Type type) const;
  // The same object at another revision: what a DELETED event carries.
  ObjectRef at_revision(const ObjectEntry& entry, Revision revision, WatchEvent::Type type) const;
  // A bookmark of this resource's kind.
  WatchEvent bookmark(Revision revision, bool initial_events_end) const;

 private:
  std::shared_ptr<ObjectEntry> build(std::string_view key, std::string_view json, Revision revision, WatchEvent::Type type) const;
  // Of JSON whose raw values are as they were sent.
  std::shared_ptr<ObjectEntry> build_kept(std::string_view key, std::string_view kept, Revision revision, WatchEvent::Type type) const;
  void read_name(std::string_view key, ObjectEntry& entry) const;

  const CacheConfig config_;
  const std::string head_;  // {"kind":"Pod","apiVersion":"v1",
  const FieldPlan fields_;
};

}  // namespace backplane
