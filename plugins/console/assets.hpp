// The files of the console and the handler that serves them.
//
// Serves GET and HEAD of /console/ and of the files below it. The files contain no data of the cluster: the page calls the API with the
// viewer's credentials. Each response forbids scripts, styles and connections of other origins (Content-Security-Policy).
//
// Thread-safety: any thread.
// Lifetime:      the bytes are part of the plugin's file; responses copy them, so that the plugin can be replaced while one is sent.
// Errors:        404 for other paths, 405 for other methods.
#pragma once

#include <string_view>

#include "backplane/core/task.hpp"
#include "backplane/points/http.hpp"

namespace backplane::console {

struct Asset {
  std::string_view name;  // "main.js"; empty: the page
  std::string_view content_type;
  std::string_view bytes;
};

// Returns null if the console has no such file. "/console/" is the page. A number of one or two digits before a file's name is ignored:
// "/console/3/main.js".
const Asset* find_asset(std::string_view path) noexcept;

// The value of Content-Security-Policy; it allows the script in the page by its hash.
std::string_view content_security_policy() noexcept;

class AssetHandler final : public HttpHandler {
 public:
  Task<void> handle(RequestContext& context, Exchange& exchange) override;
};

}  // namespace backplane::console
