// Paths and queries of API calls.
//
// Thread-safety: pure functions.
#pragma once

#include <string>

#include "backplane/core/meta.hpp"
#include "backplane/core/options.hpp"

namespace backplane::api_client {

std::string percent_encode(std::string_view text);
// Returns "/apis/apps/v1/namespaces/ns/deployments/name/status".
std::string path_of(const GroupVersionResource& resource, std::string_view ns, std::string_view name, std::string_view subresource);
// Returns "?a=b&c=d", or an empty text.
std::string query_of(const ListOptions& options);
std::string query_of(const WriteOptions& options);
// Returns the body of a delete request.
Object delete_options_of(const DeleteOptions& options);

}  // namespace backplane::api_client
