// The values of the command line, in groups. Each group adds its flags and checks its values.
//
//   Options ── complete() ──► CompletedOptions ── validate() ──► Config
//
// Each step is the only way to the next: a value that was not completed cannot be checked, one that was not checked cannot start a server.
// Thread-safety: start-up, one thread; immutable afterwards.
// Errors:        complete(): what cannot be derived (no home directory).  validate(): every problem at once, one per line.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "app/feature_gates.hpp"
#include "app/flag_set.hpp"
#include "backplane/points/storage.hpp"
#include "backplane/types/names.hpp"
#include "routing/api_enablement.hpp"
#include "security/request_header.hpp"

namespace backplane {

struct ExtensionSettings;  // app/extension/extension_settings.hpp

using Problems = std::vector<std::string>;
// The error for all problems. Its message is the only problem, or "[a, b]".
Status problems_error(const Problems& problems);

struct GenericServerRunOptions {
  std::string advertise_address;
  std::string external_hostname;
  std::vector<std::string> cors_allowed_origins;
  std::vector<std::string> feature_gates;
  double goaway_chance = 0;
  std::chrono::nanoseconds livez_grace_period{};
  int max_mutating_requests_inflight = 200;
  int max_requests_inflight = 400;
  int min_request_timeout = 1800;  // seconds
  std::chrono::nanoseconds request_timeout = std::chrono::seconds(60);
  std::chrono::nanoseconds shutdown_delay_duration{};
  bool shutdown_send_retry_after = false;
  std::chrono::nanoseconds shutdown_watch_termination_grace_period{};
  std::chrono::nanoseconds storage_initialization_timeout = std::chrono::seconds(60);
  std::vector<std::string> strict_transport_security_directives;
  void add_flags(FlagSet& flags);
  void validate(Problems& problems) const;
};

// Upstream: EtcdOptions.
struct StorageOptions {
  std::string backend;  // complete(): etcd3 if --etcd-servers is set, else rocksdb
  std::vector<std::string> etcd_servers, etcd_servers_overrides;
  std::string etcd_prefix = "/registry", etcd_cafile, etcd_certfile, etcd_keyfile;  // for the backend's plugin
  std::chrono::nanoseconds compaction_interval = std::chrono::minutes(5);
  std::chrono::nanoseconds healthcheck_timeout = std::chrono::seconds(2);
  std::chrono::nanoseconds readycheck_timeout = std::chrono::seconds(2);
  std::chrono::nanoseconds count_metric_poll_period = std::chrono::minutes(1);  // 0: no counts in the metrics
  std::chrono::nanoseconds db_metric_poll_interval = std::chrono::seconds(30);  // 0: no size in the metrics
  bool unsafe_no_fsync = false;
  std::string media_type;  // of stored objects; empty: the backend's choice
  bool watch_cache = true;
  std::vector<std::string> watch_cache_sizes;
  int delete_collection_workers = 1;
  bool enable_garbage_collector = true;
  int lease_reuse_seconds = 60;
  std::string embedded_dir;  // set by complete(): directory of the embedded store; empty: the data directory
  void add_flags(FlagSet& flags);
  void complete();
  void validate(Problems& problems) const;
  // The name of the codec that writes `media_type`; empty: the backend's choice.
  std::string stored_form() const;
};

inline constexpr int kDefaultSecurePort = 6443;

struct SecureServingOptions {
  std::string bind_address;              // never empty once completed
  int secure_port = kDefaultSecurePort;  // 0: the system picks one
  std::string cert_dir;                  // empty: <data-dir>/pki
  bool disable_http2 = false;
  int http2_max_streams_per_connection = 0;  // 0: the transport's default
  bool permit_port_sharing = false;
  std::string tls_cert_file;
  std::string tls_private_key_file;
  std::vector<std::string> tls_cipher_suites;
  std::vector<std::string> tls_curve_preferences;
  std::string tls_min_version;
  std::vector<std::string> tls_sni_cert_key;  // "cert,key[:name,name]"
  std::vector<int> curves() const;
  void add_flags(FlagSet& flags);
  void validate(Problems& problems) const;
};

struct FeatureOptions {
  bool profiling = true;
  bool contention_profiling = false;
  std::string debug_socket_path;
  bool priority_and_fairness = true;
  void add_flags(FlagSet& flags);
  void validate(const GenericServerRunOptions& generic, Problems& problems) const;
};

struct AuthenticationOptions {
  bool anonymous = true;
  std::string client_ca_file;
  RequestHeaderConfig request_header;
  void add_flags(FlagSet& flags);
};

struct AuthorizationOptions {
  std::vector<std::string> modes;
  void add_flags(FlagSet& flags);
  void validate(const FlagSet& flags, Problems& problems) const;
  bool always_allow_only() const { return modes.size() == 1 && modes[0] == "AlwaysAllow"; }
};

struct ApiEnablementOptions {
  std::vector<std::string> runtime_config;
  void add_flags(FlagSet& flags);
};

struct AdmissionOptions {
  std::vector<std::string> enable;
  std::vector<std::string> disable;
  std::vector<std::string> only;  // --admission-control
  bool mixed = false;             // --admission-control is set together with one of the flags that replaced it
  std::string control_config_file;
  void add_flags(FlagSet& flags);
  void complete();
  void validate(Problems& problems) const;
};

struct MetricOptions {
  std::vector<std::string> disabled;
  std::vector<std::string> allow_labels;  // "metric,label=value,value"
  std::string allow_labels_manifest;
  std::string show_hidden_for;
  void add_flags(FlagSet& flags);
  void validate(Problems& problems) const;
};

struct LogOptions {
  std::string format = "text";
  int verbosity = 0;
  std::vector<std::string> modules;  // "pattern=N"
  bool split_text = false;
  bool split_json = false;
  void add_flags(FlagSet& flags);
  void validate(const FeatureGates& gates, Problems& problems) const;
  void apply() const;
};

// Flags that only Backplane has.
struct BackplaneOptions {
  std::string data_dir;
  std::vector<std::string> plugin_dirs;
  std::vector<std::string> disable_plugins;
  std::vector<std::string> require_plugins;
  bool throwaway = false;
  bool plugin_watch = false;
  std::chrono::nanoseconds plugin_call_timeout = std::chrono::seconds(30);
  std::vector<std::string> plugin_placements;
  std::chrono::nanoseconds plugin_runner_timeout = std::chrono::seconds(10);
  bool safe_mode = false;
  // Threads for reads of the store, for building documents and for parts of a compaction (one thread each), and for reading the history of
  // resumed watches (two threads).
  int blocking_threads = 6;
  int offload_threads = 0;  // 0: by the number of cores
  std::string program;      // not a flag: the executable that probes plugins; empty: plugins are not probed
  // Not a flag: set by backplane-runner, for a server that is an extension of another one; null: this server is none.
  std::shared_ptr<const ExtensionSettings> extension;
  std::vector<std::string> more_names;  // not a flag: names and addresses that the serving certificate is also valid for
  void add_flags(FlagSet& flags);
  void validate(Problems& problems) const;
};

// Flags that no option group reads: auditing, egress, metrics, traces, kubelet …
void add_accepted_flags(FlagSet& flags);

class CompletedOptions;

// Upstream: ServerRunOptions.  Not copied: the flags are bound to the members.
class Options {
 public:
  Options();
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;

