#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <utility>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/json_access.hpp"
#include "backplane/core/server_slot.hpp"
#include "backplane/host.hpp"
#include "backplane/net/egress.hpp"
#include "backplane/types/schema.hpp"
#include "net/egress/connect_proxy.hpp"

namespace backplane::egress {
namespace {

constexpr std::string_view kNames[] = {"controlplane", "etcd", "cluster"};  // in the order of EgressType
constexpr std::string_view kConnection = "service.connection";

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return out;
}

// Adds an error for each unknown member, as strict decoding of configurations does.
void check_members(const Object& object, std::string_view path, std::initializer_list<std::string_view> known,
                   std::vector<std::string>& out) {
  for (const auto& member : object) {
    if (std::find(known.begin(), known.end(), std::string_view(member.key())) != known.end()) continue;
    out.push_back("unknown field \"" + std::string(path) + (path.empty() ? "" : ".") + std::string(member.key()) + "\"");
  }
}

Status check_form(const Object& config) {
  const std::string_view version = get_string(config, "apiVersion");
  const bool known = version == "apiserver.k8s.io/v1alpha1" || version == "apiserver.k8s.io/v1beta1";
  if (!known || get_string(config, "kind") != "EgressSelectorConfiguration") {
    return bad_request("no kind " + quoted(get_string(config, "kind")) + " is registered for version " + quoted(version));
  }
  std::vector<std::string> problems;
  check_members(config, "", {"apiVersion", "kind", "egressSelections"}, problems);
  const Array* selections = get_array(config, "egressSelections");
  for (std::size_t i = 0; selections != nullptr && i < selections->size(); ++i) {
    const std::string path = "egressSelections[" + std::to_string(i) + "]";
    if (!(*selections)[i].is_object()) return bad_request(path + " is no object");
    const Object& each = (*selections)[i].get_object();
    const Object& connection = object_or_empty(each, "connection");
    const Object& transport = object_or_empty(connection, "transport");
    check_members(each, path, {"name", "connection"}, problems);
    check_members(connection, path + ".connection", {"proxyProtocol", "transport"}, problems);
    check_members(transport, path + ".connection.transport", {"tcp", "uds"}, problems);
    check_members(object_or_empty(transport, "uds"), path + ".connection.transport.uds", {"udsName"}, problems);
    const Object& tcp = object_or_empty(transport, "tcp");
    check_members(tcp, path + ".connection.transport.tcp", {"url", "tlsConfig"}, problems);
    check_members(object_or_empty(tcp, "tlsConfig"), path + ".connection.transport.tcp.tlsConfig",
                  {"caBundle", "clientCert", "clientKey", "tlsServerName"}, problems);
  }
  if (problems.empty()) return {};
  std::string all;
  for (const std::string& each : problems) all.append(all.empty() ? "" : ", ").append(each);
  return bad_request("strict decoding error: " + all);
}

void check_unix(const Object& uds, FieldErrors& errors) {
  if (get_string(uds, "udsName").empty()) {
    errors.invalid(std::string(kConnection) + ".udsName", std::string_view("nil"), "must be present for UDS connections");
  }
}

// Checks a file of a tlsConfig. `missing` is the error if the configuration does not name the file; if `missing` is empty, the file is
// optional.
void check_file(const Object& tls, std::string_view member, std::string_view missing, std::string_view absent, FieldErrors& errors) {
  const std::string path = std::string(kConnection) + ".tlsConfig." + std::string(member);
  const std::string file(get_string(tls, member));
  std::error_code ignored;
  if (file.empty()) {
    if (!missing.empty()) errors.invalid(path, std::string_view("nil"), std::string(missing));
  } else if (!std::filesystem::exists(file, ignored)) {
    errors.invalid(path, std::string_view(file), std::string(absent));
  }
}

void check_tls(const Object& tls, FieldErrors& errors) {
  check_file(tls, "caBundle", "", "TLS config ca bundle does not exist", errors);
  check_file(tls, "clientCert", "Using TLS requires clientCert", "TLS client cert does not exist", errors);
  check_file(tls, "clientKey", "Using TLS requires requires clientKey", "TLS client key does not exist", errors);
}

void check_tcp(const Object& tcp, FieldErrors& errors) {
  const std::string_view url = get_string(tcp, "url");
  const bool with_tls = get_object(tcp, "tlsConfig") != nullptr;
  const std::string path(kConnection);
  if (url.starts_with("http://")) {
    if (with_tls) errors.invalid(path + ".tlsConfig", std::string_view("nil"), "config must not be present when using HTTP");
  } else if (url.starts_with("https://")) {
    if (!with_tls) return errors.required(path + ".tlsConfig", "TLSConfig must be present when using HTTPS");
    check_tls(object_or_empty(tcp, "tlsConfig"), errors);
  } else {
    errors.invalid(path + ".url", url, "supported connection protocols are http:// and https://");
  }
}

void check_transport(const Object& connection, std::string_view protocol, FieldErrors& errors) {
  const std::string path(kConnection);
  const Object* transport = get_object(connection, "transport");
  if (protocol == "Direct") {
    if (transport != nullptr) errors.invalid(path + ".transport", std::string_view("direct"), "config must be absent for direct connect");
    return;
  }
  const bool grpc = protocol == "GRPC";
  if (transport == nullptr)
    return errors.required(path + ".transport", grpc ? "transport must be set for GRPC" : "transport must be set for HTTPConnect");
  const Object* tcp = get_object(*transport, "tcp");
  const Object* uds = get_object(*transport, "uds");
  if (grpc && uds == nullptr) return errors.required(path + ".uds", "UDS must be set with GRPC");
  if (!grpc && tcp != nullptr && uds != nullptr) return errors.invalid_raw(path + ".tcp", to_json(*tcp), "TCP and UDS cannot both be set");
  if (tcp == nullptr && uds == nullptr) return errors.required(path + ".tcp", "One of TCP or UDS must be set");
  if (uds != nullptr) return check_unix(*uds, errors);
  check_tcp(*tcp, errors);
}

void check_protocols(const Array& selections, FieldErrors& errors) {
  for (const Value& each : selections) {
    const Object& connection = object_or_empty(each.get_object(), "connection");
    const std::string_view protocol = get_string(connection, "proxyProtocol");
    if (protocol == "Direct" || protocol == "HTTPConnect" || protocol == "GRPC") {
      check_transport(connection, protocol, errors);
    } else {
      errors.not_supported(std::string(kConnection) + ".protocol", protocol, {"Direct", "GRPC", "HTTPConnect"});
    }
  }
}

void check_names(const Array& selections, FieldErrors& errors) {
  std::vector<std::string> seen;
  for (std::size_t i = 0; i < selections.size(); ++i) {
    const std::string name = lower(get_string(selections[i].get_object(), "name"));
    if (std::find(seen.begin(), seen.end(), name) != seen.end()) {
      errors.duplicate(std::string(kConnection) + "[" + std::to_string(i) + "]", name);
      continue;
    }
    seen.push_back(name);
    if (std::find(std::begin(kNames), std::end(kNames), name) == std::end(kNames)) {
      errors.not_supported(std::string(kConnection), name, {"cluster", "controlplane", "etcd"});
    }
  }
}

// Parses the host and port of "http://host:port" or "https://host:port".
ProxyAddress tcp_address(std::string_view url) {
  const std::string_view usual = url.starts_with("https://") ? "443" : "80";
  url.remove_prefix(url.find("//") + 2);
  url = url.substr(0, url.find('/'));
  const auto colon = url.rfind(':');
  ProxyAddress out;
  out.host = url.substr(0, colon);
  out.port = colon == std::string_view::npos ? usual : url.substr(colon + 1);
  if (out.host.starts_with('[') && out.host.ends_with(']')) out.host = out.host.substr(1, out.host.size() - 2);
  return out;
}

Result<DialFunction> tcp_dialer(const Object& tcp) {
  ProxyAddress proxy = tcp_address(get_string(tcp, "url"));
  if (const Object* tls = get_object(tcp, "tlsConfig")) {
    const auto file = [tls](std::string_view member) { return std::string(get_string(*tls, member)); };
    auto context = read_proxy_tls(file("caBundle"), file("clientCert"), file("clientKey"));
    if (!context.ok()) return std::move(context).status();
    const std::string name = file("tlsServerName");
    proxy.tls = std::make_shared<const ProxyTls>(ProxyTls{std::move(*context), name.empty() ? proxy.host : name});
  }
  return connect_through(std::move(proxy));
}

// Makes the dial function after all checks of the selection.
Result<DialFunction> make_dialer(const Object& selection) {
  const std::string name = lower(get_string(selection, "name"));
  const Object& connection = object_or_empty(selection, "connection");
  const std::string_view protocol = get_string(connection, "proxyProtocol");
  if (protocol == "Direct") return DialFunction();
  const Object& transport = object_or_empty(connection, "transport");
  if (const Object* uds = get_object(transport, "uds")) {
    return connect_through({std::string(get_string(*uds, "udsName")), "", "", nullptr, protocol == "GRPC"});
  }
  auto dialer = tcp_dialer(object_or_empty(transport, "tcp"));
  if (!dialer.ok())
    return bad_request("failed to create dialer for egressSelection " + backplane::quoted(name) + ": " + dialer.status().message());
  return dialer;
}

}  // namespace

