#include "backplane/kit/kubeconfig.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "backplane/core/json_access.hpp"
#include "backplane/net/webhook.hpp"
#include "backplane/types/base64.hpp"
#include "backplane/types/schema.hpp"

namespace backplane {
namespace kit BACKPLANE_API {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20;

// Reads one kubeconfig. Errors begin with the path of the file.
class KubeconfigReader {
 public:
  KubeconfigReader(const Object& config, const std::string& file) : config_(config), file_(file) {}

  Result<KubeconfigServer> read() {
    const std::string context_name(get_string(config_, "current-context"));
    if (context_name.empty()) return problem("current-context is required");
    const Object* context = find("contexts", context_name, "context");
    if (context == nullptr) return problem("context " + backplane::quoted(context_name) + " does not exist");
    const std::string cluster_name(get_string(*context, "cluster"));
    const std::string user_name(get_string(*context, "user"));
    const Object* cluster = find("clusters", cluster_name, "cluster");
    if (cluster == nullptr) return problem("cluster " + backplane::quoted(cluster_name) + " does not exist");
    const Object* user = user_name.empty() ? nullptr : find("users", user_name, "user");
    if (user == nullptr && !user_name.empty()) return problem("auth info " + backplane::quoted(user_name) + " does not exist");
    if (Status taken = take_server(*cluster, cluster_name); !taken.ok()) return taken;
    // client-go sends no credentials without TLS.
    if (!out_.client.server.starts_with("https://")) return std::move(out_);
    if (Status taken = take_trust(*cluster, cluster_name); !taken.ok()) return taken;
    if (user == nullptr) return std::move(out_);
    if (Status taken = take_user(*user, user_name); !taken.ok()) return taken;
    return std::move(out_);
  }

 private:
  Status problem(const std::string& text) const { return bad_request(file_ + ": invalid configuration: " + text); }

  const Object* find(std::string_view list, std::string_view name, std::string_view member) const {
    const Object* entry = find_item(config_, list, "name", name);
    return entry == nullptr ? nullptr : &object_or_empty(*entry, member);
  }

  Status take_server(const Object& cluster, const std::string& name) {
    std::string url(get_string(cluster, "server"));
    if (url.empty()) return problem("no server found for cluster " + backplane::quoted(name));
    if (url.find("://") == std::string::npos) url.insert(0, "http://");
    url.resize(std::min(url.find_first_of("?#"), url.size()));
    WebhookUrl parts = split_webhook_url(url);
    if (parts.host.empty() || (!url.starts_with("https://") && !url.starts_with("http://"))) {
      return problem("server " + backplane::quoted(url) + " of cluster " + backplane::quoted(name) + " must be a URL or a host:port pair");
    }
    if (parts.server.find('@') != std::string::npos) {
      return problem("server of cluster " + backplane::quoted(name) + " must not contain user information");
    }
    if (!get_string(cluster, "proxy-url").empty()) {
      return problem("'proxy-url' for cluster " + backplane::quoted(name) +
                     " is not supported; use --egress-selector-config-file to connect through a proxy");
    }
    while (parts.path.ends_with('/')) parts.path.pop_back();
    out_.client.server = std::move(parts.server);
    out_.path = parts.path.empty() ? "/" : std::move(parts.path);
    return {};
  }

  Status take_trust(const Object& cluster, const std::string& name) {
    out_.client.tls_server_name = get_string(cluster, "tls-server-name");
    out_.client.insecure_skip_tls_verify = get_bool(cluster, "insecure-skip-tls-verify").value_or(false);
    Status taken = take_bytes(cluster, "certificate-authority", "certificate-authority", name, out_.client.certificate_authority,
                              out_.client.certificate_authority_file);
    if (!taken.ok()) return taken;
    const bool trust = !out_.client.certificate_authority.empty() || !out_.client.certificate_authority_file.empty();
    if (out_.client.insecure_skip_tls_verify && trust) {
      return problem("specifying a root certificates file with the insecure flag is not allowed for cluster " + backplane::quoted(name));
    }
    return {};
  }

  // Reads "key-data" in base64, or the name of the file in "key". `word`: how messages name the file.
  Status take_bytes(const Object& from, const std::string& key, const std::string& word, const std::string& owner, std::string& text,
                    std::string& file) {
    const std::string_view data = get_string(from, key + "-data");
    const std::string_view path = get_string(from, key);
    if (!data.empty() && !path.empty()) return problem(key + "-data and " + key + " are both specified for " + owner);
    if (!data.empty()) {
      auto bytes = from_base64(data);
      if (!bytes) return problem(key + "-data of " + owner + " is not base64");
      text = std::move(*bytes);
      return {};
    }
    return path.empty() ? Status() : take_file(path, word, owner, file);
  }

