#include "routing/peer_discovery.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <set>

#include "engine/codec.hpp"

namespace backplane {
namespace {

using Words = std::vector<std::string>;
using NameOf = std::function<std::string(const Object& item)>;
using Merge = std::function<void(Object& into, const Object& from)>;

// Merges lists of objects. `merge` merges an item into the first item of the same name.
Array merged(const std::vector<const Array*>& lists, const NameOf& name_of, const Merge& merge) {
  std::map<std::string, Object> items;
  std::vector<Words> orders;
  for (const Array* list : lists) {
    Words& order = orders.emplace_back();
    for (const Value& each : *list) {
      const Object& item = each.get_object();
      order.push_back(name_of(item));
      const auto [place, fresh] = items.try_emplace(order.back(), item);
      if (!fresh) merge(place->second, item);
    }
  }
  Array out;
  for (const std::string& name : merge_orders(orders)) out.emplace_back(std::move(items.at(name)));
  return out;
}

void merge_members(Object& into, const Object& from, std::string_view key, const NameOf& name_of, const Merge& merge) {
  const Array* theirs = get_array(from, key);
  if (theirs == nullptr) return;
  Array& all = ensure_array(into, key);
  all = merged({&all, theirs}, name_of, merge);
}

std::string text_in(const Object& item, std::string_view key) { return std::string(get_string(item, key)); }

// Merges verbs and subresources, which become sorted. Other members are unchanged.
void merge_resource(Object& into, const Object& from) {
  if (into == from) return;
  std::set<std::string> verbs;
  std::map<std::string, Object> subresources;
  for (const Object* each : {static_cast<const Object*>(&into), &from}) {
    if (const Array* list = get_array(*each, "verbs")) {
      for (const Value& verb : *list) verbs.emplace(verb.get_string());
    }
    if (const Array* list = get_array(*each, "subresources")) {
      for (const Value& item : *list) subresources.insert_or_assign(text_in(item.get_object(), "subresource"), item.get_object());
    }
  }
  Array& all_verbs = into["verbs"].emplace_array();
  for (const std::string& verb : verbs) all_verbs.emplace_back(verb);
  if (subresources.empty()) return;
  Array& all_subresources = into["subresources"].emplace_array();
  for (auto& [_, item] : subresources) all_subresources.emplace_back(std::move(item));
}

void merge_version(Object& into, const Object& from) {
  merge_members(
      into, from, "resources", [](const Object& item) { return text_in(item, "resource"); }, merge_resource);
}

void merge_group(Object& into, const Object& from) {
  merge_members(
      into, from, "versions", [](const Object& item) { return text_in(item, "version"); }, merge_version);
}

std::string group_name(const Object& group) {
  const Object* metadata = get_object(group, "metadata");
  return metadata != nullptr ? text_in(*metadata, "name") : std::string();
}

// Kahn's algorithm: sorts the words topologically. Words without a defined order are sorted alphabetically.
Words sorted(std::map<std::string, std::set<std::string>>& successors, std::map<std::string, int>& before) {
  std::priority_queue<std::string, Words, std::greater<>> ready;
  for (const auto& [word, count] : before) {
    if (count == 0) ready.push(word);
  }
  Words out;
  while (!ready.empty()) {
    out.push_back(ready.top());
    ready.pop();
    for (const std::string& next : successors[out.back()]) {
      if (--before[next] == 0) ready.push(next);
    }
  }
  return out;
}

}  // namespace

Words merge_orders(const std::vector<Words>& lists) {
  std::map<std::string, std::set<std::string>> successors;
  std::map<std::string, int> before;
  for (const Words& list : lists) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      before.try_emplace(list[i], 0);
      if (i + 1 < list.size() && successors[list[i]].insert(list[i + 1]).second) ++before[list[i + 1]];
    }
  }
  for (const Words& list : lists) {
    if (list.size() == before.size() && std::set<std::string>(list.begin(), list.end()).size() == list.size()) return list;
  }
  Words all;
  for (const auto& [word, _] : before) all.push_back(word);
  Words out = sorted(successors, before);
  return out.size() == all.size() ? out : all;
}

std::string with_peers(std::string_view own, const PeerDiscovery& peers) {
  Value document = json::parse(own.substr(0, own.find_last_not_of('\n') + 1));
  Array& items = document.get_object()["items"].get_array();
  std::map<std::string_view, const Array*> by_id;
  for (const auto& server : peers.servers) by_id.emplace(server.id, &server.groups);
  by_id.insert_or_assign(peers.own_id, &items);
  std::vector<const Array*> lists;
  for (const auto& [_, groups] : by_id) lists.push_back(groups);
  items = merged(lists, group_name, merge_group);
  return to_json(document) + "\n";
}

}  // namespace backplane
