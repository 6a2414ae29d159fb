#include <cstdlib>

#include "app/debug_handlers.hpp"
#include "app/metric_rules.hpp"
#include "app/options.hpp"
#include "base/log.hpp"
#include "plugin/placement.hpp"

namespace backplane {
namespace {

struct AcceptedRow {
  std::string_view section, name;
  FlagType type;
  std::string_view default_text, usage;
};

constexpr AcceptedRow kAccepted[] = {
    {"Misc", "coordinated-leadership-lease-duration", FlagType::kDuration, "15s", "Duration of a coordinated leader election lease."},
    {"Misc", "coordinated-leadership-renew-deadline", FlagType::kDuration, "10s", "Time within which a leader must renew its lease."},
    {"Misc", "coordinated-leadership-retry-period", FlagType::kDuration, "2s", "Time between attempts to become leader."},
    {"Misc", "kubelet-read-only-port", FlagType::kInt, "10255",
     "DEPRECATED: it will be removed. Port of the kubelets without authentication."},
};

// Flags that plugins and the construction of the server read by name.
constexpr AcceptedRow kPluginFlags[] = {
    {"Auditing", "audit-log-batch-buffer-size", FlagType::kInt, "10000",
     "Events in the buffer; further ones are dropped. Batch mode only."},
    {"Auditing", "audit-log-batch-max-size", FlagType::kInt, "1", "Maximum number of events in one write."},
    {"Auditing", "audit-log-batch-max-wait", FlagType::kDuration, "0s", "Maximum time to wait for a batch to fill."},
    {"Auditing", "audit-log-batch-throttle-burst", FlagType::kInt, "0", "Batches written at once before the rate limit applies."},
    {"Auditing", "audit-log-batch-throttle-enable", FlagType::kBool, "false", "Limit the rate of batches."},
    {"Auditing", "audit-log-batch-throttle-qps", FlagType::kFloat, "0", "Batches per second."},
    {"Auditing", "audit-log-compress", FlagType::kBool, "false", "Compress rotated files."},
    {"Auditing", "audit-log-format", FlagType::kString, "json", "json or legacy."},
    {"Auditing", "audit-log-maxage", FlagType::kInt, "366", "Days after which rotated files are deleted."},
    {"Auditing", "audit-log-maxbackup", FlagType::kInt, "100", "Number of rotated files to retain."},
    {"Auditing", "audit-log-maxsize", FlagType::kInt, "100", "Size in megabytes at which the file is rotated."},
    {"Auditing", "audit-log-mode", FlagType::kString, "blocking", "batch, blocking or blocking-strict."},
    {"Auditing", "audit-log-path", FlagType::kString, "", "File of the audit log; -: standard output."},
    {"Auditing", "audit-log-truncate-enabled", FlagType::kBool, "false", "Truncate events and batches that are too large."},
    {"Auditing", "audit-log-truncate-max-batch-size", FlagType::kInt, "10485760", "Maximum size of a batch in bytes."},
    {"Auditing", "audit-log-truncate-max-event-size", FlagType::kInt, "102400", "Maximum size of an event in bytes."},
    {"Auditing", "audit-log-version", FlagType::kString, "audit.k8s.io/v1", "API version of the events."},
    {"Auditing", "audit-policy-file", FlagType::kString, "", "File with the audit policy; without it no events are recorded."},
    {"Auditing", "audit-webhook-batch-buffer-size", FlagType::kInt, "10000", "Events in the buffer; further ones are dropped."},
    {"Auditing", "audit-webhook-batch-max-size", FlagType::kInt, "400", "Maximum number of events in one call."},
    {"Auditing", "audit-webhook-batch-max-wait", FlagType::kDuration, "30s", "Maximum time to wait for a batch to fill."},
    {"Auditing", "audit-webhook-batch-throttle-burst", FlagType::kInt, "15", "Calls made at once before the rate limit applies."},
    {"Auditing", "audit-webhook-batch-throttle-enable", FlagType::kBool, "true", "Limit the rate of calls."},
    {"Auditing", "audit-webhook-batch-throttle-qps", FlagType::kFloat, "10", "Calls per second."},
    {"Auditing", "audit-webhook-config-file", FlagType::kString, "", "Kubeconfig of the audit webhook."},
    {"Auditing", "audit-webhook-batch-initial-backoff", FlagType::kDuration, "10s", "DEPRECATED: use --audit-webhook-initial-backoff."},
    {"Auditing", "audit-webhook-initial-backoff", FlagType::kDuration, "10s", "Time before a failed call is retried."},
    {"Auditing", "audit-webhook-mode", FlagType::kString, "batch", "batch, blocking or blocking-strict."},
    {"Auditing", "audit-webhook-truncate-enabled", FlagType::kBool, "false", "Truncate events and batches that are too large."},
    {"Auditing", "audit-webhook-truncate-max-batch-size", FlagType::kInt, "10485760", "Maximum size of a batch in bytes."},
    {"Auditing", "audit-webhook-truncate-max-event-size", FlagType::kInt, "102400", "Maximum size of an event in bytes."},
    {"Auditing", "audit-webhook-version", FlagType::kString, "audit.k8s.io/v1", "API version of the events."},
    {"Egress selector", "egress-selector-config-file", FlagType::kString, "",
     "File with an EgressSelectorConfiguration: proxies for connections into the cluster."},
    {"Traces", "tracing-config-file", FlagType::kString, "", "File with a TracingConfiguration: where spans are exported, and how many."},
    {"Misc", "max-connection-bytes-per-sec", FlagType::kInt, "0",
     "Maximum bytes per second, in each direction, of exec, attach, portforward and of upgraded connections through a proxy. 0: no limit."},
    {"Misc", "apiserver-count", FlagType::kInt, "1",
     "DEPRECATED: it will be removed. Number of servers. If more than 1, a custom type becomes established five seconds after its names "
     "are accepted. Also the number of addresses that --endpoint-reconciler-type=master-count retains."},
    {"Misc", "peer-ca-file", FlagType::kString, "",
     "CA certificates of other API servers on the same store: requests for resources that only they serve are forwarded to them. Requires "
     "--proxy-client-cert-file and --proxy-client-key-file."},
    {"Misc", "peer-advertise-ip", FlagType::kString, "", "Address at which other API servers reach this one. Unset: --advertise-address."},
    {"Misc", "peer-advertise-port", FlagType::kString, "", "Port at which other API servers reach this one. Unset: --secure-port."},
    {"Misc", "aggregator-reject-forwarding-redirect", FlagType::kBool, "true", "Respond with an error if an aggregated server redirects."},
    {"Misc", "enable-aggregator-routing", FlagType::kBool, "false", "Connect to endpoints of services instead of their cluster addresses."},
    {"Misc", "proxy-client-cert-file", FlagType::kString, "",
     "Client certificate for aggregated servers, other API servers and webhooks, PEM."},
    {"Misc", "proxy-client-key-file", FlagType::kString, "", "Private key of --proxy-client-cert-file, PEM."},
    {"Misc", "kubelet-certificate-authority", FlagType::kString, "",
     "CA certificates of the kubelets, PEM. Unset: their certificates are not verified."},
    {"Misc", "kubelet-client-certificate", FlagType::kString, "", "Client certificate for kubelets, PEM."},
    {"Misc", "kubelet-client-key", FlagType::kString, "", "Private key of --kubelet-client-certificate, PEM."},
    {"Misc", "kubelet-port", FlagType::kInt, "10250", "DEPRECATED: the status of a Node has its port. Port of the kubelets."},
    {"Misc", "kubelet-preferred-address-types", FlagType::kStrings, "Hostname,InternalDNS,InternalIP,ExternalDNS,ExternalIP",
     "Types of a Node's addresses to connect to, in order of preference."},
    {"Misc", "kubelet-timeout", FlagType::kDuration, "5s", "Timeout of connecting to a kubelet."},
    {"Misc", "allow-privileged", FlagType::kBool, "false", "Allow privileged containers."},
    {"Misc", "service-account-signing-endpoint", FlagType::kString, "",
     "Unix socket of a process that signs service account tokens and has their public keys: the gRPC service ExternalJWTSigner."},
    {"Misc", "service-account-signing-key-file", FlagType::kString, "",
     "RSA or EC private key that signs service account tokens, PEM. Unset: a generated key in --data-dir."},
    {"Misc", "enable-logs-handler", FlagType::kBool, "false",
     "DEPRECATED: read log files on the machine. Serve the files of /var/log at /logs/."},
    {"Misc", "event-ttl", FlagType::kDuration, "1h0m0s",
     "Time after their last write when events are removed. 0: never. Negative: the shortest time that the store supports."},
    {"Misc", "endpoint-reconciler-type", FlagType::kString, "lease",
     "How the endpoints of the service \"kubernetes\" are maintained: lease (or empty), master-count (at most --apiserver-count addresses; "
     "the address of a killed server stays until another server replaces it), or none."},
    {"Misc", "kubernetes-service-node-port", FlagType::kInt, "0",
     "Port of the service \"kubernetes\" as a NodePort. 0: it is a ClusterIP service."},
    {"Misc", "service-cluster-ip-range", FlagType::kString, "",
     "CIDR of service addresses, or two CIDRs of different IP families. Unset: 10.0.0.0/24."},
    {"Misc", "service-node-port-range", FlagType::kPortRange, "30000-32767", "Range of the ports of NodePort services."},
};

}  // namespace

void add_accepted_flags(FlagSet& flags) {
  for (const auto& row : kAccepted) {
    flags.section(std::string(row.section));
    flags.accept(row.name, row.type, row.default_text, row.usage);
  }
  for (const auto& row : kPluginFlags) {
    flags.section(std::string(row.section));
    flags.forward(row.name, row.type, row.default_text, row.usage);
  }
}

void MetricOptions::add_flags(FlagSet& flags) {
  flags.section("Metrics");
  flags.add("allow-metric-labels", FlagType::kPairs, &allow_labels,
            "metric,label=value,value: the exposed values of that label; others become \"unexpected\". May be repeated.");
  flags.add("allow-metric-labels-manifest", &allow_labels_manifest, "YAML file with the same, read if --allow-metric-labels is not set.");
  flags.add("disabled-metrics", &disabled, "Names of metrics that are not exposed.");
  flags.add("show-hidden-metrics-for-version", &show_hidden_for,
            "Expose deprecated metrics that are hidden by default: only 1.35, the previous release.");
}

void MetricOptions::validate(Problems& problems) const {
  constexpr std::string_view kPrevious = "1.35";
  if (!show_hidden_for.empty() && show_hidden_for != kPrevious) {
    problems.push_back("--show-hidden-metrics-for-version: must be " + std::string(kPrevious) + ", the previous minor version, or unset");
  }
  // Manifests are read together with the other files of the configuration.
  auto rules = MetricRules::make({disabled, allow_labels, {}, {}});
  if (!rules.ok()) problems.push_back(rules.status().message());
}

void FeatureOptions::add_flags(FlagSet& flags) {
  flags.section("Features");
  flags.add("profiling", &profiling, "Serve /debug/pprof/ and /debug/flags/ to administrators.");
  flags.add("debug-socket-path", &debug_socket_path, "Unix socket that serves /debug/ without authentication; protected by its file mode.");
  flags.add("contention-profiling", &contention_profiling,
            "Record how long threads wait for locks, for /debug/pprof/block and /debug/pprof/mutex.");
  flags.add("enable-priority-and-fairness", &priority_and_fairness,
            "Assign requests to priority levels by flow schemas; the levels share the sum of --max-requests-inflight and "
            "--max-mutating-requests-inflight. false: the two flags are separate limits.");
}

// The concurrency that priority levels share must be positive.
void FeatureOptions::validate(const GenericServerRunOptions& generic, Problems& problems) const {
  const int reading = generic.max_requests_inflight, changing = generic.max_mutating_requests_inflight;
  if (!priority_and_fairness || reading < 0 || changing < 0 || reading + changing > 0) return;
  problems.push_back("--max-requests-inflight=" + std::to_string(reading) + " and --max-mutating-requests-inflight=" +
                     std::to_string(changing) + ": their sum must be positive, or set --enable-priority-and-fairness=false");
}

void LogOptions::add_flags(FlagSet& flags) {
  flags.section("Logs");
  flags.add("logging-format", &format, "text, or json: one object per line.");
  flags.add("v", FlagType::kLevel, &verbosity,
            "Verbosity: 0 start and stop, 2 flags, plugins and failed health checks, 3 a line for every request, 6 or more everything.",
            'v');
  flags.add("vmodule", FlagType::kPatterns, &modules,
            "pattern=N: verbosity of the loggers whose name (the word after the level in log lines) matches the pattern (* and ?). Text "
            "format only.");
  flags.always("log-flush-frequency", FlagType::kDuration, "5s",
               "Maximum time before a line is written; lines are always written at once.");
  flags.add("log-json-split-stream", &split_json,
            "JSON format: errors to standard error, other lines to standard output. Requires --feature-gates=LoggingAlphaOptions=true.");
  flags.add("log-text-split-stream", &split_text,
            "Text format: errors to standard error, other lines to standard output. Requires --feature-gates=LoggingAlphaOptions=true.");
  flags.accept("log-json-info-buffer-size", FlagType::kQuantity, "0", "Buffer of info lines in split JSON streams.");
  flags.accept("log-text-info-buffer-size", FlagType::kQuantity, "0", "Buffer of info lines in split text streams.");
}

void LogOptions::validate(const FeatureGates& gates, Problems& problems) const {
  if (format != "text" && format != "json")
    problems.push_back("--logging-format: invalid value " + backplane::quoted(format) + ": must be text or json");
  if (verbosity < 0) problems.push_back("-v: must not be negative");
  if (!modules.empty() && format != "text") problems.emplace_back("--vmodule: requires --logging-format=text");
  if (gates.enabled("LoggingAlphaOptions")) return;
  if (split_text) problems.emplace_back("--log-text-split-stream: requires --feature-gates=LoggingAlphaOptions=true");
  if (split_json) problems.emplace_back("--log-json-split-stream: requires --feature-gates=LoggingAlphaOptions=true");
}

void LogOptions::apply() const {
  const bool json = format == "json";
  set_log_form({json, json ? split_json : split_text});
  std::vector<std::pair<std::string, std::string>> levels;
  for (const auto& item : modules) {
    const auto equals = item.find('=');
    levels.emplace_back(item.substr(0, equals), log_level(std::atoi(item.c_str() + equals + 1)));
  }
  set_log_modules(levels);
  set_verbosity(verbosity);
}

namespace {

// Flags that kube-controller-manager has under the same names.
void add_controller_flags(FlagSet& flags) {
  flags.forward("controllers", FlagType::kStrings, "",
                "Controllers to run while no kube-controller-manager holds its Lease: '*' is every controller that is on by default, 'foo' "
                "the controller of that name, '-foo' switches it off. Empty: none. Unset: '*' if the server is started without any flag, "
                "otherwise none.");
  flags.forward("root-ca-file", FlagType::kString, "",
                "Certificates that the ConfigMap kube-root-ca.crt of each namespace holds. Unset: the authority in --data-dir.");
  flags.forward("cluster-signing-cert-file", FlagType::kString, "",
                "PEM certificate of the authority that issues the certificates of approved CertificateSigningRequests. Requires "
                "--cluster-signing-key-file.");
  flags.forward("cluster-signing-key-file", FlagType::kString, "", "PEM private key of --cluster-signing-cert-file.");
  flags.forward("cluster-signing-duration", FlagType::kDuration, "8760h0m0s", "Longest validity of the certificates that are issued.");
  flags.forward("terminated-pod-gc-threshold", FlagType::kInt, "12500",
                "Number of terminated pods from which on the oldest are deleted. 0 or less: terminated pods are not deleted.");
}

}  // namespace

void BackplaneOptions::add_flags(FlagSet& flags) {
  flags.section("Backplane");
  flags.add(
      "data-dir", &data_dir,
      "Directory of the store, certificates and admin.kubeconfig. Unset: $XDG_STATE_HOME/backplane, or ~/.local/state/backplane; with "
      "--etcd-servers and another --secure-port than 6443, port-PORT in it.");
  flags.add("plugin-dir", FlagType::kStringArray, &plugin_dirs,
            "Directory of plugins. May be repeated. Unset: lib/backplane/plugins of the installation.");
  flags.add("disable-plugin", &disable_plugins, "Plugins not to load, by name. May be repeated.");
  flags.add("require-plugin", &require_plugins, "Plugins that must run, by name; otherwise startup fails. May be repeated.");
  flags.add("throwaway", &throwaway,
            "Serve from memory, on a free port unless --secure-port is set, with a temporary data directory that is removed at the end; "
            "stop when the parent process ends. For tests.");
  flags.add("plugin-watch", &plugin_watch,
            "Watch the plugin directories: a file that is new or has changed is checked and put in place of the build that runs. A build "
            "that fails leaves the former one in service.");
  flags.add("plugin-call-timeout", &plugin_call_timeout,
            "Time within which each lifecycle call of a plugin that is not shipped with the server must return; the plugin is left out "
            "otherwise. 0: no limit.");
  flags.add("plugin-placement", &plugin_placements,
            "Where plugins of the stable tier run, as NAME=PLACE: in-process (in the server), or runner (in a separate process, which the "
            "server restarts when it ends). May be repeated. Unset: in-process.");
  flags.add(
      "plugin-runner-timeout", &plugin_runner_timeout,
      "Time within which a plugin in a runner must return from a callback of a request, at least 100ms; a fifth of it from callbacks of "
      "kinds, six times as long from paths, hooks, controllers and audit sinks. The runner is killed and restarted otherwise.");
  flags.add("safe-mode", &safe_mode,
            "Load only the plugins that are shipped with the server. BACKPLANE_SAFE_MODE=1 in the environment does the same, and so do "
            "three crashes during startup within five minutes.");
  flags.add("blocking-threads", &blocking_threads,
            "Threads for calls that block: reads of the embedded store, signatures, OpenAPI documents, parts of a compaction.");
  flags.add("offload-threads", &offload_threads,
            "Threads that process bodies of more than 128 KiB, so that other requests are not delayed. 0: half the number of cores.");
  flags.forward("enable-namespace-controller", FlagType::kBool, "true",
                "Delete the content of terminating namespaces while no kube-controller-manager holds its Lease in kube-system.");
  add_controller_flags(flags);
}

void BackplaneOptions::validate(Problems& problems) const {
  constexpr int kMostThreads = 1024;
  if (blocking_threads < 1 || blocking_threads > kMostThreads)
    problems.push_back("--blocking-threads: must be between 1 and " + std::to_string(kMostThreads));
  if (offload_threads < 0 || offload_threads > kMostThreads)
    problems.push_back("--offload-threads: must be between 0 and " + std::to_string(kMostThreads));
  if (auto placements = read_placements(plugin_placements); !placements.ok()) problems.push_back(placements.status().message());
  if (plugin_runner_timeout < std::chrono::milliseconds(100) || plugin_runner_timeout > std::chrono::minutes(10))
    problems.push_back("--plugin-runner-timeout: must be between 100ms and 10m");
}

}  // namespace backplane
