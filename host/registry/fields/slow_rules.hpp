// For tests: a simple and slow implementation of the rules of field management.
// An object is a map from paths to texts: "{" for a map, "[" for a list, "(" for a list item that is a map, and the JSON of any other
// value. A path consists of steps; a slash precedes each. The first character of a step is a letter from a to l for a declared member, a
// later letter for another member, and a bracket for a list item. The path "/spec" is a declared member, too.
#pragma once

#include <map>
#include <set>
#include <string>

namespace backplane::registry_test {

using Paths = std::set<std::string>;
using Flat = std::map<std::string, std::string>;

struct SlowOwner {
  Paths paths;
  bool applied = false;
  bool operator==(const SlowOwner&) const = default;
};
using SlowOwners = std::map<std::string, SlowOwner>;

inline std::string parent_of(const std::string& path) { return path.substr(0, path.rfind('/')); }
inline bool holds(const std::string& value) { return value == "{" || value == "[" || value == "("; }
inline bool declared(const std::string& path) {
  const char first = path[path.rfind('/') + 1];
  return path == "/spec" || (first >= 'a' && first <= 'l');
}
inline bool has_children(const Flat& object, const std::string& path) {
  const auto next = object.upper_bound(path + "/");
  return next != object.end() && next->first.starts_with(path + "/");
}

inline Paths both(const Paths& a, const Paths& b) {
  Paths out = a;
  out.insert(b.begin(), b.end());
  return out;
}
inline Paths without(const Paths& a, const Paths& b) {
  Paths out;
  for (const std::string& path : a) {
    if (b.count(path) == 0) out.insert(path);
  }
  return out;
}
inline Paths common(const Paths& a, const Paths& b) { return without(a, without(a, b)); }

// The paths that an owner of the whole object owns: values, list items that are maps, and empty maps.
inline Paths named_by(const Flat& object) {
  Paths out;
  for (const auto& [path, value] : object) {
    if (!holds(value) || value == "(" || (value == "{" && !has_children(object, path))) out.insert(path);
  }
  return out;
}
// The paths, and the declared members that contain them.
inline Paths with_named(const Paths& paths) {
  Paths out = paths;
  for (const std::string& path : paths) {
    for (std::string up = parent_of(path); !up.empty(); up = parent_of(up)) {
      if (declared(up)) out.insert(up);
    }
  }
  return out;
}
// Removes the paths and all paths that begin with them. A container that becomes empty becomes null.
inline Flat removed(const Flat& object, const Paths& paths) {
  Flat out;
  std::set<std::string> poorer;
  for (const auto& [path, value] : object) {
    bool gone = false;
    for (std::string up = path; !up.empty(); up = parent_of(up)) gone = gone || paths.count(up) != 0;
    if (gone)
      poorer.insert(parent_of(path));
    else
      out.emplace(path, value);
  }
  for (const std::string& path : poorer) {
    if (!path.empty() && out.count(path) != 0 && !has_children(out, path)) out[path] = "null";
  }
  return out;
}
// The object as decoding returns it.
inline Flat without_nulls(Flat object) {
  std::erase_if(object, [](const auto& each) { return each.second == "null"; });
  return object;
}

struct SlowChanges {
  Paths changed;  // added or modified
  Paths removed;
};
inline SlowChanges slow_compare(const Flat& before, const Flat& after) {
  SlowChanges out;
  for (const auto& [path, value] : after) {
    const auto was = before.find(path);
    // A container that has become empty is not counted as a change: its removed members are counted.
    const bool container = was != before.end() && holds(was->second) && (holds(value) || value == "null");
    if (was == before.end() || (was->second != value && !container)) out.changed.insert(path);
  }
  for (const auto& each : before) {
    if (after.count(each.first) == 0) out.removed.insert(each.first);
  }
  return out;
}

// Returns the conflicts ("owner path"). If there are none, the other owners lose the changed and removed paths.
inline std::set<std::string> slow_merge_owners(const Flat& before, const Flat& after, SlowOwners& owners, const std::string& owner,
                                               bool force) {
  const SlowChanges changes = slow_compare(before, after);
  std::set<std::string> conflicts;
  for (const auto& [id, other] : owners) {
    if (id == owner || force) continue;
    for (const std::string& path : common(other.paths, changes.changed)) conflicts.insert(id + " " + path);
  }
  if (!conflicts.empty()) return conflicts;
  for (auto& [id, other] : owners) {
    if (id != owner) other.paths = without(without(other.paths, changes.changed), changes.removed);
  }
  std::erase_if(owners, [](const auto& each) { return each.second.paths.empty(); });
  return conflicts;
}

inline void slow_update(Flat& live, const Flat& next, SlowOwners& owners, const std::string& owner) {
  const SlowChanges changes = slow_compare(live, next);
  slow_merge_owners(live, next, owners, owner, true);
  SlowOwner& mine = owners[owner];
  mine.paths = both(without(mine.paths, changes.removed), changes.changed);
  mine.applied = false;
  if (mine.paths.empty()) owners.erase(owner);
  live = next;
}

inline Flat slow_prune(const Flat& merged, const SlowOwners& owners, const Paths& last) {
  Paths owned;
  for (const auto& each : owners) owned = both(owned, each.second.paths);
  // Removes the fields of `last` that no manager owns.
  const Flat bare = removed(merged, with_named(last));
  const Paths all = with_named(named_by(merged));
  const Flat kept = removed(merged, without(all, both(with_named(named_by(bare)), with_named(owned))));
  // Restores fields that were removed with them although `last` does not contain them.
  return removed(merged, common(without(all, with_named(named_by(kept))), with_named(last)));
}

inline std::set<std::string> slow_apply(Flat& live, const Flat& config, SlowOwners& owners, const std::string& owner, bool force) {
  Flat next = live;
  for (const auto& [path, value] : config) {
    if (!holds(value) || next.count(path) == 0) next[path] = value;
  }
  SlowOwners changed = owners;
  const Paths last = changed[owner].paths;
  changed[owner] = SlowOwner{named_by(config), true};
  if (!last.empty()) next = slow_prune(next, changed, last);
  std::set<std::string> conflicts = slow_merge_owners(live, next, changed, owner, force);
  if (!conflicts.empty()) return conflicts;
  owners = std::move(changed);
  live = without_nulls(std::move(next));
  return conflicts;
}

}  // namespace backplane::registry_test