Result<std::array<DialFunction, 3>> make_dialers(std::string_view text) {
  std::array<DialFunction, 3> out;
  auto config = parse_yaml(text, {}, nullptr);
  if (!config.ok()) return std::move(config).status();
  if (!config->is_object()) return bad_request("no object");
  if (Status status = check_form(config->get_object()); !status.ok()) return status;
  const Array* selections = get_array(config->get_object(), "egressSelections");
  if (selections == nullptr) return out;
  FieldErrors errors;
  check_protocols(*selections, errors);
  check_names(*selections, errors);
  if (!errors.empty()) return bad_request("failed to validate egress selector configuration: " + errors.aggregate_message());
  for (const Value& each : *selections) {
    auto dialer = make_dialer(each.get_object());
    if (!dialer.ok()) return std::move(dialer).status();
    const std::string name = lower(get_string(each.get_object(), "name"));
    out[static_cast<std::size_t>(std::find(std::begin(kNames), std::end(kNames), name) - std::begin(kNames))] = std::move(*dialer);
  }
  return out;
}

}  // namespace backplane::egress

namespace backplane BACKPLANE_API {

Result<std::shared_ptr<const EgressSelector>> EgressSelector::parse(std::string_view text) {
  auto dialers = egress::make_dialers(text);
  if (!dialers.ok()) return std::move(dialers).status();
  std::shared_ptr<EgressSelector> out(new EgressSelector);
  out->dialers_ = std::move(*dialers);
  return std::shared_ptr<const EgressSelector>(std::move(out));
}

Result<std::shared_ptr<const EgressSelector>> EgressSelector::read(const std::string& path) {
  if (path.empty()) return std::shared_ptr<const EgressSelector>(new EgressSelector);
  // A directory is not opened: opening it would succeed, and reading it would throw.
  std::error_code ignored;
  std::ifstream file;
  if (!std::filesystem::is_directory(path, ignored)) file.open(path, std::ios::binary);
  std::ostringstream read;
  read << file.rdbuf();
  const std::string text = read.str();
  if (!file.is_open() || !file) return bad_request("unable to read egress selector configuration from " + backplane::quoted(path));
  return parse(text);
}

Result<std::shared_ptr<const EgressSelector>> EgressSelector::of(const Host& host) {
  // The configurations that the servers of this process have read, by file. The flag may have a different value for each server.
  struct Known {
    std::mutex mutex;
    std::uint64_t server = 0;
    std::map<std::string, std::shared_ptr<const EgressSelector>> by_file;
  };
  static PerServer<Known> all;
  Known& known = all.here();
  const std::string path = host.flag("egress-selector-config-file").value_or("");
  const std::lock_guard lock(known.mutex);
  if (std::exchange(known.server, current_server_number()) != current_server_number()) known.by_file.clear();
  auto& selector = known.by_file[path];
  if (selector != nullptr) return selector;
  auto made = read(path);
  if (made.ok()) selector = *made;
  return made;
}

}  // namespace BACKPLANE_API
