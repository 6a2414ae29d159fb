#include "routing/openapi_v2_merge.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "backplane/net/forwarded_documents.hpp"

namespace backplane {
namespace {

constexpr std::string_view kVersions = "x-kubernetes-group-version-kind";

using Renames = std::map<std::string, std::string, std::less<>>;  // from a former reference to the new one

bool is_of_libraries(std::string_view name) { return name.starts_with("io.k8s."); }

// Definitions are equal if they differ only in the list of group versions that use them.
bool same_definition(const Value& left, const Value& right) {
  if (left == right) return true;
  const Object *a = left.if_object(), *b = right.if_object();
  if (a == nullptr || b == nullptr) return false;
  Object mine = *a, theirs = *b;
  mine.erase(kVersions);
  theirs.erase(kVersions);
  return mine == theirs;
}

void add_versions(Object& to, const Value& from) {
  const Array* more = from.is_object() ? get_array(from.get_object(), kVersions) : nullptr;
  if (more == nullptr) return;
  Array& versions = ensure_array(to, kVersions);
  for (const Value& each : *more) {
    if (std::find(versions.begin(), versions.end(), each) == versions.end()) versions.push_back(each);
  }
}

// Renames each reference once. The function is iterative, because definitions may be nested deeply.
void rename_references(Value& root, const Renames& renames) {
  std::vector<Value*> waiting{&root};
  while (!waiting.empty()) {
    Value& next = *waiting.back();
    waiting.pop_back();
    if (Array* list = next.if_array()) {
      for (Value& each : *list) waiting.push_back(&each);
    }
    Object* object = next.if_object();
    if (object == nullptr) continue;
    for (auto& member : *object) {
      if (member.key() == "$ref" && member.value().is_string()) {
        const auto found = renames.find(std::string_view(member.value().get_string()));
        if (found != renames.end()) member.value() = found->second;
      } else {
        waiting.push_back(&member.value());
      }
    }
  }
}

// Returns the name of a definition in `into`: its own name, the name of an equal definition, or a new name.
std::string name_in(const Object& into, const std::string& name, const Value& definition, bool own_is_other) {
  std::string out = name;
  for (int i = 2;; ++i) {
    const Value* existing = find(into, out);
    const bool taken = (existing != nullptr && !same_definition(*existing, definition)) || (own_is_other && i == 2);
    if (!taken) return out;
    out = name + "_v" + std::to_string(i);
  }
}

Object take_object(Object& from, std::string_view name) {
  Value* found = find(from, name);
  return found != nullptr && found->is_object() ? std::move(found->get_object()) : Object();
}

}  // namespace

std::shared_ptr<const std::string> forwarded_document_v2(const VersionTable& version) {
  return version.forwarded_documents ? version.forwarded_documents->openapi_v2 : nullptr;
}

Object OpenApiV2Merge::add(Object part) {
  Object paths = take_object(part, "paths"), definitions = take_object(part, "definitions"), parameters = take_object(part, "parameters");
  Renames renames;
  std::vector<std::pair<std::string, Value*>> named;
  for (auto& each : definitions) {
    const std::string name(each.key());
    const std::string now = name_in(definitions_, name, each.value(), is_own_(name) && !is_of_libraries(name));
    if (now != name) renames["#/definitions/" + name] = "#/definitions/" + now;
    named.emplace_back(now, &each.value());
  }
  for (auto& each : parameters) {
    const std::string name(each.key());
    const std::string now = name_in(parameters_, name, each.value(), false);
    if (now != name) renames["#/parameters/" + name] = "#/parameters/" + now;
    if (!parameters_.contains(now)) parameters_[now] = each.value();
  }
  for (auto& [name, definition] : named) {
    if (Value* existing = find(definitions_, name)) {
      if (existing->is_object()) add_versions(existing->get_object(), *definition);
      continue;
    }
    if (!renames.empty()) rename_references(*definition, renames);
    definitions_[name] = std::move(*definition);
  }
  Value all = std::move(paths);
  if (!renames.empty()) rename_references(all, renames);
  return std::move(all.get_object());
}

}  // namespace backplane
