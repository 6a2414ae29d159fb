// Rules on how a webhook is reached, by URL or by a service of the cluster (k8s.io/apiserver/pkg/util/webhook).
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane {
namespace kit BACKPLANE_API {

// A URL of the form https://host[/path].
void check_webhook_url(std::string_view text, const std::string& path, FieldErrors& errors);
// A reference to a service: namespace, name, path, port.
void check_webhook_service(const Object& service, const std::string& path, FieldErrors& errors);

}  // namespace BACKPLANE_API
}  // namespace backplane
