// Reads the current context of a kubeconfig.
#include <fstream>

#include "backplane/net/client.hpp"
#include "backplane/types/schema.hpp"
#include "text/base64.hpp"

namespace backplane BACKPLANE_API {
namespace {

// Returns the member `what` of the entry with this name in the list `list`.
const Object* named(const Object& config, std::string_view list, std::string_view name, std::string_view what) {
  const Array* entries = get_array(config, list);
  if (entries == nullptr) return nullptr;
  for (const Value& entry : *entries) {
    if (entry.is_object() && get_string(entry.get_object(), "name") == name) return get_object(entry.get_object(), what);
  }
  return nullptr;
}

// Checks that the file exists and can be opened. The client checks its contents.
Status note_file(std::string_view path, std::string& to) {
  to = path;
  if (path.empty() || std::ifstream(to, std::ios::binary)) return {};
  return bad_request("kubeconfig: " + to + " cannot be read");
}

// Reads "key-data" in base64, or the name of the file in "key".
Status note_bytes(const Object& object, const std::string& key, std::string& text, std::string& file) {
  const std::string_view data = get_string(object, key + "-data");
  if (data.empty()) return note_file(get_string(object, key), file);
  if (schema::decode_go_base64(data, text)) return bad_request("kubeconfig: " + key + "-data is not base64");
  return {};
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
    std::string& text;
    std::string& file;
  };
  for (const Part& part : {Part{*cluster, "certificate-authority", out.certificate_authority, out.certificate_authority_file},
                           Part{*user, "client-certificate", out.client_certificate, out.client_certificate_file},
                           Part{*user, "client-key", out.client_key, out.client_key_file}}) {
    if (Status noted = note_bytes(part.from, part.key, part.text, part.file); !noted.ok()) return noted;
  }
  if (out.token.empty()) {
    if (Status noted = note_file(get_string(*user, "tokenFile"), out.token_file); !noted.ok()) return noted;
  }
  return out;
}

}  // namespace BACKPLANE_API
