// Subresources that handle raw HTTP. An OptionConnecter has an options object (exec, portforward, proxy). A StreamGetter responds to GET
// with a stream (log).
//
// Thread-safety: every method may be called from any executor at any time.
// Lifetime:      like that of every storage (rest/roles.hpp).
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

// A query parameter: one member of the options object.
struct ConnectParameter {
  std::string name;
  std::string type = "string";  // or "boolean", "integer"
};

// A Connecter with an options object. kind() is the kind of the options object, and read_options() reads it from the query and from the
// path after the subresource. Admission plugins receive the options object.
class OptionConnecter : public Connecter {
 public:
  ~OptionConnecter() override;
  // The query parameters, for OpenAPI.
  virtual std::vector<ConnectParameter> parameters() const = 0;
  // Whether the URL may contain a path after the subresource.
  virtual bool takes_path() const { return false; }
  // Errors: kBadRequest for malformed parameters.
  virtual Result<Object> read_options(const RequestContext& context, const Query& query) const = 0;
  // Sends the response, or returns an error without having sent anything.
  virtual Task<Status> connect_with(RequestContext& context, std::string name, Object options, Exchange& exchange) = 0;
  // The host calls connect_with() instead. Fails with an internal error.
  Task<void> connect(RequestContext& context, std::string name, Exchange& exchange) final;
};

// GET whose response is a text. The response may continue for as long as the client reads it.
class StreamGetter {
 public:
  virtual ~StreamGetter();
  // Media types of the response, in addition to the media types of error responses.
  virtual std::vector<std::string> media_types() const = 0;
  // The query parameters, for OpenAPI.
  virtual std::vector<ConnectParameter> parameters() const = 0;
  // Sends the response, or returns an error without having sent anything.
  virtual Task<Status> get_stream(RequestContext& context, std::string name, Exchange& exchange) = 0;
};

// Returns the path after the subresource, with a leading slash unless it is empty. A proxy appends it to its target.
std::string path_after_subresource(const RequestInfo& info);

}  // namespace BACKPLANE_API
