#include "connections/proxies.hpp"

#include <netdb.h>
#include <sys/socket.h>

#include <charconv>
#include <random>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/types/ip_addresses.hpp"
#include "connections/pods.hpp"
#include "connections/proxy_base.hpp"

namespace backplane::core {
namespace {

std::size_t random_index(std::size_t count) {
  thread_local std::minstd_rand random{std::random_device{}()};
  return count < 2 ? 0 : random() % count;
}

Result<ProxyTarget> target_at(Clients& clients, const std::string& scheme, std::string authority) {
  auto client = clients.of((scheme.empty() ? "http" : scheme) + "://" + authority);
  if (!client.ok()) return std::move(client).status();
  return ProxyTarget{std::move(*client), std::move(authority)};
}

// ---- nodes

// Returns the error message if the proxy must not connect to `host`; empty: it may connect.
std::string host_problem(const std::string& host) {
  if (parse_ip(host)) return is_global_unicast(host) ? "" : "address not allowed";
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int code = getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (code != 0) return "lookup " + host + ": " + (code == EAI_NONAME ? "no such host" : gai_strerror(code));
  std::string problem = found == nullptr ? "no addresses for hostname" : "";
  for (const addrinfo* each = found; each != nullptr && problem.empty(); each = each->ai_next) {
    char text[NI_MAXHOST] = {};
    const int named = getnameinfo(each->ai_addr, each->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
    const std::string_view address(text);
    if (named != 0 || !is_global_unicast(address.substr(0, address.find('%')))) problem = "address not allowed";
  }
  freeaddrinfo(found);
  return problem;
}

class NodeProxy final : public ProxyBase {
 public:
  NodeProxy(std::shared_ptr<const Kubelets> kubelets, std::shared_ptr<Clients> clients)
      : ProxyBase("NodeProxyOptions"), kubelets_(std::move(kubelets)), clients_(std::move(clients)) {}

 protected:
  Task<Result<ProxyTarget>> find(RequestContext& context, std::string id) override {
    auto wanted = split_scheme_name_port(id, "node");
    if (!wanted.ok()) co_return std::move(wanted).status();
    auto kubelet = co_await kubelets_->find(context, wanted->name);
    if (!kubelet.ok()) co_return std::move(kubelet).status();
    const auto problem = std::make_shared<std::string>();
    auto looking = run_blocking([problem, host = kubelet->host] { *problem = host_problem(host); });
    co_await std::move(looking);
    if (!problem->empty()) co_return bad_request(std::move(*problem));
    if (!wanted->port.empty() && wanted->port != kubelet->port) {
      co_return target_at(*clients_, wanted->scheme, join_host_port(kubelet->host, wanted->port));
    }
    auto client = kubelets_->client(*kubelet);
    if (!client.ok()) co_return std::move(client).status();
    co_return ProxyTarget{std::move(*client), kubelet->authority()};
  }

 private:
  const std::shared_ptr<const Kubelets> kubelets_;
  const std::shared_ptr<Clients> clients_;
};

// ---- pods

class PodProxy final : public ProxyBase {
 public:
  PodProxy(std::shared_ptr<StandardStorage> pods, std::shared_ptr<Clients> clients)
      : ProxyBase("PodProxyOptions"), pods_(std::move(pods)), clients_(std::move(clients)) {}

 protected:
  Task<Result<ProxyTarget>> find(RequestContext& context, std::string id) override {
    auto wanted = split_scheme_name_port(id, "pod");
    if (!wanted.ok()) co_return std::move(wanted).status();
    auto pod = co_await pods_->get(context, wanted->name, GetOptions());
    if (!pod.ok()) co_return std::move(pod).status();
    const Object tree = decode(**pod, context.arena());
    auto address = address_of(tree);
    if (!address.ok()) co_return std::move(address).status();
    const std::string port = wanted->port.empty() ? first_port(tree) : wanted->port;
    co_return target_at(*clients_, wanted->scheme, authority_of(*address, port));
  }

 private:
  static std::string authority_of(const std::string& address, const std::string& port) {
    if (!port.empty()) return join_host_port(address, port);
    return address.find(':') == std::string::npos ? address : "[" + address + "]";
  }

  const std::shared_ptr<StandardStorage> pods_;
  const std::shared_ptr<Clients> clients_;
};

// ---- services

// Addresses of one subset that has the requested port.
struct Candidates {
  std::vector<const Object*> addresses;
  std::int64_t port = 0;
};

std::vector<Candidates> candidates_of(const Object& endpoints, std::string_view port_name) {
  std::vector<Candidates> out;
  const Array* subsets = get_array(endpoints, "subsets");
  if (subsets == nullptr) return out;
  const auto each_object = [](const Array* list, auto&& visit) {
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
      if ((*list)[i].is_object()) visit((*list)[i].get_object());
    }
  };
  const std::size_t first = random_index(subsets->size());
  for (std::size_t i = 0; i < subsets->size(); ++i) {
    const Value& subset = (*subsets)[(first + i) % subsets->size()];
    if (!subset.is_object()) continue;
    each_object(get_array(subset.get_object(), "ports"), [&](const Object& port) {
      if (get_string(port, "name") != port_name) return;
      Candidates found;
      found.port = get_int(port, "port").value_or(0);
      each_object(get_array(subset.get_object(), "addresses"), [&](const Object& address) { found.addresses.push_back(&address); });
      if (!found.addresses.empty()) out.push_back(std::move(found));
    });
  }
  return out;
}

class ServiceProxy final : public ProxyBase {
 public:
  ServiceProxy(ServiceProxyStores stores, std::shared_ptr<Clients> clients)
      : ProxyBase("ServiceProxyOptions"), stores_(std::move(stores)), clients_(std::move(clients)) {}

