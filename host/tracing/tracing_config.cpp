#include "tracing/tracing_config.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>

#include "backplane/core/json_access.hpp"
#include "backplane/core/text.hpp"
#include "backplane/kit/config_document.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::tracing {
namespace {

constexpr std::string_view kSchema = R"({"definitions": {
  "io.k8s.apiserver.pkg.apis.apiserver.$version.TracingConfiguration": {
    "x-kubernetes-group-version-kind": [{"group": "apiserver.config.k8s.io", "kind": "TracingConfiguration", "version": "$version"}],
    "type": "object",
    "properties": {
      "TypeMeta": {"allOf": [{"$ref": "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.TypeMeta"}], "x-backplane-inline": true},
      "endpoint": {"type": "string", "x-backplane-pointer": true},
      "samplingRatePerMillion": {"type": "integer", "format": "int32", "x-backplane-pointer": true}
    }}
}})";

constexpr std::int64_t kMillion = 1'000'000;
constexpr std::string_view kSchemes =
    "Options are none, dns, unix, or unix-abstract.  See https://github.com/grpc/grpc/blob/master/doc/naming.md";

// Joins errors as upstream's field.ErrorList.ToAggregate().
std::string aggregate(const std::vector<std::string>& errors) {
  if (errors.size() == 1) return errors.front();
  std::string out = "[";
  for (const std::string& error : errors) out.append(out.size() > 1 ? ", " : "").append(error);
  return out + "]";
}

std::string invalid_rate(std::int64_t rate, std::string_view why) {
  return "samplingRatePerMillion: Invalid value: " + std::to_string(rate) + ": " + std::string(why);
}

void check_rate(std::int64_t rate, std::vector<std::string>& errors) {
  if (rate < 0) errors.push_back(invalid_rate(rate, "sampling rate must be positive"));
  if (rate > kMillion) errors.push_back(invalid_rate(rate, "sampling rate per million must be less than or equal to one million"));
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& letter : out) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return out;
}

// The scheme of a URL as Go's net/url parses it; empty: none; nullopt: the URL is malformed, and `why` is the error.
std::optional<std::string> scheme_of(std::string_view url, std::string& why) {
  for (std::size_t i = 0; i < url.size(); ++i) {
    const char letter = url[i];
    const bool alpha = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
    if (alpha) continue;
    const bool later = (letter >= '0' && letter <= '9') || letter == '+' || letter == '-' || letter == '.';
    if (later && i > 0) continue;
    if (letter != ':') return std::string();
    if (i > 0) return lower_case(url.substr(0, i));
    why = "missing protocol scheme";
    return std::nullopt;
  }
  return std::string();
}

void check_endpoint(std::string_view endpoint, std::vector<std::string>& errors) {
  const std::string url = (endpoint.find("//") == std::string_view::npos ? "dns://" : "") + std::string(endpoint);
  const std::string begin = "endpoint: Invalid value: " + quoted(url) + ": ";
  std::string why;
  const auto scheme = scheme_of(url, why);
  if (!scheme) {
    errors.push_back(begin + "parse " + quoted(url) + ": " + why);
  } else if (*scheme != "dns" && *scheme != "unix" && *scheme != "unix-abstract") {
    errors.push_back(begin + "unsupported scheme: " + *scheme + ".  " + std::string(kSchemes));
  }
}

Result<std::string> read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (file) return text.str();
  return bad_request("failed to read tracing config: unable to read tracing configuration from " + quoted(path) + ": open " + path + ": " +
                     lower_case(std::strerror(errno)));
}

}  // namespace

Result<TracingConfig> read_tracing_config(const std::string& path) {
  if (path.empty()) return bad_request("failed to read tracing config: tracing config file was empty");
  auto text = read_text(path);
  if (!text.ok()) return std::move(text.status());
  return parse_tracing_config(*text);
}

Result<TracingConfig> parse_tracing_config(std::string_view text) {
  static const kit::ConfigDecoder decoder("TracingConfiguration", {"v1", "v1beta1", "v1alpha1"}, kSchema, false,
                                          {"apiserver.config.k8s.io", "__internal", "TracingConfiguration"});
  auto document = decoder.decode(text);
  if (!document.ok()) {
    return bad_request("failed to read tracing config: unable to decode tracing configuration data: " + document.status().message());
  }
  TracingConfig config;
  std::vector<std::string> errors;
  if (const auto rate = get_int(document->object, "samplingRatePerMillion")) {
    check_rate(*rate, errors);
    config.sampling_rate_per_million = static_cast<int>(*rate);
  }
  if (const Value* endpoint = find(document->object, "endpoint"); endpoint != nullptr && endpoint->is_string()) {
    config.endpoint = std::string(std::string_view(endpoint->get_string()));
    check_endpoint(config.endpoint, errors);
  }
  if (!errors.empty()) return bad_request("failed to validate tracing configuration: " + aggregate(errors));
  return config;
}

Result<std::string> server_of_endpoint(std::string_view endpoint) {
  constexpr std::string_view kDns = "dns://", kUnix = "unix:";
  if (endpoint.starts_with("unix-abstract:")) return bad_request("endpoint: abstract Unix sockets are not supported");
  if (endpoint.starts_with(kUnix)) {
    std::string_view path = endpoint.substr(kUnix.size());
    if (path.starts_with("//")) path.remove_prefix(2);
    return "unix://" + std::string(path);
  }
  // dns://AUTHORITY/NAME: AUTHORITY, a name server, is ignored.
  if (endpoint.starts_with(kDns)) {
    endpoint.remove_prefix(kDns.size());
    endpoint.remove_prefix(std::min(endpoint.rfind('/') + 1, endpoint.size()));
  }
  const std::size_t port = endpoint.rfind(':');
  const bool has_port = port != std::string_view::npos && endpoint.find(']', port) == std::string_view::npos;
  return "http://" + std::string(endpoint) + (has_port ? "" : ":443");
}

}  // namespace backplane::tracing