  Status take_file(std::string_view path, const std::string& word, const std::string& owner, std::string& to) {
    to = path;
    if (!path.starts_with('/')) to.insert(0, file_.substr(0, file_.rfind('/') + 1));
    errno = 0;
    if (std::ifstream(to, std::ios::binary)) return {};
    return problem("unable to read " + word + " " + to + " for " + owner + " due to " + std::strerror(errno));
  }

  Status take_user(const Object& user, const std::string& name) {
    for (const char* unsupported : {"exec", "auth-provider"}) {
      if (has(user, unsupported)) return problem(std::string(unsupported) + " of user " + backplane::quoted(name) + " is not supported");
    }
    const std::string username(get_string(user, "username"));
    const std::string password(get_string(user, "password"));
    const bool basic = !username.empty() || !password.empty();
    if (basic && !get_string(user, "token").empty()) {
      return problem("more than one authentication method found for " + name + "; found [token basicAuth], only one is allowed");
    }
    if (Status taken = take_certificate(user, name); !taken.ok()) return taken;
    if (Status taken = take_token(user, name); !taken.ok()) return taken;
    if (basic) out_.headers.emplace_back("Authorization", "Basic " + to_base64(username + ":" + password));
    return take_impersonation(user, name);
  }

  Status take_certificate(const Object& user, const std::string& name) {
    if (get_string(user, "client-certificate").empty() && get_string(user, "client-certificate-data").empty()) return {};
    if (get_string(user, "client-key").empty() && get_string(user, "client-key-data").empty()) {
      return problem("client-key-data or client-key must be specified for " + name + " to use the clientCert authentication method.");
    }
    Status taken =
        take_bytes(user, "client-certificate", "client-cert", name, out_.client.client_certificate, out_.client.client_certificate_file);
    if (!taken.ok()) return taken;
    return take_bytes(user, "client-key", "client-key", name, out_.client.client_key, out_.client.client_key_file);
  }

  // A readable token file takes precedence over the token.
  Status take_token(const Object& user, const std::string& name) {
    const std::string_view file = get_string(user, "tokenFile");
    const std::string_view token = get_string(user, "token");
    Status taken = file.empty() ? Status() : take_file(file, "tokenFile", name, out_.client.token_file);
    if (!taken.ok() && token.empty()) return taken;
    if (!file.empty() && taken.ok()) return {};
    out_.client.token_file.clear();
    out_.client.token = token;
    return {};
  }

  Status take_impersonation(const Object& user, const std::string& name) {
    const std::string as(get_string(user, "as"));
    const std::string uid(get_string(user, "as-uid"));
    const Object& extra = object_or_empty(user, "as-user-extra");
    if (as.empty() && (!uid.empty() || count_of(user, "as-groups") > 0 || !extra.empty())) {
      return problem("requesting uid, groups or user-extra for " + name + " without impersonating a user");
    }
    if (as.empty()) return {};
    out_.headers.emplace_back("Impersonate-User", as);
    if (!uid.empty()) out_.headers.emplace_back("Impersonate-Uid", uid);
    for (std::string& group : texts_of(user, "as-groups")) out_.headers.emplace_back("Impersonate-Group", std::move(group));
    for (const auto& [key, values] : extra) {
      for (std::string& value : texts_of(extra, key)) out_.headers.emplace_back("Impersonate-Extra-" + std::string(key), std::move(value));
    }
    return {};
  }

  const Object& config_;
  const std::string& file_;
  KubeconfigServer out_;
};

}  // namespace

Result<KubeconfigServer> parse_kubeconfig(std::string_view text, const std::string& file) {
  auto parsed = parse_yaml(text, json::storage_ptr(), nullptr);
  // The parser's message may quote a line with a secret.
  if (!parsed.ok()) return bad_request(file + ": is not valid YAML");
  if (parsed->is_null()) return bad_request(file + ": invalid configuration: no configuration has been provided");
  if (!parsed->is_object()) return bad_request(file + ": invalid configuration: must be an object");
  const std::string_view kind = get_string(parsed->get_object(), "kind");
  if (!kind.empty() && kind != "Config") return bad_request(file + ": invalid configuration: kind must be Config");
  return KubeconfigReader(parsed->get_object(), file).read();
}

Result<KubeconfigServer> read_kubeconfig(const std::string& file) {
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  if (!in) return bad_request(file + ": " + std::strerror(errno == 0 ? ENOENT : errno));
  std::string text(kMostBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kMostBytes) return bad_request(file + ": is larger than " + std::to_string(kMostBytes) + " bytes");
  return parse_kubeconfig(text, file);
}

}  // namespace BACKPLANE_API
}  // namespace backplane
