#include "app/accepted_values.hpp"

#include <strings.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <set>

#include "app/flag_values.hpp"
#include "app/server_tracing.hpp"
#include "backplane/net/egress.hpp"
#include "backplane/points/http.hpp"
#include "backplane/types/url.hpp"
#include "filters/go_duration.hpp"

namespace backplane {
namespace {

// Values have the form `resource[.group]#size`.
void check_watch_cache_sizes(const FlagSet& flags, Problems& problems) {
  for (const auto& item : flags.values("watch-cache-sizes")) {
    const auto hash = item.find('#');
    if (hash == std::string::npos || hash == 0 || item.find('#', hash + 1) != std::string::npos) {
      problems.push_back("--watch-cache-sizes: must have the form resource[.group]#size: " + item);
      continue;
    }
    std::string_view digits = std::string_view(item).substr(hash + 1);
    // from_chars does not accept a plus sign.
    if (digits.starts_with('+') && !digits.starts_with("+-")) digits.remove_prefix(1);
    std::int64_t size = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, size);
    if (error != std::errc() || stop != end) {
      problems.push_back("--watch-cache-sizes: the size must be an integer: " + item);
    } else if (size < 0) {
      problems.push_back("--watch-cache-sizes: the size must not be negative: " + item);
    }
  }
}

bool is_https_url(std::string_view text) { return text.starts_with("https://") && text.size() > 8; }

void check_issuers(const FlagSet& flags, Problems& problems) {
  std::set<std::string> seen;
  for (const auto& issuer : flags.values("service-account-issuer")) {
    const auto problem = issuer.find(':') == std::string::npos ? std::string() : url_problem(issuer);
    if (!problem.empty()) {
      problems.push_back("--service-account-issuer: " + backplane::quoted(issuer) + " contains a colon and is not a valid URL: " + problem);
    } else if (issuer.empty()) {
      problems.emplace_back("--service-account-issuer: must not be empty");
    } else if (!seen.insert(issuer).second) {
      problems.push_back("--service-account-issuer: " + backplane::quoted(issuer) + " must not be repeated");
    }
  }
}

void check_service_accounts(const FlagSet& flags, Problems& problems) {
  check_issuers(flags, problems);
  const auto uri = flags.text("service-account-jwks-uri").value_or("");
  if (!uri.empty() && !is_https_url(uri))
    problems.push_back("--service-account-jwks-uri: " + backplane::quoted(uri) + " must begin with https://");
  const auto longest = parse_go_duration(flags.text("service-account-max-token-expiration").value_or("0"));
  const bool bounded = longest.ok() && *longest != std::chrono::nanoseconds::zero();
  if (bounded && (*longest < std::chrono::hours(1) || *longest > std::chrono::seconds(1LL << 32))) {
    problems.emplace_back("--service-account-max-token-expiration: must be between 1 hour and 2^32 seconds, or 0");
  }
  const bool keys = flags.changed("service-account-signing-key-file") || flags.changed("service-account-key-file");
  if (!flags.values("service-account-signing-endpoint").empty() && keys) {
    problems.emplace_back(
        "can't set `--service-account-signing-key-file` and/or `--service-account-key-file` with `--service-account-signing-endpoint` "
        "(They "
        "are mutually exclusive)");
  }
}

// The flags --requestheader-*: headers in which front proxies send the user.
void check_request_headers(const FlagSet& flags, const FeatureGates& gates, Problems& problems) {
  constexpr std::string_view kUids = "requestheader-uid-headers";
  const auto is_blank = [](const std::string& name) { return name.find_first_not_of(" \t\n\v\f\r") == std::string::npos; };
  for (const std::string_view flag :
       {std::string_view("requestheader-username-headers"), std::string_view("requestheader-group-headers"),
        std::string_view("requestheader-extra-headers-prefix"), std::string_view("requestheader-allowed-names"), kUids}) {
    const auto names = flags.values(flag);
    if (std::any_of(names.begin(), names.end(), is_blank)) problems.push_back("--" + std::string(flag) + ": must not contain empty values");
  }
  const auto uids = flags.values(kUids);
  const auto is_standard = [](const std::string& name) { return strcasecmp(name.c_str(), "X-Remote-Uid") == 0; };
  if (!uids.empty() && !gates.enabled("RemoteRequestHeaderUID")) {
    problems.push_back("--requestheader-uid-headers: requires --feature-gates=RemoteRequestHeaderUID=true");
  } else if (!uids.empty() && std::none_of(uids.begin(), uids.end(), is_standard)) {
    problems.push_back("--requestheader-uid-headers: must contain X-Remote-Uid, which aggregated servers use");
  }
}

void check_peers(const FlagSet& flags, const FeatureGates& gates, Problems& problems) {
  for (const std::string name : {"peer-ca-file", "peer-advertise-ip", "peer-advertise-port"}) {
    if (!gates.enabled("UnknownVersionInteroperabilityProxy") && !flags.text(name).value_or("").empty()) {
      problems.push_back("--" + name + ": requires --feature-gates=UnknownVersionInteroperabilityProxy=true");
    }
  }
  for (const std::string name : {"proxy-client-cert-file", "proxy-client-key-file"}) {
    if (!flags.text("peer-ca-file").value_or("").empty() && flags.text(name).value_or("").empty()) {
      problems.push_back("--peer-ca-file: requires --" + name + ", with which this server authenticates to peers");
    }
  }
  const auto ip = flags.text("peer-advertise-ip").value_or("");
  if (!flag_value_problem(FlagType::kIp, ip).empty())
    problems.push_back("--peer-advertise-ip: " + backplane::quoted(ip) + " is not an IP address");
  const auto port = flags.text("peer-advertise-port").value_or("");
  const int number = std::atoi(port.c_str());
  if (!port.empty() && (!flag_value_problem(FlagType::kInt, port).empty() || number < 1 || number > 65535)) {
    problems.push_back("--peer-advertise-port: " + backplane::quoted(port) + " is not a port");
  }
  if (const auto count = flags.text("apiserver-count").value_or("1"); std::atoi(count.c_str()) <= 0) {
    problems.push_back("--apiserver-count: " + count + " must be positive");
  }
}

void check_egress(const FlagSet& flags, Problems& problems) {
  const auto selector = EgressSelector::read(flags.text("egress-selector-config-file").value_or(""));
  if (!selector.ok()) problems.push_back("--egress-selector-config-file: " + selector.status().message());
}

void check_tracing(const FlagSet& flags, Problems& problems) {
  if (auto problem = tracing_problem(flags); !problem.empty()) problems.push_back(std::move(problem));
}

}  // namespace

void check_accepted_values(const FlagSet& flags, const FeatureGates& gates, Problems& problems) {
  check_service_accounts(flags, problems);
  check_request_headers(flags, gates, problems);
  check_peers(flags, gates, problems);
  check_egress(flags, problems);
  check_tracing(flags, problems);
  check_watch_cache_sizes(flags, problems);
}

}  // namespace backplane
