#include "app/extension/runner_flags.hpp"

#include "backplane/types/names.hpp"
#include "backplane/types/schema.hpp"

namespace backplane {
namespace {

// Flags that a runner refuses. Most of them configure what the outer server decides.
constexpr std::string_view kRefusedFlags[] = {"authorization-mode",
                                              "authorization-config",
                                              "authorization-webhook-config-file",
                                              "authentication-config",
                                              "authentication-token-webhook-config-file",
                                              "api-audiences",
                                              "client-ca-file",
                                              "requestheader-client-ca-file",
                                              "requestheader-allowed-names",
                                              "requestheader-username-headers",
                                              "requestheader-uid-headers",
                                              "requestheader-group-headers",
                                              "requestheader-extra-headers-prefix",
                                              "service-account-issuer",
                                              "service-account-key-file",
                                              "service-account-signing-key-file",
                                              "token-auth-file",
                                              "enable-bootstrap-token-auth",
                                              "controllers",
                                              "throwaway"};

}  // namespace

void RunnerFlags::add_flags(FlagSet& flags) {
  flags.section("Runner");
  flags.add("kubeconfig", &kubeconfig,
            "The API server to extend, and credentials for it: requests are authenticated and authorized there, and the plugins are "
            "registered there.");
  flags.add("plugin", FlagType::kStringArray, &plugins,
            "Shared object of a plugin that is served. May be repeated. Plugins that it requires come from --plugin-dir.");
  flags.add("api-groups", &api_groups, "Serve the API groups of the plugins, and register an APIService for each version.");
  flags.add("admission-webhooks", &admission_webhooks,
            "Serve the admission rules of the plugins as webhooks, and register a MutatingWebhookConfiguration and a "
            "ValidatingWebhookConfiguration.");
  flags.add("service-namespace", &service_namespace, "Namespace of the Service that APIServices refer to.");
  flags.add("service-name", &service_name,
            "Name of the Service, of its EndpointSlice and of the webhook configurations. Unset: the last part of the first plugin's "
            "name.");
  flags.add("service-external-name", &external_name,
            "DNS name by which the API server reaches this program: the Service is of type ExternalName. Unset: the Service has an "
            "EndpointSlice with --advertise-address.");
  flags.add("webhook-url-base", &url_base,
            "https://HOST:PORT at which the API server calls the webhooks. Unset: --service-external-name or --advertise-address, and "
            "the secure port.");
  flags.add("webhook-resources", &webhook_resources,
            "RESOURCE or RESOURCE.GROUP for which webhooks of admission rules are registered that do not name their resources "
            "themselves; *: all.");
  flags.add("authorization-always-allow-paths", &always_allow_paths, "Paths that every client may read, without a review.");
  flags.add("unregister", &unregister, "Delete what was registered when the program ends.");
}

void RunnerFlags::validate(const FlagSet& flags, Problems& problems) const {
  if (kubeconfig.empty()) problems.emplace_back("--kubeconfig: must not be empty; name a kubeconfig of the API server to extend");
  if (plugins.empty()) problems.emplace_back("--plugin: must not be empty; name the shared object of a plugin");
  if (!api_groups && !admission_webhooks) {
    problems.emplace_back("--api-groups=false: needs --admission-webhooks; otherwise there is nothing to serve");
  }
  if (!url_base.empty() && (!url_base.starts_with("https://") || url_base.find('/', 8) != std::string::npos || url_base.size() < 9)) {
    problems.push_back("--webhook-url-base: invalid value " + backplane::quoted(url_base) + ": must be https://HOST:PORT");
  }
  if (!url_base.empty() && !admission_webhooks) problems.emplace_back("--webhook-url-base: requires --admission-webhooks");
  if (!webhook_resources.empty() && !admission_webhooks) problems.emplace_back("--webhook-resources: requires --admission-webhooks");
  for (const char* name : {"tls-cert-file", "tls-private-key-file", "tls-sni-cert-key", "cert-dir"}) {
    if (!flags.changed(name)) continue;
    problems.push_back("--" + std::string(name) +
                       ": cannot be set; the certificate is issued by the authority in --data-dir, which is registered");
  }
  for (const std::string_view name : kRefusedFlags) {
    if (flags.changed(name)) problems.push_back("--" + std::string(name) + ": cannot be set; the API server of --kubeconfig decides it");
  }
}

}  // namespace backplane
