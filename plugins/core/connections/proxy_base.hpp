// Common base of the proxies of nodes, pods and services: everything except the choice of the backend.
//
// Thread-safety: any executor.
#pragma once

#include <memory>
#include <string>

#include "backplane/net/client.hpp"
#include "backplane/rest/connect.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::core {

struct ProxyTarget {
  std::shared_ptr<HttpClient> client;
  std::string authority;  // "host:port"
};

class ProxyBase : public RestStorage, public OptionConnecter {
 public:
  explicit ProxyBase(std::string kind) : kind_(std::move(kind)) {}

  GroupVersionKind kind() const override { return {"", "v1", kind_}; }
  const Schema* schema() const override { return nullptr; }
  std::vector<std::string> connect_methods() const override;
  std::vector<ConnectParameter> parameters() const override { return {{"path"}}; }
  bool takes_path() const override { return true; }
  Result<Object> read_options(const RequestContext& context, const Query& query) const override;
  Task<Status> connect_with(RequestContext& context, std::string name, Object options, Exchange& exchange) override;

 protected:
  // The target for `id` ("name", "name:port", "scheme:name:port").
  virtual Task<Result<ProxyTarget>> find(RequestContext& context, std::string id) = 0;

 private:
  const std::string kind_;
};

}  // namespace backplane::core
