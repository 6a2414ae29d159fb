#include <cstdlib>

#include "app/debug_handlers.hpp"
#include "app/metric_rules.hpp"
#include "app/options.hpp"
#include "base/log.hpp"

namespace backplane {
namespace {

struct AcceptedRow {
  std::string_view section, name;
  FlagType type;
  std::string_view default_text, usage;
};

constexpr AcceptedRow kAccepted[] = {
    {"Auditing", "audit-log-batch-buffer-size", FlagType::kInt, "10000",
     "Events kept while they wait to be written; more are dropped. Batch mode only."},
    {"Auditing", "audit-log-batch-max-size", FlagType::kInt, "1", "Events in one write."},
    {"Auditing", "audit-log-batch-max-wait", FlagType::kDuration, "0s", "Longest wait for a batch to fill."},
    {"Auditing", "audit-log-batch-throttle-burst", FlagType::kInt, "0", "Batches sent at once before the rate holds."},
    {"Auditing", "audit-log-batch-throttle-enable", FlagType::kBool, "false", "Hold batches to a rate."},
    {"Auditing", "audit-log-batch-throttle-qps", FlagType::kFloat, "0", "Batches a second."},
    {"Auditing", "audit-log-compress", FlagType::kBool, "false", "Compress rotated files."},
    {"Auditing", "audit-log-format", FlagType::kString, "json", "json or legacy."},
    {"Auditing", "audit-log-maxage", FlagType::kInt, "366", "Days that rotated files are kept."},
    {"Auditing", "audit-log-maxbackup", FlagType::kInt, "100", "Rotated files that are kept."},
    {"Auditing", "audit-log-maxsize", FlagType::kInt, "100", "Megabytes at which the file is rotated."},
    {"Auditing", "audit-log-mode", FlagType::kString, "blocking", "batch, blocking or blocking-strict."},
    {"Auditing", "audit-log-path", FlagType::kString, "", "The audit log; - is standard output."},
    {"Auditing", "audit-log-truncate-enabled", FlagType::kBool, "false", "Cut events and batches that are too large."},
    {"Auditing", "audit-log-truncate-max-batch-size", FlagType::kInt, "10485760", "Largest batch in bytes."},
    {"Auditing", "audit-log-truncate-max-event-size", FlagType::kInt, "102400", "Largest event in bytes."},
    {"Auditing", "audit-log-version", FlagType::kString, "audit.k8s.io/v1", "API version of the events."},
    {"Auditing", "audit-policy-file", FlagType::kString, "", "What is recorded; nothing without it."},
    {"Auditing", "audit-webhook-batch-buffer-size", FlagType::kInt, "10000", "Events kept while they wait to be sent; more are dropped."},
    {"Auditing", "audit-webhook-batch-max-size", FlagType::kInt, "400", "Events in one call."},
    {"Auditing", "audit-webhook-batch-max-wait", FlagType::kDuration, "30s", "Longest wait for a batch to fill."},
    {"Auditing", "audit-webhook-batch-throttle-burst", FlagType::kInt, "15", "Calls at once before the rate holds."},
    {"Auditing", "audit-webhook-batch-throttle-enable", FlagType::kBool, "true", "Hold calls to a rate."},
    {"Auditing", "audit-webhook-batch-throttle-qps", FlagType::kFloat, "10", "Calls a second."},
    {"Auditing", "audit-webhook-config-file", FlagType::kString, "", "Kubeconfig of the audit webhook."},
    {"Auditing", "audit-webhook-batch-initial-backoff", FlagType::kDuration, "10s", "DEPRECATED: use --audit-webhook-initial-backoff."},
    {"Auditing", "audit-webhook-initial-backoff", FlagType::kDuration, "10s", "Wait before a failed call is made again."},
    {"Auditing", "audit-webhook-mode", FlagType::kString, "batch", "batch, blocking or blocking-strict."},
    {"Auditing", "audit-webhook-truncate-enabled", FlagType::kBool, "false", "Cut events and batches that are too large."},
    {"Auditing", "audit-webhook-truncate-max-batch-size", FlagType::kInt, "10485760", "Largest batch in bytes."},
    {"Auditing", "audit-webhook-truncate-max-event-size", FlagType::kInt, "102400", "Largest event in bytes."},
    {"Auditing", "audit-webhook-version", FlagType::kString, "audit.k8s.io/v1", "API version of the events."},
    {"Traces", "tracing-config-file", FlagType::kString, "", "File with a TracingConfiguration."},
    {"Misc", "coordinated-leadership-lease-duration", FlagType::kDuration, "15s", "Life of a coordinated leader's lease."},
    {"Misc", "coordinated-leadership-renew-deadline", FlagType::kDuration, "10s", "How long a leader tries to renew."},
    {"Misc", "coordinated-leadership-retry-period", FlagType::kDuration, "2s", "Wait between tries to become leader."},
    {"Misc", "kubelet-read-only-port", FlagType::kInt, "10255", "DEPRECATED: it will go away. The kubelets' port without authentication."},
    {"Misc", "max-connection-bytes-per-sec", FlagType::kInt, "0", "Bytes a second of each exec, log or proxy stream. 0: no limit."},
    {"Misc", "service-account-signing-endpoint", FlagType::kString, "", "Socket of a service that signs tokens."},
};

// Read by name: by the plugins that serve what they are about, and where the server puts itself together.
constexpr AcceptedRow kPassedOn[] = {
    {"Egress selector", "egress-selector-config-file", FlagType::kString, "", "How connections into the cluster are made."},
    {"Misc", "apiserver-count", FlagType::kInt, "1",
     "DEPRECATED: it will go away. How many servers there are: with several, a custom type is established five seconds after its names "
     "are accepted, so that each of them serves it by then. It is how many addresses --endpoint-reconciler-type=master-count keeps, too."},
    {"Misc", "peer-ca-file", FlagType::kString, "",
     "Certificate authority of peers: what they serve and this server does not is passed on to them, and listed in discovery. "
     "Needs --proxy-client-cert-file and --proxy-client-key-file."},
    {"Misc", "peer-advertise-ip", FlagType::kString, "", "Address under which peers reach this server."},
    {"Misc", "peer-advertise-port", FlagType::kString, "", "Port under which peers reach this server."},
    {"Misc", "aggregator-reject-forwarding-redirect", FlagType::kBool, "true", "Turn redirects of extension servers into errors."},
    {"Misc", "enable-aggregator-routing", FlagType::kBool, "false",
     "Call extension servers by endpoint address instead of cluster address."},
    {"Misc", "proxy-client-cert-file", FlagType::kString, "", "Client certificate for extension servers and webhooks."},
    {"Misc", "proxy-client-key-file", FlagType::kString, "", "Client key for extension servers and webhooks."},
    {"Misc", "kubelet-certificate-authority", FlagType::kString, "", "Certificate authority of the kubelets."},
    {"Misc", "kubelet-client-certificate", FlagType::kString, "", "Client certificate for kubelets."},
    {"Misc", "kubelet-client-key", FlagType::kString, "", "Client key for kubelets."},
    {"Misc", "kubelet-port", FlagType::kInt, "10250", "DEPRECATED: nodes name their port themselves. The kubelets' port."},
    {"Misc", "kubelet-preferred-address-types", FlagType::kStrings, "Hostname,InternalDNS,InternalIP,ExternalDNS,ExternalIP",
     "Which of a node's addresses to call, in order."},
    {"Misc", "kubelet-timeout", FlagType::kDuration, "5s", "How long a call to a kubelet may take."},
    {"Misc", "allow-privileged", FlagType::kBool, "false", "Allow privileged containers."},
    {"Misc", "service-account-signing-key-file", FlagType::kString, "",
     "RSA or EC key that service account tokens are signed with, PEM. Left out: one that is made in --data-dir."},
    {"Misc", "enable-logs-handler", FlagType::kBool, "false",
     "DEPRECATED: read log files on the machine. Serve those in /var/log at /logs/."},
    {"Misc", "event-ttl", FlagType::kDuration, "1h0m0s",
     "How long events are kept after they were last written. 0: for ever. Less: as short as the store can."},
    {"Misc", "endpoint-reconciler-type", FlagType::kString, "lease",
     "How the endpoints of the kubernetes service are kept: lease (or empty), master-count (at most --apiserver-count addresses; that of a "
     "server that was killed stays until another takes its place), or none."},
    {"Misc", "kubernetes-service-node-port", FlagType::kInt, "0", "Make the kubernetes service a NodePort with this port."},
    {"Misc", "service-cluster-ip-range", FlagType::kString, "",
     "CIDR of service addresses, or two of different families. Unset: 10.0.0.0/24."},
    {"Misc", "service-node-port-range", FlagType::kPortRange, "30000-32767", "Ports that NodePort services get."},
};

}  // namespace

void add_accepted_flags(FlagSet& flags) {
  for (const auto& row : kAccepted) {
    flags.section(std::string(row.section));
    flags.accept(row.name, row.type, row.default_text, row.usage);
  }
  for (const auto& row : kPassedOn) {
    flags.section(std::string(row.section));
    flags.pass_on(row.name, row.type, row.default_text, row.usage);
  }
}

void MetricOptions::add_flags(FlagSet& flags) {
  flags.section("Metrics");
  flags.add("allow-metric-labels", FlagType::kPairs, &allow_labels,
            "metric,label=value,value: label values that are shown; others become \"unexpected\". May be repeated.");
  flags.add("allow-metric-labels-manifest", &allow_labels_manifest,
            "The same from a YAML file, read when --allow-metric-labels is not given.");
  flags.add("disabled-metrics", &disabled, "Metrics that are not shown, by their whole names.");
  flags.add("show-hidden-metrics-for-version", &show_hidden_for,
            "1.35, the previous release: shows the deprecated metrics that kube-apiserver hides by default.");
}

void MetricOptions::validate(Problems& problems) const {
  constexpr std::string_view kPrevious = "1.35";
  if (!show_hidden_for.empty() && show_hidden_for != kPrevious) {
    problems.push_back("--show-hidden-metrics-for-version must be omitted or have the value '" + std::string(kPrevious) +
                       "'. Only the previous minor version is allowed");
  }
  // A manifest is read with the other files.
  auto rules = MetricRules::make({disabled, allow_labels, {}, {}});
  if (!rules.ok()) problems.push_back(rules.status().message());
}

void FeatureOptions::add_flags(FlagSet& flags) {
  flags.section("Features");
  flags.add("profiling", &profiling, "Serve /debug/pprof/ and /debug/flags/ to administrators.");
  flags.add("debug-socket-path", &debug_socket_path,
            "A unix socket that serves /debug/ without asking who calls; protected by its file mode.");
  flags.accept("contention-profiling", FlagType::kBool, "false", "Record where threads wait for locks.");
  flags.add("enable-priority-and-fairness", &priority_and_fairness,
            "Sort requests by flow schemas into priority levels, each with its share of --max-requests-inflight and "
            "--max-mutating-requests-inflight together and with queues of its own. Off: those two limits hold, each for itself.");
}

// What priority levels share must be something.
void FeatureOptions::validate(const GenericServerRunOptions& generic, Problems& problems) const {
  const int reading = generic.max_requests_inflight, changing = generic.max_mutating_requests_inflight;
  if (!priority_and_fairness || reading < 0 || changing < 0 || reading + changing > 0) return;
  problems.push_back("invalid configuration: MaxRequestsInFlight=" + std::to_string(reading) +
                     " and MaxMutatingRequestsInFlight=" + std::to_string(changing) + "; they must add up to something positive");
}

void LogOptions::add_flags(FlagSet& flags) {
  flags.section("Logs");
  flags.add("logging-format", &format, "text, or json for one object a line.");
  flags.add("v", FlagType::kLevel, &verbosity,
            "How much is logged: 0 lifecycle, 2 every flag and plugin and failed health checks, 3 a line for every request, 6 and more "
            "everything.",
            'v');
  flags.add("vmodule", FlagType::kPatterns, &modules,
            "pattern=N: another verbosity for the loggers whose name, the word behind the level of their lines, is like the pattern (* and "
            "?). Text "
            "format only.");
  flags.always("log-flush-frequency", FlagType::kDuration, "5s",
               "Longest time a line waits to be written; lines are written at once here.");
  flags.add("log-json-split-stream", &split_json,
            "JSON: errors to standard error, the rest to standard output. Takes the gate LoggingAlphaOptions.");
  flags.add("log-text-split-stream", &split_text,
            "Text: errors to standard error, the rest to standard output. Takes the gate LoggingAlphaOptions.");
  flags.accept("log-json-info-buffer-size", FlagType::kQuantity, "0", "Buffer of info lines in split JSON streams.");
  flags.accept("log-text-info-buffer-size", FlagType::kQuantity, "0", "Buffer of info lines in split text streams.");
}

void LogOptions::validate(const FeatureGates& gates, Problems& problems) const {
  if (format != "text" && format != "json") problems.push_back("format: Invalid value: " + quoted(format) + ": Unsupported log format");
  if (verbosity < 0) problems.push_back("-v can not be negative value");
  if (!modules.empty() && format != "text") problems.emplace_back("vmodule: Forbidden: Only supported for text log format");
  if (gates.enabled("LoggingAlphaOptions")) return;
  if (split_text) problems.emplace_back("options.text.splitStream: Forbidden: Feature LoggingAlphaOptions is disabled");
  if (split_json) problems.emplace_back("options.json.splitStream: Forbidden: Feature LoggingAlphaOptions is disabled");
}

void LogOptions::apply() const {
  const bool json = format == "json";
  set_log_form({json, json ? split_json : split_text});
  std::vector<std::pair<std::string, std::string>> levels;
  for (const auto& item : modules) {
    const auto equals = item.find('=');
    levels.emplace_back(item.substr(0, equals), log_level(std::atoi(item.c_str() + equals + 1)));
  }
  set_log_modules(std::move(levels));
  set_verbosity(verbosity);
}

void BackplaneOptions::add_flags(FlagSet& flags) {
  flags.section("Backplane");
  flags.add("data-dir", &data_dir,
            "Store, certificates and admin.kubeconfig. Unset: $XDG_STATE_HOME/backplane, else ~/.local/state/backplane.");
  flags.add("plugin-dir", FlagType::kStringArray, &plugin_dirs,
            "Where plugins are. May be repeated. Unset: the plugins folder beside the binary.");
  flags.add("disable-plugin", &disable_plugins, "Plugins that are not loaded, by name. May be repeated.");
  flags.add("require-plugin", &require_plugins, "Plugins without which the start fails, by name. May be repeated.");
  flags.pass_on("enable-namespace-controller", FlagType::kBool, "true",
                "Empty and remove terminating namespaces while no kube-controller-manager holds its Lease in kube-system.");
}

}  // namespace backplane
