#include "app/extension/outer_server.hpp"

#include <cstdio>
#include <fstream>
#include <sstream>

#include "app/extension/outer_trust.hpp"
#include "backplane/core/json_access.hpp"
#include "backplane/types/base64.hpp"
#include "base/io_loop.hpp"
#include "base/task_group.hpp"
#include "client/remote_client.hpp"

namespace backplane {
namespace {

constexpr std::chrono::milliseconds kPause{500};
constexpr std::chrono::seconds kAttempt{10};

bool is_away(const Status& status) { return status.code() == 503 || status.code() == 504; }

Status explained(const Status& status) {
  if (status.code() == 401) return bad_request("--kubeconfig: the server does not accept the credentials");
  if (status.code() != 403 && status.code() != 404) return bad_request("--kubeconfig: " + status.message());
  return bad_request("--kubeconfig: " + status.message() +
                     "; the user needs the Role extension-apiserver-authentication-reader in kube-system, and the ConfigMap "
                     "extension-apiserver-authentication must exist");
}

Task<Result<Object>> ask(ApiClient& api, std::string path) {
  HttpCall call;
  call.target = std::move(path);
  call.headers.emplace_back("Accept", "application/json");
  call.deadline = std::chrono::steady_clock::now() + kAttempt;
  return api.request(std::move(call));
}

Task<Result<OuterFacts>> read_facts(ApiClient& api) {
  auto getting = api.get({"", "v1", "configmaps"}, std::string(kTrustNamespace), std::string(kTrustName));
  auto map = co_await std::move(getting);
  if (!map.ok()) co_return std::move(map).status();
  auto listing = ask(api, "/apis");
  auto groups = co_await std::move(listing);
  if (!groups.ok()) co_return std::move(groups).status();
  OuterFacts facts;
  facts.trust = object_or_empty(*map, "data");
  facts.groups.emplace_back("v1");
  if (const Array* list = get_array(*groups, "groups")) {
    for (const Value& each : *list) {
      if (each.is_object()) facts.groups.emplace_back(get_string(each.get_object(), "name"));
    }
  }
  co_return facts;
}

Task<Result<OuterFacts>> wait_for_facts(ApiClient& api) {
  bool reported = false;
  while (true) {
    auto reading = read_facts(api);
    auto facts = co_await std::move(reading);
    if (facts.ok()) co_return facts;
    if (!is_away(facts.status())) co_return explained(facts.status());
    if (!std::exchange(reported, true)) {
      std::fprintf(stderr, "waiting for the server of --kubeconfig: %s\n", facts.status().message().c_str());
    }
    co_await sleep_for(kPause);
  }
}

void put_bytes(Object& to, const std::string& key, const std::string& text, const std::string& file) {
  if (!text.empty()) to[key + "-data"] = to_base64(text);
  if (!file.empty()) to[key] = file;
}

}  // namespace

Result<ClientConfig> read_outer_config(const std::string& file) {
  std::ifstream in(file);
  std::ostringstream text;
  if (file.empty() || !(text << in.rdbuf())) return bad_request("--kubeconfig: " + backplane::quoted(file) + " cannot be read");
  auto config = client_config_from_kubeconfig(text.str());
  if (!config.ok()) return bad_request("--kubeconfig: " + file + ": " + config.status().message());
  if (!config->server.starts_with("https://")) return bad_request("--kubeconfig: " + file + ": the server must have an https URL");
  while (config->server.ends_with('/')) config->server.pop_back();
  config->user_agent = "backplane-runner";
  return config;
}

Result<OuterFacts> read_outer_facts(const ClientConfig& outer) {
  IoLoop loop("outer");
  LoggedTaskGroup tasks;
  auto client = make_remote_client(loop, tasks, outer);
  if (!client.ok()) return bad_request("--kubeconfig: " + client.status().message());
  loop.start();
  auto api = std::make_unique<ApiClient>(*client);
  auto facts = run_on(loop, wait_for_facts(*api));
  api.reset();
  client->reset();
  tasks.close();
  run_on(loop, tasks.wait_all());
  loop.stop();
  return facts;
}

std::string review_kubeconfig(const ClientConfig& outer, std::string_view path) {
  Object cluster{{"server", outer.server + std::string(path)}}, user;
  put_bytes(cluster, "certificate-authority", outer.certificate_authority, outer.certificate_authority_file);
  if (!outer.tls_server_name.empty()) cluster["tls-server-name"] = outer.tls_server_name;
  if (outer.insecure_skip_tls_verify) cluster["insecure-skip-tls-verify"] = true;
  put_bytes(user, "client-certificate", outer.client_certificate, outer.client_certificate_file);
  put_bytes(user, "client-key", outer.client_key, outer.client_key_file);
  if (!outer.token.empty()) user["token"] = outer.token;
  if (!outer.token_file.empty()) user["tokenFile"] = outer.token_file;
  const auto named = [](std::string_view member, Object value) { return Array{Object{{"name", "outer"}, {member, std::move(value)}}}; };
  return to_json(Object{{"apiVersion", "v1"},
                        {"kind", "Config"},
                        {"current-context", "outer"},
                        {"clusters", named("cluster", std::move(cluster))},
                        {"users", named("user", std::move(user))},
                        {"contexts", named("context", Object{{"cluster", "outer"}, {"user", "outer"}})}});
}

}  // namespace backplane
