// Extension point: paths other than those of API resources (/apis/…, /api/…).
//
// Thread-safety: plain data; DynamicPaths may be called from any thread.
// Lifetime:      handlers are shared with the host.
#pragma once

#include <memory>
#include <string>

#include "backplane/core/status.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

class HttpHandler;

// A path that serves no API resource, and its handler.
struct PathRoute {
  std::string path;
  bool prefix = false;  // true: this path and everything below it
  bool listed = true;   // shown by GET /
  std::shared_ptr<HttpHandler> handler;
};

// Adds and removes paths at run time, for example those of an API group that is proxied to another server. Each call publishes a new route
// table. Readers do not wait for a publication, and a running request keeps the handler with which it began.
//
// Thread-safety: any thread.
// Errors:        kServiceUnavailable before the server starts; kAlreadyExists if another plugin has the path.
class DynamicPaths {
 public:
  virtual ~DynamicPaths();
  // Adds the route, or replaces this plugin's route on the same path.
  virtual Status publish(PathRoute route) = 0;
  // Removes the route of this plugin with this path.
  // Errors: kNotFound if this plugin has not published the path.
  virtual Status withdraw(std::string path) = 0;
};

}  // namespace BACKPLANE_API
