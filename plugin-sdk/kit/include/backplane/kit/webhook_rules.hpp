// Validation of webhook client configurations: a URL or a reference to a service (k8s.io/apiserver/pkg/util/webhook).
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

// Adds errors unless `text` is a URL of the form https://host[/path].
void check_webhook_url(std::string_view text, const std::string& path, FieldErrors& errors);
// Adds errors for a reference to a service: namespace, name, path, port.
void check_webhook_service(const Object& service, const std::string& path, FieldErrors& errors);

}  // namespace BACKPLANE_API
}  // namespace backplane
