// Raw HTTP below a named object, in the two forms that Kubernetes has: connections with options (exec, portforward, proxy), and reads whose
// answer streams (log).  They stand beside the roles of backplane/rest/roles.hpp.
//
// Thread-safety: every method may be called from any executor at any time.
// Lifetime:      as of every storage.
// Errors:        a Status, which the host sends; not once the exchange has been answered.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/visibility.hpp"
#include "backplane/rest/roles.hpp"

namespace backplane BACKPLANE_API {

// A member of an options kind, as the query has it.
struct ConnectParameter {
  std::string name;
  std::string type = "string";  // or "boolean", "integer"
};

// A Connecter that takes an options object of its kind(): out of the query, and out of the path behind the subresource.  Admission sees it.
class OptionConnecter : public Connecter {
 public:
  ~OptionConnecter() override;
  // Of the query, for documents.
  virtual std::vector<ConnectParameter> parameters() const = 0;
  // Whether a path may follow the subresource.
  virtual bool takes_path() const { return false; }
  // Errors: kBadRequest for what cannot be read.
  virtual Result<Object> read_options(const RequestContext& context, const Query& query) const = 0;
  // Answers the exchange, or returns why not.
  virtual Task<Status> connect_with(RequestContext& context, std::string name, Object options, Exchange& exchange) = 0;
  // With the options of no query.  The host does not call it.
  Task<void> connect(RequestContext& context, std::string name, Exchange& exchange) final;
};

// GET of something that is no object: the answer is a text that may come for as long as the client listens.
class StreamGetter {
 public:
  virtual ~StreamGetter();
  // Media types of the answer, besides those that errors have.
  virtual std::vector<std::string> media_types() const = 0;
  virtual std::vector<ConnectParameter> parameters() const = 0;
  // Answers the exchange, or returns why not.
  virtual Task<Status> get_stream(RequestContext& context, std::string name, Exchange& exchange) = 0;
};

// The path behind the subresource, with a slash in front if there is any: what proxies add to their target.
std::string path_behind_subresource(const RequestInfo& info);

}  // namespace BACKPLANE_API
