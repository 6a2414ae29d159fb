// Discovery: the documents of /api, /apis, a group and a version, in the legacy and in the aggregated format.
//
// Thread-safety: pure functions of an immutable route table.
#pragma once

#include <string>

#include "routing/route_table.hpp"
#include "routing/server_address.hpp"

namespace backplane {

Value legacy_api_versions(const RouteTable& table, const std::vector<ServerAddress>& addresses);  // GET /api
Value legacy_group_list(const RouteTable& table);                                                 // GET /apis
Value legacy_group(const GroupEntry& group);                                                      // GET /apis/GROUP
Value legacy_resource_list(const VersionTable& version);                                          // GET /apis/GROUP/VERSION
// Returns an APIGroupDiscoveryList of apidiscovery.k8s.io/v2. `core`: true for /api, false for /apis.
std::string aggregated_discovery(const RouteTable& table, bool core);
// Returns one item of that list, as JSON.
std::string aggregated_group(const GroupEntry& group);

// Returns the base64 text of the first 8 bytes of the SHA-256 digest of "GROUP/VERSION/KIND".
std::string storage_version_hash(const GroupVersionKind& kind);

// Returns the schema of a discovery document by its kind: "APIGroupList", "APIGroupDiscoveryList" …
const Schema* discovery_schema(std::string_view kind);
// Converts an APIGroupDiscoveryList to a protobuf message in the Kubernetes envelope.
std::string aggregated_protobuf(std::string_view json);

// Returns the hash of an APIGroupDiscoveryList for ETags. As upstream, the hash does not include kind and apiVersion.
std::string aggregated_hash(std::string_view json);

// The format of /api or /apis that an Accept header selects. The aggregated format has precedence if any clause of the header names it and
// `aggregated` is true.
enum class DiscoveryForm : unsigned char { kLegacy, kAggregated, kAggregatedProtobuf, kAggregatedYaml, kNotAcceptable };
DiscoveryForm discovery_form(std::string_view accept, bool aggregated = true);
// Returns true if the Accept header requests the aggregated document of this server only (profile=nopeer).
bool requests_no_peers(std::string_view accept);

}  // namespace backplane
