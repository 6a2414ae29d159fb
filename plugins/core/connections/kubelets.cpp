#include "connections/kubelets.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "backplane/types/durations.hpp"

namespace backplane::core {
namespace {

constexpr std::string_view kWebSocketFeature = "ExtendWebSocketsToKubelet";

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find(',', begin), text.size());
    if (end > begin) out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

ClientConfig config_of(const Host& host) {
  ClientConfig out;
  out.certificate_authority_file = host.flag("kubelet-certificate-authority").value_or("");
  out.client_certificate_file = host.flag("kubelet-client-certificate").value_or("");
  out.client_key_file = host.flag("kubelet-client-key").value_or("");
  out.insecure_skip_tls_verify = out.certificate_authority_file.empty();
  const auto timeout = parse_duration(host.flag("kubelet-timeout").value_or("5s"));
  if (timeout && timeout->count() > 0) {
    out.connect_timeout = std::max(std::chrono::seconds(1), std::chrono::duration_cast<std::chrono::seconds>(*timeout));
  }
  out.max_lasting_connections = 1024;
  // Logs and commands have no time limit; a request that is not long-running has a deadline.
  out.call_timeout = std::chrono::milliseconds(0);
  return out;
}

// Formats a list of addresses like Go's %v.
std::string printed_addresses(const Array* addresses) {
  std::string out = "[";
  if (addresses == nullptr) return out + "]";
  for (const Value& each : *addresses) {
    if (!each.is_object()) continue;
    if (out.size() > 1) out += ' ';
    out.append("{").append(get_string(each.get_object(), "type")).append(" ").append(get_string(each.get_object(), "address")).append("}");
  }
  return out + "]";
}

bool declares(const Object& node, std::string_view feature) {
  const Array* features = get_array(object_or_empty(node, "status"), "declaredFeatures");
  return features != nullptr &&
         std::any_of(features->begin(), features->end(), [&](const Value& each) { return text_of(each) == feature; });
}

}  // namespace

std::string join_host_port(const std::string& host, const std::string& port) {
  return host.find(':') == std::string::npos ? host + ":" + port : "[" + host + "]:" + port;
}

Status as_asked(const RequestContext& context, Status status, std::string_view name) {
  return status.reason() == Reason::kNotFound ? not_found(context.info.api_group, context.info.resource, name) : status;
}

std::string Kubelet::authority() const { return join_host_port(host, port); }

Result<std::shared_ptr<Kubelets>> Kubelets::make(Host& host, std::shared_ptr<StandardStorage> nodes, DialFunction dial) {
  std::shared_ptr<Kubelets> out(new Kubelets);
  out->nodes_ = std::move(nodes);
  out->address_types_ = words_of(host.flag("kubelet-preferred-address-types").value_or(""));
  out->default_port_ = host.flag("kubelet-port").value_or("10250");
  ClientConfig config = config_of(host);
  config.dial = std::move(dial);
  out->verified_ = std::make_shared<Clients>(host, config);
  config.certificate_authority_file.clear();
  config.insecure_skip_tls_verify = true;
  out->unverified_ = std::make_shared<Clients>(host, std::move(config));
  // Makes one client now, so that unusable certificate files make startup fail instead of the first call.
  auto tried = out->verified_->of("https://kubelet.invalid:10250");
  if (!tried.ok()) return std::move(tried).status();
  return out;
}

Result<std::shared_ptr<HttpClient>> Kubelets::client(const Kubelet& kubelet, bool verify) const {
  return (verify ? verified_ : unverified_)->of(kubelet.server());
}

Result<Kubelet> Kubelets::read(const Object& node) const {
  const Object& status = object_or_empty(node, "status");
  const Array* addresses = get_array(status, "addresses");
  Kubelet out;
  for (const std::string& type : address_types_) {
    if (addresses == nullptr || !out.host.empty()) break;
    for (const Value& each : *addresses) {
      if (!each.is_object() || get_string(each.get_object(), "type") != type) continue;
      out.host = get_string(each.get_object(), "address");
      break;
    }
  }
  if (out.host.empty()) return Status(500, Reason::kNone, "no preferred addresses found; known addresses: " + printed_addresses(addresses));
  const auto port = get_int_path(status, "daemonEndpoints.kubeletEndpoint.Port").value_or(0);
  out.port = port > 0 ? std::to_string(port) : default_port_;
  out.takes_websockets = declares(node, kWebSocketFeature);
  return out;
}

Task<Result<Kubelet>> Kubelets::find(RequestContext& context, std::string node) const {
  if (nodes_ == nullptr) co_return not_found("", "nodes", node);  // disabled
  auto found = co_await nodes_->get(context, node, GetOptions());
  if (!found.ok()) co_return as_asked(context, std::move(found).status(), node);
  const Object tree = decode(**found, context.arena());
  co_return read(tree);
}

}  // namespace backplane::core
