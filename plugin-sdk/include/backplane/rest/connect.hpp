// Subresources with raw HTTP, in two forms: connections with an options object (exec, portforward, proxy), and reads whose response is a
// stream (log).
//
// Thread-safety: every method may be called from any executor at any time.
// Lifetime:      as for every storage.
// Errors:        a Status, which the host sends unless the response has begun.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/request.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/points/http.hpp"
#include "backplane/rest/roles.hpp"

namespace backplane BACKPLANE_API {

// A query parameter: one member of the options kind.
struct ConnectParameter {
  std::string name;
  std::string type = "string";  // or "boolean", "integer"
};

// A Connecter whose options object (of its kind()) is read from the query and from the path after the subresource. Admission receives the
// options.
class OptionConnecter : public Connecter {
 public:
  ~OptionConnecter() override;
  // The query parameters, for OpenAPI.
  virtual std::vector<ConnectParameter> parameters() const = 0;
  // Whether a path may follow the subresource.
  virtual bool takes_path() const { return false; }
  // Errors: kBadRequest for malformed parameters.
  virtual Result<Object> read_options(const RequestContext& context, const Query& query) const = 0;
  // Sends the response, or returns an error without having sent anything.
  virtual Task<Status> connect_with(RequestContext& context, std::string name, Object options, Exchange& exchange) = 0;
  // Not called by the host; fails with an internal error.
  Task<void> connect(RequestContext& context, std::string name, Exchange& exchange) final;
};

// GET with a text as response, which may continue for as long as the client listens.
class StreamGetter {
 public:
  virtual ~StreamGetter();
  // Media types of the response, in addition to those of errors.
  virtual std::vector<std::string> media_types() const = 0;
  // The query parameters, for OpenAPI.
  virtual std::vector<ConnectParameter> parameters() const = 0;
  // Sends the response, or returns an error without having sent anything.
  virtual Task<Status> get_stream(RequestContext& context, std::string name, Exchange& exchange) = 0;
};

// The path after the subresource, with a leading slash unless empty: a proxy appends it to its target.
std::string path_after_subresource(const RequestInfo& info);

}  // namespace BACKPLANE_API