 protected:
  Task<Result<ProxyTarget>> find(RequestContext& context, std::string id) override {
    auto wanted = split_scheme_name_port(id, "service");
    if (!wanted.ok()) co_return std::move(wanted).status();
    auto port = co_await port_name(context, wanted->name, wanted->port);
    if (!port.ok()) co_return std::move(port).status();
    auto endpoints = co_await stores_.endpoints->get(context, wanted->name, GetOptions());
    // The request is for a service, so the message is about the service.
    if (!endpoints.ok() && endpoints.status().reason() == Reason::kNotFound) co_return not_found("", "services", wanted->name);
    if (!endpoints.ok()) co_return std::move(endpoints).status();
    const Object tree = decode(**endpoints, context.arena());
    const Array* subsets = get_array(tree, "subsets");
    const std::string no_endpoints = "no endpoints available for service ";
    if (subsets == nullptr || subsets->empty()) co_return service_unavailable(no_endpoints + quoted(wanted->name));
    const std::vector<Candidates> candidates = candidates_of(tree, *port);
    for (const Candidates& each : candidates) {
      const std::size_t first = random_index(each.addresses.size());
      for (std::size_t i = 0; i < each.addresses.size(); ++i) {
        const Object& address = *each.addresses[(first + i) % each.addresses.size()];
        bool good = co_await is_pod_address(context, address);
        if (!good) continue;
        const std::string ip(get_string(address, "ip"));
        co_return target_at(*clients_, wanted->scheme, join_host_port(ip, std::to_string(each.port)));
      }
    }
    co_return service_unavailable(no_endpoints + quoted(id));
  }

 private:
  // Endpoints identify a port by its name in the Service. Returns `port`, or, if it is a number, the name of the Service's port with that
  // number.
  Task<Result<std::string>> port_name(RequestContext& context, std::string service, std::string port) const {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
    if (port.empty() || error != std::errc() || end != port.data() + port.size()) co_return port;
    auto found = co_await stores_.services->get(context, service, GetOptions());
    if (!found.ok()) co_return std::move(found).status();
    const Object tree = decode(**found, context.arena());
    const Array* ports = get_array(object_or_empty(tree, "spec"), "ports");
    for (std::size_t i = 0; ports != nullptr && i < ports->size(); ++i) {
      const Object& each = (*ports)[i].get_object();
      if (get_int(each, "port") == number) co_return std::string(get_string(each, "name"));
    }
    co_return service_unavailable("no service port " + std::to_string(number) + " found for service " + quoted(service));
  }

  // True if the address is that of a pod in the request's namespace. The proxy connects to no other address of the Endpoints object.
  Task<bool> is_pod_address(RequestContext& context, const Object& address) const {
    const Object* target = get_object(address, "targetRef");
    if (target == nullptr || get_string(*target, "namespace") != context.info.ns) co_return false;
    auto pod = co_await stores_.pods->get(context, std::string(get_string(*target, "name")), GetOptions());
    if (!pod.ok()) co_return false;
    const Object tree = decode(**pod, context.arena());
    co_return has_address(tree, get_string(address, "ip"));
  }

  const ServiceProxyStores stores_;
  const std::shared_ptr<Clients> clients_;
};

}  // namespace

std::shared_ptr<Clients> make_proxy_clients(Host& host, DialFunction dial) {
  ClientConfig config;
  config.insecure_skip_tls_verify = true;
  config.dial = std::move(dial);
  config.call_timeout = std::chrono::milliseconds(0);
  return std::make_shared<Clients>(host, std::move(config));
}

std::shared_ptr<RestStorage> make_node_proxy(std::shared_ptr<const Kubelets> kubelets, std::shared_ptr<Clients> clients) {
  return std::make_shared<NodeProxy>(std::move(kubelets), std::move(clients));
}

std::shared_ptr<RestStorage> make_pod_proxy(std::shared_ptr<StandardStorage> pods, std::shared_ptr<Clients> clients) {
  return std::make_shared<PodProxy>(std::move(pods), std::move(clients));
}

std::shared_ptr<RestStorage> make_service_proxy(ServiceProxyStores stores, std::shared_ptr<Clients> clients) {
  return std::make_shared<ServiceProxy>(std::move(stores), std::move(clients));
}

}  // namespace backplane::core
