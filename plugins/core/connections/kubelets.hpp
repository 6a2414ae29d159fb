// Addresses of kubelets and the settings of calls to them: from the flags --kubelet-* and the status of nodes.
//
// Thread-safety: any executor.
// Lifetime:      shared; the host and the nodes' storage outlive it.
// Errors:        404 for a missing node, 500 for a node without an address of a type in --kubelet-preferred-address-types.
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
  bool takes_websockets = false;  // the node declares that its kubelet translates WebSockets

  std::string authority() const;  // "host:port", an IPv6 address in brackets
  std::string server() const { return "https://" + authority(); }
};
// "host:port" with brackets where they are needed.
std::string join_host_port(const std::string& host, const std::string& port);

// An error about an object that was looked up for a request is reported as if the request had named the object.
Status as_asked(const RequestContext& context, Status status, std::string_view name);

class Kubelets {
 public:
  static Result<std::shared_ptr<Kubelets>> make(Host& host, std::shared_ptr<StandardStorage> nodes, DialFunction dial);

  Task<Result<Kubelet>> find(RequestContext& context, std::string node) const;
  // `verify` false: any certificate is accepted.
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
