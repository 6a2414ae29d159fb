#include "app/options.hpp"

#include "app/accepted_values.hpp"
#include "app/emulation.hpp"
#include "app/log.hpp"
#include "app/paths.hpp"
#include "app/service_ranges.hpp"
#include "app/unsupported_flags.hpp"
#include "plugin/plugin_registry.hpp"
#include "transport/serving_options.hpp"

namespace backplane {
namespace {

std::string join(const std::vector<std::string>& items, std::string_view separator) {
  std::string out;
  for (const auto& item : items) out.append(out.empty() ? "" : separator).append(item);
  return out;
}

}  // namespace

// The order of these calls is the order of the sections in --help.
Options::Options() {
  generic.add_flags(flags);
  storage.add_flags(flags);
  secure_serving.add_flags(flags);
  features.add_flags(flags);
  authentication.add_flags(flags);
  authorization.add_flags(flags);
  api_enablement.add_flags(flags);
  admission.add_flags(flags);
  metrics.add_flags(flags);
  logs.add_flags(flags);
  add_accepted_flags(flags);
  backplane.add_flags(flags);
  flags.section("Global");
  flags.add("help", FlagType::kBool, &help, "Print this and exit.", 'h');
  flags.add("version", FlagType::kVersion, &version,
            "Print the version and exit; =raw prints every field of it, =vX.Y.Z… serves under that version.");
}

Result<CompletedOptions> Options::complete(std::unique_ptr<Options> options) {
  auto& own = options->backplane;
  if (own.data_dir.empty()) {
    auto found = default_data_dir();
    if (!found.ok()) return std::move(found.status());
    own.data_dir = std::move(*found);
    // Servers that share an etcd often share a machine too (envtest starts several).
    const int port = options->secure_serving.secure_port;
    if (!options->storage.etcd_servers.empty() && port != kDefaultSecurePort) own.data_dir += "/port-" + std::to_string(port);
  }
  own.data_dir = absolute_path(own.data_dir);
  if (own.plugin_dirs.empty()) own.plugin_dirs.push_back(default_plugin_directory());
  auto& serving = options->secure_serving;
  if (serving.cert_dir.empty()) serving.cert_dir = own.data_dir + "/pki";
  auto& generic = options->generic;
  if (serving.bind_address.empty()) serving.bind_address = default_bind_address(generic.advertise_address);
  if (generic.advertise_address.empty()) generic.advertise_address = reachable_address(serving.bind_address);
  if (generic.external_hostname.empty()) {
    generic.external_hostname = generic.advertise_address;
    app_details().info("external host was not specified, using {}", generic.external_hostname);
  }
  options->admission.complete();
  options->storage.complete();
  // With AlwaysAllow, every client must at least authenticate (upstream's rule).
  if (options->authorization.always_allow_only() && options->authentication.anonymous) {
    options->authentication.anonymous = false;
    app_log().warn(
        "AnonymousAuth is not allowed with the AlwaysAllow authorizer. Resetting AnonymousAuth to false. You should use a different "
        "authorizer");
  }
  return CompletedOptions(std::move(options));
}

Problems CompletedOptions::validate() const {
  Problems problems;
  options_->generic.validate(problems);
  options_->features.validate(options_->generic, problems);
  options_->storage.validate(problems);
  // An empty value, for example of an unset shell variable, must not start the server with an empty embedded store.
  if (options_->flags.changed("etcd-servers") && options_->storage.etcd_servers.empty())
    problems.emplace_back("--etcd-servers: must not be empty; leave the flag out to use the embedded store");
  if (options_->flags.has_default("encryption-provider-config") &&
      !options_->flags.has_default("encryption-provider-config-automatic-reload"))
    problems.emplace_back("--encryption-provider-config-automatic-reload must be set with --encryption-provider-config");
  options_->secure_serving.validate(problems);
  options_->authorization.validate(options_->flags, problems);
  options_->admission.validate(problems);
  auto emulation = read_emulation(options_->flags);
  if (!emulation.ok()) return {emulation.status().message()};
  check_emulation(*emulation, problems);
  FeatureGates gates(emulation->version);
  Problems of_gates = gates.set(options_->generic.feature_gates);
  check_accepted_values(options_->flags, gates, problems);
  for (auto& problem : of_gates) problems.push_back(std::move(problem));
  options_->metrics.validate(problems);
  options_->backplane.validate(problems);
  options_->logs.validate(gates, problems);
  const auto text = [this](std::string_view name) { return options_->flags.text(name).value_or(""); };
  validate_service_ranges(text("service-cluster-ip-range"), problems);
  validate_kubernetes_service({text("service-cluster-ip-range"), text("kubernetes-service-node-port"), text("service-node-port-range"),
                               text("endpoint-reconciler-type"), options_->generic.advertise_address},
                              problems);
  auto enablement = ApiEnablement::parse(join(options_->api_enablement.runtime_config, ","), emulation->apis);
  if (!enablement.ok()) problems.push_back(enablement.status().message());
  return problems;
}

Status problems_error(const Problems& problems) {
  return bad_request(problems.size() == 1 ? problems.front() : "[" + join(problems, ", ") + "]");
}

Result<Config> CompletedOptions::config(CompletedOptions completed) {
  const Problems problems = completed.validate();
  if (!problems.empty()) return problems_error(problems);
  Config config;
  config.options_ = std::move(completed.options_);
  const Emulation emulation = *read_emulation(config.options_->flags);
  auto version = ReportedVersion::make(config.options_->version, emulation.version);
  if (!version.ok()) return std::move(version).status();
  config.version_ = std::move(*version);
  config.gates_ = FeatureGates(emulation.version);
  config.gates_.set(config.options_->generic.feature_gates);
  for (const auto& remark : config.gates_.remarks()) app_log().warn("{}", remark);
  for (const auto& suite : config.options_->secure_serving.tls_cipher_suites) {
    if (is_insecure_cipher(suite)) app_log().warn("Use of insecure cipher '{}' detected.", suite);
  }
  if (const auto idle = config.gates_.without_effect(); !idle.empty()) {
    app_log().warn("these feature gates have no effect: {}", join(idle, ", "));
  }
  config.enablement_ = *ApiEnablement::parse(join(config.options_->api_enablement.runtime_config, ","), emulation.apis);
  return config;
}

}  // namespace backplane
