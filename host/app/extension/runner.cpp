#include "app/extension/runner.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "app/extension/extension_settings.hpp"
#include "app/extension/outer_server.hpp"
#include "app/extension/outer_trust.hpp"
#include "app/paths.hpp"
#include "backplane/types/names.hpp"
#include "backplane/types/schema.hpp"
#include "plugin/descriptor.hpp"
#include "plugin/in_tree.hpp"
#include "plugin/plugin_registry.hpp"
#include "transport/certificates.hpp"

namespace backplane {
namespace {

constexpr std::string_view kProgram = "backplane-runner";
constexpr int kPort = 6444;
// The in-tree plugins that a runner loads. Their API groups are disabled, because the outer server serves them.
constexpr std::array<std::string_view, 6> kUsed = {"authentication", "authorization",   "audit",
                                                   "encryption",     "storage-rocksdb", "storage-etcd"};
constexpr std::string_view kAbout =
    "backplane-runner serves plugins as an extension of an API server: their API groups behind APIServices, their\n"
    "admission rules as webhooks. Users, permissions and namespaces are those of that server.\n\n"
    "Usage:\n"
    "  backplane-runner --kubeconfig FILE --plugin FILE.so [flags]\n\n"
    "The flags of the store, of logs, audit and serving are those of backplane ('backplane --help').\n";

std::string last_part(const std::string& name) { return name.substr(name.rfind('/') + 1); }

bool is_loopback(const std::string& address) { return address == "::1" || address.starts_with("127."); }

std::string host_of(const std::string& url) {
  std::string host = url.substr(std::string_view("https://").size());
  if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
  return host.substr(0, host.rfind(':'));
}

}  // namespace

bool is_runner(std::string_view program) { return program.substr(program.rfind('/') + 1) == kProgram; }

struct RunnerCommand::Files {
  ClientConfig outer;
  std::string dir, plugins, tokens, reviews;
  std::vector<std::string> trust_flags;
};

Status RunnerCommand::parse(std::vector<std::string> args) {
  args_ = std::move(args);
  flags_.add_flags(first_.flags);
  return first_.flags.parse(args_);
}

std::string RunnerCommand::help(std::size_t columns) const {
  FlagSet own;
  RunnerFlags defaults;
  defaults.add_flags(own);
  return std::string(kAbout) + own.help(columns);
}

// Checks the flags, and reads the names of the plugins from their descriptors, without running code of the plugins.
Status RunnerCommand::check_plugins(const Options& all) {
  Problems problems;
  flags_.validate(all.flags, problems);
  for (const std::string& file : flags_.plugins) {
    const std::string path = absolute_path(file);
    const InspectedPlugin inspected = inspect_plugin(path);
    if (!inspected.descriptor) {
      problems.push_back("--plugin: " + file + " is not a plugin; 'backplane plugin check " + file + "' says why");
      continue;
    }
    names_.push_back(inspected.descriptor->name);
    paths_.push_back(path);
  }
  if (!problems.empty()) return problems_error(problems);
  if (flags_.service_name.empty()) flags_.service_name = last_part(names_.front());
  if (!is_dns1035_label(flags_.service_name).empty()) {
    return bad_request("--service-name: " + backplane::quoted(flags_.service_name) +
                       " cannot be the name of a Service; give one of lower-case letters, digits and '-'");
  }
  return {};
}

Result<RunnerCommand::Files> RunnerCommand::write_files(const Options& all) {
  Files files;
  auto outer = read_outer_config(flags_.kubeconfig);
  if (!outer.ok()) return std::move(outer).status();
  files.outer = std::move(*outer);
  std::string data_dir = all.backplane.data_dir;
  if (data_dir.empty()) {
    auto found = default_data_dir();
    if (!found.ok()) return std::move(found).status();
    data_dir = *found + "/runner/" + flags_.service_name;
  }
  files.dir = absolute_path(data_dir);
  const std::string own = files.dir + "/extension";
  files.plugins = own + "/plugins";
  std::error_code error;
  std::filesystem::remove_all(files.plugins, error);
  for (const std::string& dir : {files.dir, own, files.plugins}) {
    if (Status status = make_private_directory(dir); !status.ok()) return status;
  }
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    std::filesystem::create_symlink(paths_[i], files.plugins + "/" + std::to_string(i) + ".so", error);
    if (error) return internal_error(files.plugins + ": " + error.message());
  }
  auto facts = read_outer_facts(files.outer);
  if (!facts.ok()) return std::move(facts).status();
  if (flags_.api_groups && !facts->trust.contains("requestheader-client-ca-file")) {
    return bad_request(
        "--kubeconfig: the server publishes no front proxy in kube-system/extension-apiserver-authentication; start it with "
        "--requestheader-client-ca-file and --proxy-client-cert-file, so that it can forward requests");
  }
  outer_groups_ = std::move(facts->groups);
  if (Status status = write_trust(own, facts->trust); !status.ok()) return status;
  auto flags = trust_flags(own, facts->trust);
  if (!flags.ok()) return std::move(flags).status();
  files.trust_flags = std::move(*flags);
  files.tokens = own + "/token-reviews.kubeconfig";
  files.reviews = own + "/access-reviews.kubeconfig";
  Status status = write_file_atomically(files.tokens, review_kubeconfig(files.outer, "/apis/authentication.k8s.io/v1/tokenreviews"), 0600);
  if (!status.ok()) return status;
  status = write_file_atomically(files.reviews, review_kubeconfig(files.outer, "/apis/authorization.k8s.io/v1/subjectaccessreviews"), 0600);
  if (!status.ok()) return status;
  return files;
}

