// Extension point: paths outside the resource tree.
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

// A path outside the resource tree and its handler.
struct PathRoute {
  std::string path;
  bool prefix = false;  // true: this path and everything below it
  bool listed = true;   // shown by GET /
  std::shared_ptr<HttpHandler> handler;
};

// Adds and removes paths at run time (a proxied group). Each call publishes a new route table; readers do not wait for it, and a running
// request finishes with the handler that it began with.
//
// Thread-safety: any thread.
// Errors:        kServiceUnavailable before the server starts; kAlreadyExists if another plugin has the path.
class DynamicPaths {
 public:
  virtual ~DynamicPaths();
  // Adds the route, or replaces this plugin's route on the same path.
  virtual Status publish(PathRoute route) = 0;
  // Errors: kNotFound when this plugin has not published it.
  virtual Status withdraw(std::string path) = 0;
};

}  // namespace BACKPLANE_API
