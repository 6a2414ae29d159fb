#include "settings.hpp"

#include <sys/un.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>

#include "backplane/types/durations.hpp"

namespace backplane::etcd {
namespace {

constexpr std::string_view kDefaultPort = "2379";

Status bad_server(std::string_view url, std::string_view why) {
  return bad_request("--etcd-servers: " + backplane::quoted(url) + " " + std::string(why) +
                     "; write it as https://HOST:PORT or http://HOST:PORT");
}

Status check_pem(std::string_view flag, const std::string& path) {
  if (path.empty()) return {};
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (!file.is_open() || text.str().empty())
    return bad_request("--" + std::string(flag) + ": " + backplane::quoted(path) + " cannot be read, or is empty");
  if (text.str().find("-----BEGIN ") == std::string::npos)
    return bad_request("--" + std::string(flag) + ": " + backplane::quoted(path) + " contains no PEM block");
  return {};
}

// Splits the value of a flag with several values: they are separated by commas, or the value is a list of quoted texts in brackets.
std::vector<std::string> list_of(std::string_view text, std::string_view separators = ",\" ") {
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  std::vector<std::string> items;
  std::string item;
  const auto end = [&] {
    if (!item.empty()) items.push_back(std::exchange(item, {}));
  };
  for (const char c : text) {
    if (separators.find(c) != std::string_view::npos)
      end();
    else
      item += c;
  }
  end();
  return items;
}

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

Result<Endpoint> parse_endpoint(std::string_view url) {
  Endpoint endpoint;
  endpoint.shown = std::string(url);
  std::string_view rest = url;
  constexpr std::string_view kSlashes = "//", kSocket = "unix:";
  if (rest.starts_with(kSocket)) {
    rest.remove_prefix(kSocket.size());
    if (rest.starts_with(kSlashes)) rest.remove_prefix(kSlashes.size());
    if (rest.empty()) return bad_server(url, "names no socket");
    if (rest.size() >= sizeof(sockaddr_un::sun_path)) return bad_server(url, "names a socket whose path is too long");
    endpoint.address = std::string(kSocket) + std::string(rest);
    return endpoint;
  }
  const auto scheme_end = rest.find("://");
  const std::string_view scheme = scheme_end == std::string_view::npos ? "http" : rest.substr(0, scheme_end);
  if (scheme_end != std::string_view::npos) rest.remove_prefix(scheme_end + 3);
  if (scheme != "http" && scheme != "https") return bad_server(url, "has a scheme that etcd is not reached by");
  endpoint.tls = scheme == "https";
  while (!rest.empty() && rest.back() == '/') rest.remove_suffix(1);
  if (rest.find('/') != std::string_view::npos) return bad_server(url, "has a path");
  const bool bracketed = rest.starts_with('[');
  const auto host_end = bracketed ? rest.find(']') : rest.find(':');
  if (bracketed && host_end == std::string_view::npos) return bad_server(url, "has a bracket that does not close");
  const std::string_view host = host_end == std::string_view::npos ? rest : rest.substr(0, bracketed ? host_end + 1 : host_end);
  std::string_view port = rest.substr(std::min(rest.size(), host.size()));
  if (host.empty() || host == "[]") return bad_server(url, "has no host");
  if (!port.empty()) {
    port.remove_prefix(1);
    if (rest[host.size()] != ':' || !is_number(port) || port.size() > 5) return bad_server(url, "has a port that is no number");
  }
  endpoint.address = (bracketed ? "ipv6:" : "dns:") + std::string(host) + ":" + std::string(port.empty() ? kDefaultPort : port);
  return endpoint;
}

std::string clean_prefix(std::string_view prefix) {
  while (prefix.starts_with('/')) prefix.remove_prefix(1);
  while (prefix.ends_with('/')) prefix.remove_suffix(1);
  return "/" + std::string(prefix);
}

Result<Settings> read_settings(const ReadFlag& flag) {
  Settings settings;
  const auto text = [&](std::string_view name) { return flag(name).value_or(""); };
  for (const auto& url : list_of(text("etcd-servers"))) {
    auto endpoint = parse_endpoint(url);
    if (!endpoint.ok()) return std::move(endpoint.status());
    settings.endpoints.push_back(std::move(*endpoint));
  }
  if (settings.endpoints.empty()) return bad_request("--storage-backend=etcd3 needs --etcd-servers: the URLs of the etcd servers");
  if (const auto prefix = flag("etcd-prefix")) settings.prefix = clean_prefix(*prefix);
  if (settings.prefix == "/") return bad_request("--etcd-prefix: must be a non-empty prefix of keys, such as /registry");
  struct File {
    std::string_view flag;
    std::string& into;
  };
  for (const File& file : {File{"etcd-cafile", settings.authorities_file}, File{"etcd-certfile", settings.certificate_file},
                           File{"etcd-keyfile", settings.key_file}}) {
    file.into = text(file.flag);
    if (Status bad = check_pem(file.flag, file.into); !bad.ok()) return bad;
  }
  if (settings.certificate_file.empty() != settings.key_file.empty()) {
    return bad_request("--etcd-certfile and --etcd-keyfile go together: one of them is missing");
  }
  if (const auto age = parse_duration(text("etcd-db-metric-poll-interval"))) settings.size_age = *age;
  return settings;
}

std::vector<std::string> overriding_servers(const ReadFlag& flag) {
  std::vector<std::string> out;
  for (const auto& each : list_of(flag("etcd-servers-overrides").value_or(""))) {
    std::string servers = each.substr(std::min(each.size(), each.find('#') + 1));
    if (std::find(out.begin(), out.end(), servers) == out.end()) out.push_back(std::move(servers));
  }
  return out;
}

Result<Settings> with_servers(Settings settings, std::string_view servers) {
  settings.endpoints.clear();
  for (const auto& url : list_of(servers, ";")) {
    auto endpoint = parse_endpoint(url);
    if (!endpoint.ok()) return std::move(endpoint.status());
    settings.endpoints.push_back(std::move(*endpoint));
  }
  if (settings.endpoints.empty()) return bad_request("--etcd-servers-overrides: " + backplane::quoted(servers) + " names no server");
  return settings;
}

}  // namespace backplane::etcd
