#include "routing/discovery.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "backplane/core/metrics.hpp"
#include "backplane/net/forwarded_documents.hpp"
#include "engine/codec.hpp"
#include "routing/lazy_document.hpp"

namespace backplane {
namespace {

Array strings(const std::vector<std::string>& words) {
  Array out;
  for (const auto& word : words) out.emplace_back(word);
  return out;
}

std::string singular_of(const ResourceRow& row) {
  auto* provider = role_of<SingularNameProvider>(row.storage);
  return provider ? provider->singular_name() : std::string();
}

bool foreign_kind(const ResourceRow& row, const GroupVersion& version) {
  return row.kind.group != version.group || row.kind.version != version.version;
}

// The subresources are sorted by name. Those of a custom resource are in reverse order, so that status precedes scale.
std::vector<const ResourceRow*> subresources_of(const VersionTable& table, const std::string& resource) {
  std::vector<const ResourceRow*> rows;
  table.rows.each_from(resource + "/", [&](const std::string&, const RowRef& row) {
    if (row->resource != resource) return false;
    rows.push_back(row.get());
    return true;
  });
  if (table.dynamic) std::reverse(rows.begin(), rows.end());
  return rows;
}

// Returns the rows in the order in which discovery lists them.
std::vector<const ResourceRow*> listed_rows(const VersionTable& table) {
  std::vector<const ResourceRow*> rows;
  rows.reserve(table.rows.size());
  table.rows.each([&](const std::string&, const RowRef& row) {
    if (table.dynamic && !row->subresource.empty()) return;
    rows.push_back(row.get());
    if (!table.dynamic) return;
    for (const ResourceRow* subresource : subresources_of(table, row->resource)) rows.push_back(subresource);
  });
  return rows;
}

Object legacy_resource(const ResourceRow& row, const GroupVersion& version) {
  Object out;
  out["name"] = row.subresource.empty() ? row.resource : row.resource + "/" + row.subresource;
  out["singularName"] = row.subresource.empty() ? singular_of(row) : std::string();
  out["namespaced"] = row.namespaced;
  if (foreign_kind(row, version)) {
    if (!row.kind.group.empty()) out["group"] = row.kind.group;
    out["version"] = row.kind.version;
  }
  out["kind"] = row.kind.kind;
  out["verbs"] = strings(row.verbs);
  if (!row.subresource.empty()) return out;
  if (auto* provider = role_of<ShortNamesProvider>(row.storage); provider && !provider->short_names().empty())
    out["shortNames"] = strings(provider->short_names());
  if (auto* provider = role_of<CategoriesProvider>(row.storage); provider && !provider->categories().empty())
    out["categories"] = strings(provider->categories());
  if (auto* provider = role_of<StorageVersionProvider>(row.storage))
    out["storageVersionHash"] = storage_version_hash(provider->storage_version());
  return out;
}

Object version_for_discovery(const GroupVersion& version) {
  Object out;
  out["groupVersion"] = version.to_string();
  out["version"] = version.version;
  return out;
}

void append_group_members(Object& out, const GroupEntry& group) {
  out["name"] = group.name;
  Array versions;
  for (const auto& version : group.versions) versions.emplace_back(version_for_discovery(version->version));
  out["versions"] = std::move(versions);
  out["preferredVersion"] = version_for_discovery(group.versions.front()->version);
}

// As upstream, group and version are empty for a built-in kind that belongs to the group version itself.
Object response_kind(const ResourceRow& row, const VersionTable& table) {
  const bool complete = table.dynamic || foreign_kind(row, table.version);
  Object out;
  out["group"] = complete ? row.kind.group : std::string();
  out["version"] = complete ? row.kind.version : std::string();
  out["kind"] = row.kind.kind;
  return out;
}

Array aggregated_subresources(const VersionTable& table, const std::string& resource) {
  Array out;
  for (const ResourceRow* row : subresources_of(table, resource)) {
    Object item;
    item["subresource"] = row->subresource;
    item["responseKind"] = response_kind(*row, table);
    item["verbs"] = strings(row->verbs);
    out.emplace_back(std::move(item));
  }
  return out;
}

Object aggregated_resource(const VersionTable& table, const ResourceRow& row) {
  Object out;
  out["resource"] = row.resource;
  out["responseKind"] = response_kind(row, table);
  out["scope"] = row.namespaced ? "Namespaced" : "Cluster";
  out["singularResource"] = singular_of(row);
  out["verbs"] = strings(row.verbs);
  if (auto* provider = role_of<ShortNamesProvider>(row.storage); provider && !provider->short_names().empty())
    out["shortNames"] = strings(provider->short_names());
  if (auto* provider = role_of<CategoriesProvider>(row.storage); provider && !provider->categories().empty())
    out["categories"] = strings(provider->categories());
  if (Array subresources = aggregated_subresources(table, row.resource); !subresources.empty())
    out["subresources"] = std::move(subresources);
  return out;
}

// Returns the entry of a forwarded version. The resources are those of the other server's discovery document.
Object forwarded_version(const VersionTable& table) {
  Object version;
  version["version"] = table.version.version;
  const auto& documents = table.forwarded_documents;
  if (documents != nullptr && !documents->resources.empty()) version["resources"] = documents->resources;
  version["freshness"] = documents != nullptr && documents->current ? "Current" : "Stale";
  return version;
}

Object aggregated_version(const VersionTable& table) {
  if (table.forward) return forwarded_version(table);
  Object version;
  version["version"] = table.version.version;
  Array resources;
  table.rows.each([&](const std::string&, const RowRef& row) {
    if (row->subresource.empty()) resources.emplace_back(aggregated_resource(table, *row));
  });
  version["resources"] = std::move(resources);
  version["freshness"] = "Current";
  return version;
}

std::string parameter(std::string_view clause, std::string_view name) {
  std::size_t at = clause.find(';');
  while (at != std::string_view::npos) {
    std::string_view rest = clause.substr(at + 1);
    const auto end = rest.find(';');
    std::string_view item = rest.substr(0, end);
    while (!item.empty() && item.front() == ' ') item.remove_prefix(1);
    if (item.starts_with(name) && item.size() > name.size() && item[name.size()] == '=') return std::string(item.substr(name.size() + 1));
    at = end == std::string_view::npos ? end : at + 1 + end;
  }
  return {};
}

// Returns the form that one clause of an Accept header requests; nullopt if the form is not supported.
std::optional<DiscoveryForm> clause_form(std::string_view clause) {
  while (!clause.empty() && clause.front() == ' ') clause.remove_prefix(1);
  std::string_view type = clause.substr(0, clause.find(';'));
  while (!type.empty() && type.back() == ' ') type.remove_suffix(1);
  constexpr std::string_view kProtobuf = "application/vnd.kubernetes.protobuf", kYaml = "application/yaml";
  const bool json = type == "application/json" || type == "*/*" || type == "application/*" || type.empty();
  if (!json && type != kYaml && type != kProtobuf) return std::nullopt;
  const std::string as = parameter(clause, "as");
  if (as.empty()) return DiscoveryForm::kLegacy;
  const bool aggregated =
      as == "APIGroupDiscoveryList" && parameter(clause, "g") == "apidiscovery.k8s.io" && parameter(clause, "v") == "v2";
  if (!aggregated) return std::nullopt;
  if (type == kYaml) return DiscoveryForm::kAggregatedYaml;
  return type == kProtobuf ? DiscoveryForm::kAggregatedProtobuf : DiscoveryForm::kAggregated;
}

}  // namespace

std::string storage_version_hash(const GroupVersionKind& kind) {
  const std::string text = kind.group + "/" + kind.version + "/" + kind.kind;
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), digest, &size, EVP_sha256(), nullptr);
  unsigned char encoded[16];
  const int length = EVP_EncodeBlock(encoded, digest, 8);
  return std::string(reinterpret_cast<char*>(encoded), static_cast<std::size_t>(length));
}

