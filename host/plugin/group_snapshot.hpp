// The record of the API groups of a plugin, so that their objects can be read and deleted while the plugin does not run: the kinds that the
// host stores, in the version in which they are stored.
//
// Thread-safety: values.
// Errors:        snapshot_from_json(): kInternalError for a text that is not such a document.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/meta.hpp"
#include "backplane/rest/resource_config.hpp"
#include "backplane/rest/strategy.hpp"
#include "backplane/rest/table.hpp"

namespace backplane {

class RestStorage;
struct DelegationTarget;

struct SubresourceSnapshot {
  std::string name;  // "status"
  GroupVersionKind kind;
  bool reads = false, updates = false, creates = false;
  std::vector<std::string> methods;  // HTTP methods of other roles: Connecter, StreamGetter, GracefulDeleter
};

struct KindSnapshot {
  GroupVersionKind kind;  // the stored version
  std::string resource, singular, list_kind, storage_prefix;
  std::vector<std::string> short_names, categories;
  bool namespaced = true;
  std::vector<SelectableField> fields;
  std::vector<TableColumn> columns;  // without the columns that the plugin's code computes
  std::vector<SubresourceSnapshot> subresources;
  int group_priority = 1000, version_priority = 15;
  std::string definition;  // the name of its type in OpenAPI
  std::string schema;      // its openAPIV3Schema in JSON, without references
};

struct PluginSnapshot {
  std::string plugin, version, file;
  std::vector<KindSnapshot> kinds;
};

// A kind for which a plugin has made a storage. `facts` lacks the members that describe the kind's group and its schema.
struct StoredKindFacts {
  KindSnapshot facts;
  std::shared_ptr<const SchemaSet> schemas;
};
StoredKindFacts stored_kind_facts(const ResourceConfig& config);

SubresourceSnapshot subresource_snapshot(std::string name, const std::shared_ptr<RestStorage>& storage);

// The kinds of `stored` that `target` serves.
std::vector<KindSnapshot> kinds_of(const std::vector<StoredKindFacts>& stored, const DelegationTarget& target);

std::string snapshot_to_json(const PluginSnapshot& snapshot);
Result<PluginSnapshot> snapshot_from_json(std::string_view text);

}  // namespace backplane
