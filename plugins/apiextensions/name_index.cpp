#include "name_index.hpp"

#include <algorithm>

namespace backplane::apiextensions {

NameIndex::Freed NameIndex::put(const std::string& name, const Object& crd) {
  Row now{std::string(get_string(spec_of(crd), "group")), given_names(crd), names_are_accepted(crd)};
  Row& row = rows_[name];
  if (now == row) return {};
  // The new names are added before the old ones are removed, so that a name that the definition retains is never free.
  groups_[now.group].taken.add(now.names);
  Freed freed = release(name, row);
  if (!now.settled) groups_[now.group].unsettled.insert(name);
  row = std::move(now);
  return freed;
}

NameIndex::Freed NameIndex::remove(const std::string& name) {
  const auto row = rows_.find(name);
  if (row == rows_.end()) return {};
  Freed freed = release(name, row->second);
  rows_.erase(row);
  return freed;
}

const TakenNames& NameIndex::taken(const std::string& group) const {
  static const TakenNames kNone;
  const auto found = groups_.find(group);
  return found == groups_.end() ? kNone : found->second.taken;
}

NameIndex::Freed NameIndex::release(const std::string& name, const Row& row) {
  const auto group = groups_.find(row.group);
  if (group == groups_.end()) return {};
  group->second.unsettled.erase(name);
  group->second.taken.remove(row.names);
  const auto is_free = [](const std::vector<std::string>& names, const TakenNames::Counts& taken) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& each) { return !taken.contains(each); });
  };
  Freed freed;
  if (is_free(row.names.resources, group->second.taken.resources()) || is_free(row.names.kinds, group->second.taken.kinds()))
    freed.assign(group->second.unsettled.begin(), group->second.unsettled.end());
  if (group->second.taken.empty() && group->second.unsettled.empty()) groups_.erase(group);
  return freed;
}

}  // namespace backplane::apiextensions
