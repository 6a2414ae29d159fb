#include <boost/regex.hpp>

#include "app/options.hpp"
#include "backplane/types/schema.hpp"

namespace backplane {
namespace {

void not_negative(std::string_view flag, bool negative, Problems& problems) {
  if (negative) problems.push_back("--" + std::string(flag) + ": must not be negative");
}

bool known_directive(std::string_view directive) {
  if (directive == "includeSubDomains" || directive == "preload") return true;
  if (!directive.starts_with("max-age=")) return false;
  const auto age = directive.substr(8);
  return !age.empty() && age.find_first_not_of("0123456789") == std::string_view::npos;
}

// A pattern that is not pinned would let "https://example.com.evil.org" in.  As upstream, an anchor anywhere in the pattern suffices.
std::string origin_problem(const std::string& pattern) {
  const auto text = backplane::quoted(pattern);
  if (pattern.empty()) return "--cors-allowed-origins: must not contain empty values";
  if (pattern.find('^') == std::string::npos && pattern.find("//") == std::string::npos) {
    return "--cors-allowed-origins: regular expression " + text + " must match the start of the host: begin it with `^` or `//`";
  }
  if (pattern.find('$') == std::string::npos && pattern.find(':') == std::string::npos) {
    return "--cors-allowed-origins: regular expression " + text + " must match the end of the host: end it with `$` or `:`";
  }
  try {
    boost::regex compiled(pattern);
  } catch (const boost::regex_error& error) {
    return "--cors-allowed-origins: invalid regular expression " + text + ": " + error.what();
  }
  return {};
}

}  // namespace

void GenericServerRunOptions::add_flags(FlagSet& flags) {
  flags.section("Generic");
  flags.add("advertise-address", FlagType::kIp, &advertise_address,
            "The address at which members of the cluster reach this server. Unset: --bind-address, or the first address of the machine if "
            "that is unspecified.");
  flags.add("cors-allowed-origins", &cors_allowed_origins,
            "Origins that browsers may send requests from: comma-separated regular expressions that match the whole host. Empty: no CORS "
            "headers.");
  flags.add("external-hostname", &external_hostname, "The host name in URLs for external clients. Unset: --advertise-address.");
  flags.add("feature-gates", FlagType::kMap, &feature_gates,
            "Gate=true|false pairs that enable or disable features; AllAlpha and AllBeta set all gates of a stage. 'backplane help gates' "
            "lists the gates.");
  flags.add("goaway-chance", &goaway_chance,
            "Probability with which the server answers an HTTP/2 request with GOAWAY, so that the client reconnects and load is balanced: "
            "0 (never) to 0.02.");
  flags.add("livez-grace-period", &livez_grace_period, "Time after startup for which unfinished startup hooks count as healthy on /livez.");
  flags.add("max-mutating-requests-inflight", &max_mutating_requests_inflight,
            "Maximum number of concurrent mutating requests; others get 429. 0: no limit. With --enable-priority-and-fairness its sum with "
            "--max-requests-inflight is shared by all priority levels.");
  flags.add("max-requests-inflight", &max_requests_inflight,
            "Maximum number of concurrent read requests; others get 429. 0: no limit. With --enable-priority-and-fairness its sum with "
            "--max-mutating-requests-inflight is shared by all priority levels.");
  flags.add("min-request-timeout", &min_request_timeout,
            "Minimum duration, in seconds, of a watch that sets no timeout; it ends at a random time between this and twice this.");
  flags.add("request-timeout", &request_timeout,
            "Duration after which a request gets 504; watches, logs and other long-running requests are exempt.");
  flags.add("shutdown-delay-duration", &shutdown_delay_duration,
            "Time to continue serving after a signal to stop; /readyz fails during it, /livez does not.");
  flags.add("shutdown-send-retry-after", &shutdown_send_retry_after,
            "During shutdown, keep the listener open until all requests have ended, and respond to new ones with 429 and Retry-After.");
  flags.add("shutdown-watch-termination-grace-period", &shutdown_watch_termination_grace_period,
            "Time that shutdown waits for watches to end, a few at a time. 0: they are closed at once.");
  flags.add("storage-initialization-timeout", &storage_initialization_timeout,
            "Time to wait for the storage at startup; the server then starts without being ready.");
  flags.add("strict-transport-security-directives", &strict_transport_security_directives,
            "Directives of the Strict-Transport-Security header: max-age=SECONDS, includeSubDomains, preload. Empty: no header.");
  flags.always("emulated-version", FlagType::kStrings, "",
               "The release whose APIs and feature gates are served, [kube=]1.33 to [kube=]1.36; without it, 1.36.");
  flags.always("emulation-forward-compatible", FlagType::kBool, "false",
               "With --emulated-version: a later version of a resource is also served if an earlier one, not an alpha, is.");
  flags.always("min-compatibility-version", FlagType::kStrings, "",
               "The oldest release of the other servers of the cluster, [kube=]1.33 to the emulated one; without it, the one before that.");
  flags.always("runtime-config-emulation-forward-compatible", FlagType::kBool, "false",
               "With --emulated-version: versions and resources that --runtime-config names are served, whenever they were introduced.");
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
    problems.push_back("--shutdown-watch-termination-grace-period: must not be negative");
  }
  if (goaway_chance < 0 || goaway_chance > 0.02) problems.push_back("--goaway-chance: must be between 0 and 0.02");
  for (const auto& pattern : cors_allowed_origins) {
    if (auto problem = origin_problem(pattern); !problem.empty()) problems.push_back(std::move(problem));
  }
  for (const auto& directive : strict_transport_security_directives) {
    if (!known_directive(directive)) {
      problems.push_back("--strict-transport-security-directives: invalid directive " + backplane::quoted(directive) +
                         "; allowed: max-age=SECONDS, includeSubDomains, preload");
    }
  }
}

}  // namespace backplane