  FlagSet flags;
  GenericServerRunOptions generic;
  StorageOptions storage;
  SecureServingOptions secure_serving;
  FeatureOptions features;
  AuthenticationOptions authentication;
  AuthorizationOptions authorization;
  ApiEnablementOptions api_enablement;
  AdmissionOptions admission;
  MetricOptions metrics;
  LogOptions logs;
  BackplaneOptions backplane;
  std::string version = "false";
  bool help = false;

  // Fills in the values that can be derived from other options and from the machine. Consumes `options`.
  static Result<CompletedOptions> complete(std::unique_ptr<Options> options);
};

class Config;

class CompletedOptions {
 public:
  const Options& operator*() const noexcept { return *options_; }
  const Options* operator->() const noexcept { return options_.get(); }
  // Returns all problems of all groups of options.
  Problems validate() const;
  // The only way to make a Config. Consumes `completed`.
  static Result<Config> config(CompletedOptions completed);

 private:
  friend class Options;
  explicit CompletedOptions(std::unique_ptr<Options> options) : options_(std::move(options)) {}
  std::unique_ptr<Options> options_;
};

// Options that are complete and valid.
class Config {
 public:
  Config() = default;  // for Result
  const Options& options() const noexcept { return *options_; }
  const FeatureGates& feature_gates() const noexcept { return gates_; }
  const ApiEnablement& enablement() const noexcept { return enablement_; }
  const ReportedVersion& version() const noexcept { return version_; }

 private:
  friend class CompletedOptions;
  std::unique_ptr<Options> options_;
  ReportedVersion version_;
  FeatureGates gates_;
  ApiEnablement enablement_;
};

}  // namespace backplane
