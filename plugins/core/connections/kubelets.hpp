// Where kubelets are, and how they are called: what --kubelet-* says, and the status of nodes.
//
// Thread-safety: any executor.
// Lifetime:      shared; the host and the nodes' storage outlive it.
// Errors:        404 for a node that is not there, 500 for one that says no address of a wanted type.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backplane/core/request.hpp"
#include "backplane/rest/roles.hpp"
#include "backplane/rest/standard_storage.hpp"
#include "connections/clients.hpp"

namespace backplane::core {

struct Kubelet {
  std::string host, port;
  bool takes_websockets = false;  // it declares that it translates them itself

  std::string authority() const;  // "host:port", an IPv6 address in brackets
  std::string server() const { return "https://" + authority(); }
};
// "host:port" with brackets where they are needed.
std::string join_host_port(const std::string& host, const std::string& port);

// What was looked for on behalf of a request is told as if the request had named it.
Status as_asked(const RequestContext& context, Status status, std::string_view name);

class Kubelets {
 public:
  static Result<std::shared_ptr<Kubelets>> make(Host& host, std::shared_ptr<StandardStorage> nodes, DialFunction dial);

  Task<Result<Kubelet>> find(RequestContext& context, std::string node) const;
  // `verify` false: whatever certificate it shows.
  Result<std::shared_ptr<HttpClient>> client(const Kubelet& kubelet, bool verify = true) const;

 private:
  Kubelets() = default;
  Result<Kubelet> read(const Object& node) const;

  std::shared_ptr<StandardStorage> nodes_;
  std::vector<std::string> address_types_;
  std::string default_port_;
  std::shared_ptr<Clients> verified_, unverified_;
};

}  // namespace backplane::core
