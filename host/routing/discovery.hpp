// Discovery: /api, /apis and the group and version documents, in the legacy and the aggregated format.
//
// Thread-safety: pure functions of an immutable table.
#pragma once

#include <string>

#include "routing/route_table.hpp"
#include "routing/server_address.hpp"

namespace backplane {

Value legacy_api_versions(const RouteTable& table, const std::vector<ServerAddress>& addresses);  // GET /api
Value legacy_group_list(const RouteTable& table);                                                 // GET /apis
Value legacy_group(const GroupEntry& group);                                                      // GET /apis/GROUP
Value legacy_resource_list(const VersionTable& version);                                          // GET /apis/GROUP/VERSION
// apidiscovery.k8s.io/v2 APIGroupDiscoveryList; `core`: of /api, else of /apis.
std::string aggregated_discovery(const RouteTable& table, bool core);
// One group of that list, as JSON.
std::string aggregated_group(const GroupEntry& group);

// base64 of the first 8 bytes of SHA-256 over "GROUP/VERSION/KIND".
std::string storage_version_hash(const GroupVersionKind& kind);

// The types of these documents, by their kind: "APIGroupList", "APIGroupDiscoveryList" …
const Schema* discovery_schema(std::string_view kind);
// The list as a protobuf message in its envelope.
std::string aggregated_protobuf(std::string_view json);

// The list's hash for ETags: upstream's, which leaves out its kind.
std::string aggregated_hash(std::string_view json);

// The format that an Accept header selects for a discovery root: the aggregated one if the header names it anywhere and it is offered.
enum class DiscoveryForm : unsigned char { kLegacy, kAggregated, kAggregatedProtobuf, kAggregatedYaml, kNotAcceptable };
DiscoveryForm discovery_form(std::string_view accept, bool aggregated = true);
// Whether the Accept header asks for the aggregated document of this server alone (profile=nopeer).
bool asks_without_peers(std::string_view accept);

}  // namespace backplane
