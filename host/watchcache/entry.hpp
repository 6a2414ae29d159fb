// Builds the immutable entries of the cache. An entry has one buffer, which holds the frame of a watch event; the object's JSON is a part
// of the frame.
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
  // The entry with the frame of the object's last event: ADDED if the object has not been changed since its creation, otherwise MODIFIED.
  ObjectRef build(const KeyValue& stored) const { return build(stored, loaded_as(stored)); }
  static WatchEvent::Type loaded_as(const KeyValue& stored) noexcept {
    return stored.create_revision == stored.mod_revision ? WatchEvent::Type::kAdded : WatchEvent::Type::kModified;
  }
  std::shared_ptr<ObjectEntry> build(std::string_view key, std::string_view json, Revision revision, WatchEvent::Type type) const;
  // The same object at another revision, for a DELETED event.
  ObjectRef at_revision(const ObjectEntry& entry, Revision revision, WatchEvent::Type type) const;
  // A bookmark of this resource's kind.
  WatchEvent bookmark(Revision revision, bool initial_events_end) const;

 private:
  // build() for JSON in which raw values are as the client sent them.
  std::shared_ptr<ObjectEntry> build_kept(std::string_view key, std::string_view kept, Revision revision, WatchEvent::Type type) const;
  void set_identity(std::string_view key, ObjectEntry& entry) const;

  const CacheConfig config_;
  const std::string head_;  // {"kind":"Pod","apiVersion":"v1",
  const FieldPlan fields_;
};

}  // namespace backplane
