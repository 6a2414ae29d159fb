#include <boost/regex.hpp>

#include "app/options.hpp"

namespace backplane {
namespace {

void not_negative(std::string_view flag, bool negative, Problems& problems) {
  if (negative) problems.push_back("--" + std::string(flag) + " can not be negative value");
}

bool known_directive(std::string_view directive) {
  if (directive == "includeSubDomains" || directive == "preload") return true;
  if (!directive.starts_with("max-age=")) return false;
  const auto age = directive.substr(8);
  return !age.empty() && age.find_first_not_of("0123456789") == std::string_view::npos;
}

// A pattern that is not pinned would let "https://example.com.evil.org" in.  The markers are looked for anywhere, as upstream does.
std::string origin_problem(const std::string& pattern) {
  const auto text = quoted(pattern);
  if (pattern.empty()) return "empty value in --cors-allowed-origins";
  if (pattern.find('^') == std::string::npos && pattern.find("//") == std::string::npos) {
    return "--cors-allowed-origins: regular expression " + text + " does not pin to start of host by including `^` or `//`";
  }
  if (pattern.find('$') == std::string::npos && pattern.find(':') == std::string::npos) {
    return "--cors-allowed-origins: regular expression " + text + " does not pin to end of host by including `$` or `:`";
  }
  try {
    boost::regex compiled(pattern);
  } catch (const boost::regex_error& error) {
    return "--cors-allowed-origins has an invalid regular expression " + text + ": " + error.what();
  }
  return {};
}

}  // namespace

void GenericServerRunOptions::add_flags(FlagSet& flags) {
  flags.section("Generic");
  flags.add("advertise-address", FlagType::kIp, &advertise_address,
            "The address under which members of the cluster reach this server. Unset: --bind-address, or the machine's first address when "
            "that is "
            "unspecified.");
  flags.add("cors-allowed-origins", &cors_allowed_origins,
            "Origins that browsers may call from: regular expressions pinned at both ends, comma separated. Empty: no CORS headers.");
  flags.add("external-hostname", &external_hostname,
            "The host name in URLs that are made for clients outside. Unset: the advertise address.");
  flags.add("feature-gates", FlagType::kMap, &feature_gates,
            "Gate=true|false pairs that switch experimental features; AllAlpha and AllBeta name whole stages. All of kube-apiserver's are "
            "known; something here asks for: " +
                FeatureGates::switched() + ".");
  flags.add("goaway-chance", &goaway_chance,
            "Chance, per HTTP/2 request, that its connection is asked to go and reconnect elsewhere: 0 (never) to 0.02.");
  flags.add("livez-grace-period", &livez_grace_period,
            "For this long after the start, unfinished start-up hooks count as healthy on /livez.");
  flags.add("max-mutating-requests-inflight", &max_mutating_requests_inflight,
            "Changing requests served at once; with --enable-priority-and-fairness a part of what all priority levels have together, "
            "without it a limit past which they are answered 429 (0: none).");
  flags.add("max-requests-inflight", &max_requests_inflight,
            "Reading requests served at once; with --enable-priority-and-fairness a part of what all priority levels have together, "
            "without it a limit past which they are answered 429 (0: none).");
  flags.add("min-request-timeout", &min_request_timeout,
            "Seconds after which a watch without a timeout of its own ends at the earliest; it ends at random before twice that.");
  flags.add("request-timeout", &request_timeout,
            "How long a request may take before it is answered 504; watches, logs and the like are not bound by it.");
  flags.add("shutdown-delay-duration", &shutdown_delay_duration,
            "How long to go on serving after a stop was asked for: /livez stays green, /readyz turns red at once.");
  flags.add("shutdown-send-retry-after", &shutdown_send_retry_after,
            "While requests in flight end, keep listening and answer new ones 429 with Retry-After instead of refusing connections.");
  flags.add("shutdown-watch-termination-grace-period", &shutdown_watch_termination_grace_period,
            "How long the shutdown waits for watches to end, a few at a time. 0: they are cut.");
  flags.add("storage-initialization-timeout", &storage_initialization_timeout,
            "How long the storage may take to be ready before the server starts without being ready.");
  flags.add("strict-transport-security-directives", &strict_transport_security_directives,
            "Directives of the Strict-Transport-Security header: max-age=SECONDS, includeSubDomains, preload. Empty: no header.");
  flags.always("emulated-version", FlagType::kStrings, "",
               "The release whose APIs and feature gates are served: [kube=]1.36, others are refused.");
  flags.always("emulation-forward-compatible", FlagType::kBool, "false", "About older emulated versions, which are refused: only false.");
  flags.always("min-compatibility-version", FlagType::kStrings, "",
               "The oldest release of the servers of this cluster: [kube=]1.35, others are refused.");
  flags.always("runtime-config-emulation-forward-compatible", FlagType::kBool, "false",
               "About older emulated versions, which are refused: only false.");
}

void GenericServerRunOptions::validate(Problems& problems) const {
  const auto zero = std::chrono::nanoseconds::zero();
  not_negative("max-requests-inflight", max_requests_inflight < 0, problems);
  not_negative("max-mutating-requests-inflight", max_mutating_requests_inflight < 0, problems);
  not_negative("request-timeout", request_timeout < zero, problems);
  not_negative("min-request-timeout", min_request_timeout < 0, problems);
  not_negative("livez-grace-period", livez_grace_period < zero, problems);
  not_negative("shutdown-delay-duration", shutdown_delay_duration < zero, problems);
  not_negative("storage-initialization-timeout", storage_initialization_timeout < zero, problems);
  if (shutdown_watch_termination_grace_period < zero) {
    problems.push_back("shutdown-watch-termination-grace-period, if provided, can not be a negative value");
  }
  if (goaway_chance < 0 || goaway_chance > 0.02) problems.push_back("--goaway-chance can not be less than 0 or greater than 0.02");
  for (const auto& pattern : cors_allowed_origins) {
    if (auto problem = origin_problem(pattern); !problem.empty()) problems.push_back(std::move(problem));
  }
  for (const auto& directive : strict_transport_security_directives) {
    if (!known_directive(directive)) {
      problems.push_back(
          "--strict-transport-security-directives invalid, allowed values: max-age=expireTime, includeSubDomains, preload. got " +
          quoted(directive));
    }
  }
}

}  // namespace backplane