Value legacy_api_versions(const RouteTable& table, const std::vector<ServerAddress>& addresses) {
  Object out;
  out["kind"] = "APIVersions";
  Array versions;
  if (const GroupEntry* core = table.group("")) {
    for (const auto& version : core->versions) versions.emplace_back(version->version.version);
  }
  out["versions"] = std::move(versions);
  Array by_network;
  for (const auto& [network, address] : addresses) {
    Object row;
    row["clientCIDR"] = network;
    row["serverAddress"] = address;
    by_network.emplace_back(std::move(row));
  }
  out["serverAddressByClientCIDRs"] = std::move(by_network);
  return out;
}

Value legacy_group_list(const RouteTable& table) {
  Object out;
  out["kind"] = "APIGroupList";
  out["apiVersion"] = "v1";
  Array groups;
  for (const GroupEntry* group : table.named_groups()) {
    Object item;
    append_group_members(item, *group);
    groups.emplace_back(std::move(item));
  }
  out["groups"] = std::move(groups);
  return out;
}

Value legacy_group(const GroupEntry& group) {
  Object out;
  out["kind"] = "APIGroup";
  out["apiVersion"] = "v1";
  append_group_members(out, group);
  return out;
}

Value legacy_resource_list(const VersionTable& version) {
  Object out;
  out["kind"] = "APIResourceList";
  if (!version.version.group.empty()) out["apiVersion"] = "v1";
  out["groupVersion"] = version.version.to_string();
  Array resources;
  for (const ResourceRow* row : listed_rows(version)) resources.emplace_back(legacy_resource(*row, version.version));
  out["resources"] = std::move(resources);
  return out;
}

