// Serves the verbs over HTTP: decodes the request, calls the RestStorage, and encodes the response. Each verb has a file.
//
// Thread-safety: handlers do not change after construction. A handler serves any number of requests at the same time.
// Errors:        each Status is sent in the negotiated encoding.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backplane/host.hpp"
#include "backplane/kit/published.hpp"
#include "backplane/points/authentication.hpp"
#include "backplane/points/authorization.hpp"
#include "backplane/points/http.hpp"
#include "backplane/rest/admission_runner.hpp"
#include "backplane/rest/roles.hpp"
#include "backplane/rest/scheme.hpp"
#include "base/signal.hpp"

namespace backplane {

class OpenWatches;  // open_watches.hpp

// The warning of a deprecated version, and a label of its metric.
struct Deprecation {
  std::string warning;          // added to every response; empty: the version is not deprecated
  std::string removed_release;  // "1.37"; empty: no release is announced
};

// A row of the route table: a resource or a subresource of a group version.
struct ResourceScope {
  GroupVersionResource resource;
  std::string subresource;  // empty for the resource itself
  GroupVersionKind kind;    // the kind of the storage's objects
  bool namespaced = true;
  std::shared_ptr<RestStorage> storage;
  // The resource was published at run time: a custom resource or its subresource. Upstream serves such resources by verb, without a router
  // for paths and methods.
  bool published = false;
  Authorizer* authorizer = nullptr;                // authorizes updates that create their object; null: such updates are refused
  AdmissionRunner* admission = nullptr;            // for connects, and for storages that do not run admission themselves; may be null
  std::chrono::seconds min_request_timeout{1800};  // x: a watch without timeoutSeconds ends after a random time in [x, 2x)
  std::size_t max_body_bytes = 3 * 1024 * 1024;
  bool unsafe_deletes = false;  // the gate AllowUnsafeMalformedObjectDeletion
  // Ends the watches when it fires, which is when the server begins to drain. Null: watches do not end early.
  NamedSignal* shutting_down = nullptr;
  // The open watches of all handlers of the server. Null: if `shutting_down` is set, the handler has its own OpenWatches.
  std::shared_ptr<OpenWatches> watches;
  // The kinds that the server has, for errors about bodies of other kinds. Null: only `kind`.
  const kit::Published<Scheme>* scheme = nullptr;
  Deprecation deprecation;
};

std::shared_ptr<HttpHandler> make_resource_handler(ResourceScope scope);
// Returns the verbs for discovery, sorted. They follow from the roles of the storage. The methods of a Connecter are converted like
// upstream's toDiscoveryKubeVerb does it.
std::vector<std::string> discovery_verbs(RestStorage& storage, bool subresource);

// Sends a Status in an encoding that the client accepts, or in JSON if it accepts none. Sets Retry-After if the details require it.
Task<void> write_status(RequestContext& context, Exchange& exchange, const Status& status);
// Sends a tree in the negotiated encoding (JSON, indented JSON or YAML), for discovery and similar documents. If `schema` is set, protobuf
// is possible, too.
Task<void> write_value(RequestContext& context, Exchange& exchange, int code, const Value& value, const Schema* schema = nullptr);
// Adds the warnings of the context as response headers. Used by handlers that respond without the two functions above.
void add_warning_headers(RequestContext& context, Exchange& exchange);

}  // namespace backplane
