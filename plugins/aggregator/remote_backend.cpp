#include "remote_backend.hpp"

#include <algorithm>

#include <backplane/kit/front_proxy.hpp>
#include <backplane/net/certificate_flaws.hpp>
#include <backplane/net/egress.hpp>
#include <backplane/net/informer.hpp>
#include <backplane/types/base64.hpp>

namespace backplane {
namespace {

// The maximum number of clients. The addresses of endpoints change, so the oldest client is dropped for a new address.
constexpr std::size_t kMaxAddresses = 64;
constexpr int kDefaultPort = 443;

}  // namespace

std::string RemoteTarget::service_key() const { return object_key(ns, service); }

RemoteTarget remote_target(const Object& apiservice) {
  static const Object kNone;
  const Object* found = get_object(apiservice, "spec");
  const Object& spec = found ? *found : kNone;
  const Object* service = get_object(spec, "service");
  RemoteTarget out;
  out.version = {std::string(get_string(spec, "group")), std::string(get_string(spec, "version"))};
  if (service != nullptr) {
    out.ns = get_string(*service, "namespace");
    out.service = get_string(*service, "name");
    out.port = static_cast<int>(get_int(*service, "port").value_or(kDefaultPort));
  }
  out.insecure = get_bool(spec, "insecureSkipTLSVerify").value_or(false);
  out.ca_bundle = from_base64(get_string(spec, "caBundle")).value_or("");
  return out;
}

Task<Result<std::string>> RemoteBackend::resolve() const { return resolver_->resolve(target_.ns, target_.service, target_.port); }

ClientConfig RemoteBackend::config(const std::string& address) const {
  ClientConfig out = kit::front_proxy_client(host_);
  out.server = "https://" + address;
  out.tls_server_name = service_server_name(target_.ns, target_.service);
  out.certificate_authority = target_.ca_bundle;
  out.insecure_skip_tls_verify = target_.insecure;
  return out;
}

Result<RemoteBackend::Known> RemoteBackend::known(const std::string& address) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(clients_.begin(), clients_.end(), [&](const Known& each) { return each.address == address; });
  if (found != clients_.end()) return *found;
  auto egress = EgressSelector::of(host_);
  if (!egress.ok()) return std::move(egress).status();
  ClientConfig wanted = config(address);
  wanted.dial = (*egress)->dialer(EgressType::kCluster);
  auto made = host_.make_client(std::move(wanted));
  if (!made.ok()) return std::move(made).status();
  if (clients_.size() >= kMaxAddresses) clients_.erase(clients_.begin());
  clients_.push_back({address, *made, count_certificate_flaws(*made, "apiserver_kube_aggregator")});
  return clients_.back();
}

Result<std::shared_ptr<HttpClient>> RemoteBackend::client(const std::string& address) {
  auto found = known(address);
  if (!found.ok()) return std::move(found).status();
  return std::move(found->client);
}

Result<std::shared_ptr<HttpClient>> RemoteBackend::counted_client(const std::string& address) {
  auto found = known(address);
  if (!found.ok()) return std::move(found).status();
  return std::move(found->counted);
}

void RemoteBackend::forget(const std::string& address) {
  const std::lock_guard lock(mutex_);
  std::erase_if(clients_, [&](const Known& each) { return each.address == address; });
}

}  // namespace backplane