std::string aggregated_group(const GroupEntry& group) {
  Object out;
  Object metadata;
  if (!group.name.empty()) metadata["name"] = group.name;
  out["metadata"] = std::move(metadata);
  Array versions;
  for (const auto& table : group.versions) versions.emplace_back(aggregated_version(*table));
  out["versions"] = std::move(versions);
  return to_json(out);
}

std::string aggregated_discovery(const RouteTable& table, bool core) {
  static Metric& aggregations =
      Metric::counter("aggregator_discovery_aggregation_count_total", "[ALPHA] Counter of number of times discovery was aggregated", {});
  if (!core) aggregations.add({});
  std::string out = R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[)";
  if (core) {
    if (const GroupEntry* group = table.group("")) out += group->aggregated();
  } else {
    bool first = true;
    for (const GroupEntry* group : table.named_groups()) {
      if (!std::exchange(first, false)) out += ',';
      out += group->aggregated();
    }
  }
  return out + "]}\n";
}

const Schema* discovery_schema(std::string_view kind) {
  const std::string_view package =
      kind == "APIGroupDiscoveryList" ? "io.k8s.api.apidiscovery.v2." : "io.k8s.apimachinery.pkg.apis.meta.v1.";
  return meta_schemas()->find(std::string(package).append(kind));
}

std::string aggregated_hash(std::string_view json) {
  constexpr std::string_view kWords = R"("kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2",)";
  std::string text(json.substr(0, json.find_last_not_of('\n') + 1));
  if (const auto at = text.find(kWords); at != std::string::npos) text.erase(at, kWords.size());
  return sha512_hex(text);
}

std::string aggregated_protobuf(std::string_view json) {
  auto encoded =
      protobuf_codec().to_stored(discovery_schema("APIGroupDiscoveryList"), std::string(json.substr(0, json.find_last_not_of('\n') + 1)));
  // The text is this server's own JSON, so the conversion cannot fail.
  if (!encoded.ok()) throw std::logic_error("discovery that is no APIGroupDiscoveryList: " + encoded.status().message());
  return std::move(*encoded);
}

DiscoveryForm discovery_form(std::string_view accept, bool aggregated) {
  if (accept.empty()) return DiscoveryForm::kLegacy;
  DiscoveryForm otherwise = DiscoveryForm::kNotAcceptable;
  while (true) {
    const auto comma = accept.find(',');
    const auto form = clause_form(accept.substr(0, comma));
    if (form == DiscoveryForm::kLegacy) {
      otherwise = *form;
    } else if (form && aggregated) {
      return *form;
    }
    if (comma == std::string_view::npos) return otherwise;
    accept.remove_prefix(comma + 1);
  }
}

bool requests_no_peers(std::string_view accept) {
  while (true) {
    const auto comma = accept.find(',');
    const std::string_view clause = accept.substr(0, comma);
    const auto form = clause_form(clause);
    if (form && form != DiscoveryForm::kLegacy) return parameter(clause, "profile") == "nopeer";
    if (comma == std::string_view::npos) return false;
    accept.remove_prefix(comma + 1);
  }
}

}  // namespace backplane
