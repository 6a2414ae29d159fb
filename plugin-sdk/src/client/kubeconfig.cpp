// What a kubeconfig says of its current context.
#include <fstream>
#include <iterator>

#include "backplane/client.hpp"
#include "backplane/schema.hpp"
#include "schema/base64.hpp"

namespace backplane BACKPLANE_API {
namespace {

// The member `what` of the entry of `list` with this name.
const Object* named(const Object& config, std::string_view list, std::string_view name, std::string_view what) {
  const Array* entries = get_array(config, list);
  if (entries == nullptr) return nullptr;
  for (const Value& entry : *entries) {
    if (entry.is_object() && get_string(entry.get_object(), "name") == name) return get_object(entry.get_object(), what);
  }
  return nullptr;
}

Result<std::string> read_file(std::string path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return bad_request("kubeconfig: " + path + " cannot be read");
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// "key-data" in base64, or the file that "key" names; empty when there is neither.
Result<std::string> bytes_of(const Object& object, const std::string& key) {
  const std::string_view data = get_string(object, key + "-data");
  if (!data.empty()) {
    std::string out;
    if (schema::decode_go_base64(data, out)) return bad_request("kubeconfig: " + key + "-data is not base64");
    return out;
  }
  const std::string_view path = get_string(object, key);
  if (path.empty()) return std::string();
  return read_file(std::string(path));
}

}  // namespace

Result<ClientConfig> client_config_from_kubeconfig(std::string_view kubeconfig) {
  auto parsed = parse_yaml(kubeconfig, json::storage_ptr(), nullptr);
  if (!parsed.ok()) return std::move(parsed).status();
  if (!parsed->is_object()) return bad_request("kubeconfig: not an object");
  const Object& config = parsed->get_object();
  const Object* context = named(config, "contexts", get_string(config, "current-context"), "context");
  if (context == nullptr) return bad_request("kubeconfig: there is no current context");
  const Object* cluster = named(config, "clusters", get_string(*context, "cluster"), "cluster");
  const Object* user = named(config, "users", get_string(*context, "user"), "user");
  if (cluster == nullptr) return bad_request("kubeconfig: there is no cluster " + quoted(get_string(*context, "cluster")));
  if (user == nullptr) return bad_request("kubeconfig: there is no user " + quoted(get_string(*context, "user")));

  ClientConfig out;
  out.server = get_string(*cluster, "server");
  out.tls_server_name = get_string(*cluster, "tls-server-name");
  out.insecure_skip_tls_verify = get_bool(*cluster, "insecure-skip-tls-verify").value_or(false);
  out.token = get_string(*user, "token");
  struct Part {
    const Object& from;
    const char* key;
    std::string& to;
  };
  for (const Part& part : {Part{*cluster, "certificate-authority", out.certificate_authority},
                           Part{*user, "client-certificate", out.client_certificate}, Part{*user, "client-key", out.client_key}}) {
    auto bytes = bytes_of(part.from, part.key);
    if (!bytes.ok()) return std::move(bytes).status();
    part.to = std::move(*bytes);
  }
  if (const std::string_view file = get_string(*user, "tokenFile"); out.token.empty() && !file.empty()) {
    auto token = read_file(std::string(file));
    if (!token.ok()) return std::move(token).status();
    out.token = token->substr(0, token->find_last_not_of(" \r\n\t") + 1);
  }
  return out;
}

}  // namespace BACKPLANE_API
