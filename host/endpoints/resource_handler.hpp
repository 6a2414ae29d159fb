// The verbs over HTTP: decode → RestStorage → encode, one file per verb.
//
// Thread-safety: handlers are const after construction and serve any number of requests at once.
// Errors:        every Status is sent in the negotiated encoding.
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

// The warning for clients of a deprecated version, and the labels of its metric.
struct Deprecation {
  std::string warning;          // sent with every response; empty: the version is not deprecated
  std::string removed_release;  // "1.37"; empty: none is announced
};

// One row of the route table: a resource or a subresource of one group version.
struct ResourceScope {
  GroupVersionResource resource;
  std::string subresource;  // empty for the resource itself
  GroupVersionKind kind;    // the kind of the storage's objects
  bool namespaced = true;
  std::shared_ptr<RestStorage> storage;
  // The resource was added at run time (a custom resource, or a subresource of one): upstream serves it by the verb, without a router of
  // paths and methods.
  bool published = false;
  Authorizer* authorizer = nullptr;                // authorizes an update that turns out to be a create; null: such an update is refused
  AdmissionRunner* admission = nullptr;            // for storages that do not run admission (NamedCreater, Connecter); may be null
  std::chrono::seconds min_request_timeout{1800};  // watches without timeoutSeconds end in [x, 2x)
  std::size_t max_body_bytes = 3 * 1024 * 1024;
  bool unsafe_deletes = false;  // the gate AllowUnsafeMalformedObjectDeletion
  // Fires when the server drains; watches end early then (only if the grace period is configured).
  NamedSignal* shutting_down = nullptr;
  // The open watches of the server, one set for all handlers; null: a handler with `shutting_down` has a separate set.
  std::shared_ptr<OpenWatches> watches;
  // Kinds the server knows, for errors about a body of another kind; null: only `kind` is known.
  const kit::Published<Scheme>* scheme = nullptr;
  Deprecation deprecation;
};

std::shared_ptr<HttpHandler> make_resource_handler(ResourceScope scope);
// Verbs for discovery, sorted, from the roles the storage has (connect methods mapped as upstream's toDiscoveryKubeVerb).
std::vector<std::string> discovery_verbs(RestStorage& storage, bool subresource);

// A Status in the encoding the client accepts (JSON when nothing fits); sets Retry-After when details ask for it.
Task<void> write_status(RequestContext& context, Exchange& exchange, const Status& status);
// A tree in the negotiated encoding (json, yaml, pretty), for discovery and the like; with its type, in protobuf too.
Task<void> write_value(RequestContext& context, Exchange& exchange, int code, const Value& value, const Schema* schema = nullptr);
// Warnings of the context as response headers; for handlers that respond without the two functions above.
void add_warning_headers(RequestContext& context, Exchange& exchange);

}  // namespace backplane