std::vector<std::string> RunnerCommand::more_flags(const Options& all, const Files& files) const {
  std::vector<std::string> out = files.trust_flags;
  const auto add = [&](std::string_view name, const std::string& value) { out.push_back("--" + std::string(name) + "=" + value); };
  const auto add_default = [&](std::string_view name, const std::string& value) {
    if (!all.flags.changed(name)) add(name, value);
  };
  add_default("data-dir", files.dir);
  add_default("secure-port", std::to_string(kPort));
  if (!all.flags.changed("advertise-address")) add_default("bind-address", "0.0.0.0");
  add("external-hostname", flags_.service_name + "." + flags_.service_namespace + ".svc");
  if (all.backplane.plugin_dirs.empty()) add("plugin-dir", default_plugin_directory());
  add("plugin-dir", files.plugins);
  for (const std::string& name : names_) add("require-plugin", name);
  for (const std::string_view name : in_tree_plugins()) {
    if (std::find(kUsed.begin(), kUsed.end(), name) == kUsed.end()) add("disable-plugin", std::string(name));
  }
  // delegated authentication and authorization, with upstream's caches
  add("authentication-token-webhook-config-file", files.tokens);
  add("authentication-token-webhook-version", "v1");
  add_default("authentication-token-webhook-cache-ttl", "10s");
  add("authorization-mode", "Webhook");
  add("authorization-webhook-config-file", files.reviews);
  add("authorization-webhook-version", "v1");
  add_default("authorization-webhook-cache-authorized-ttl", "10s");
  add_default("authorization-webhook-cache-unauthorized-ttl", "10s");
  add("runtime-config", "authentication.k8s.io/v1=false,authorization.k8s.io/v1=false");
  return out;
}

Result<std::unique_ptr<Options>> RunnerCommand::options() {
  if (Status status = check_plugins(first_); !status.ok()) return status;
  auto files = write_files(first_);
  if (!files.ok()) return std::move(files).status();
  auto options = std::make_unique<Options>();
  seen_.add_flags(options->flags);
  std::vector<std::string> args = args_;
  for (std::string& flag : more_flags(first_, *files)) args.push_back(std::move(flag));
  if (Status status = options->flags.parse(args); !status.ok()) return status;
  auto settings = std::make_shared<ExtensionSettings>();
  settings->outer = files->outer;
  settings->outer_groups = outer_groups_;
  settings->plugins = names_;
  settings->api_groups = flags_.api_groups;
  settings->admission_webhooks = flags_.admission_webhooks;
  settings->service_namespace = flags_.service_namespace;
  settings->service_name = flags_.service_name;
  settings->external_name = flags_.external_name;
  settings->url_base = flags_.url_base;
  settings->webhook_resources = flags_.webhook_resources;
  settings->always_allow_paths = flags_.always_allow_paths;
  settings->unregister = flags_.unregister;
  settings->ca_file = files->dir + "/pki/ca.crt";
  settings->trust_dir = files->dir + "/extension";
  auto& generic = options->generic;
  auto& serving = options->secure_serving;
  if (serving.bind_address.empty()) serving.bind_address = default_bind_address(generic.advertise_address);
  if (generic.advertise_address.empty()) generic.advertise_address = reachable_address(serving.bind_address);
  settings->advertise_address = generic.advertise_address;
  if (flags_.api_groups && flags_.external_name.empty() && is_loopback(settings->advertise_address)) {
    return bad_request("--advertise-address: " + settings->advertise_address +
                       " is a loopback address, which endpoints must not have; give another one, or --service-external-name");
  }
  if (!settings->external_name.empty()) options->backplane.more_names.push_back(settings->external_name);
  if (!settings->url_base.empty()) options->backplane.more_names.push_back(host_of(settings->url_base));
  options->backplane.extension = std::move(settings);
  return options;
}

}  // namespace backplane
