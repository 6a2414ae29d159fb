// ConfigMaps, secrets and service accounts.
#include "backplane/kit/base64.hpp"
#include "backplane/kit/strategy.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/kit/walk.hpp"
#include "kinds/kinds.hpp"

namespace backplane::core {
namespace {

using namespace kit;

constexpr std::string_view kEnforceMountable = "kubernetes.io/enforce-mountable-secrets";

std::string bytes_at(const Object& data, std::string_view key) { return from_base64(get_string(data, key)).value_or(""); }

// What a secret of a type must hold.
enum class Entry : unsigned char { kThere, kFilled, kJson };
struct SecretEntry {
  std::string_view type, key;
  Entry rule;
};
constexpr SecretEntry kSecretEntries[] = {
    {"kubernetes.io/tls", "tls.crt", Entry::kThere},
    {"kubernetes.io/tls", "tls.key", Entry::kThere},
    {"kubernetes.io/ssh-auth", "ssh-privatekey", Entry::kFilled},
    {"kubernetes.io/dockerconfigjson", ".dockerconfigjson", Entry::kJson},
    {"kubernetes.io/dockercfg", ".dockercfg", Entry::kJson},
};

void check_json(const std::string& text, const std::string& path, FieldErrors& errors) {
  boost::system::error_code error;
  json::parse_options options;
  options.max_depth = kMaxJsonDepth;
  json::stream_parser parser({}, options);
  parser.write(text, error);
  if (!error) parser.finish(error);
  if (!error) return;
  const auto first = text.find_first_not_of(" \t\r\n");
  const bool ends = first == std::string::npos || error == json::error::incomplete;
  errors.invalid(
      path, "<secret contents redacted>",
      ends ? "unexpected end of JSON input" : "invalid character '" + std::string(1, text[first]) + "' looking for beginning of value");
}

class SecretStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;
  std::vector<std::string> warnings(const Object& object, const Object*) const override {
    if (get_string(object, "type") != "kubernetes.io/tls") return {};
    const Object& data = object_or_empty(object, "data");
    for (const auto& [key, what] : {std::pair{"tls.crt", "certificate"}, std::pair{"tls.key", "key"}}) {
      if (bytes_at(data, key).find("-----BEGIN") == std::string::npos) {
        return {"tls: failed to find any PEM data in " + std::string(what) + " input"};
      }
    }
    return {};
  }
  // stringData is a way to write data, never to be read back.
  void apply_defaults(Object& object) const override {
    for (const auto& entry : Object(object_or_empty(object, "stringData"))) {
      ensure_object(object, "data")[entry.key()] = to_base64(text_of(entry.value()));
    }
    erase_member(object, "stringData");
  }

 protected:
  void check(const Object& object, FieldErrors& errors) const override {
    const std::string_view type = get_string(object, "type");
    const Object& data = object_or_empty(object, "data");
    if (type == "kubernetes.io/service-account-token") {
      const Value* name = find_path(object, {"metadata", "annotations", "kubernetes.io/service-account.name"});
      if (name == nullptr || text_of(*name).empty()) errors.required("metadata.annotations[kubernetes.io/service-account.name]");
    } else if (type == "kubernetes.io/basic-auth" && !data.contains("username") && !data.contains("password")) {
      for (std::string_view key : {"username", "password"}) errors.required(at_key("data", key));
    }
    for (const SecretEntry& row : kSecretEntries) {
      if (row.type != type) continue;
      if (!data.contains(row.key) || (row.rule == Entry::kFilled && get_string(data, row.key).empty())) {
        errors.required(at_key("data", row.key));
      } else if (row.rule == Entry::kJson) {
        check_json(bytes_at(data, row.key), at_key("data", row.key), errors);
      }
    }
  }
};

class ServiceAccountStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;
  std::vector<std::string> warnings(const Object& object, const Object* old) const override {
    const auto enforces = [](const Object& account) {
      return find_path(account, {"metadata", "annotations", kEnforceMountable}) != nullptr;
    };
    if (!enforces(object) || (old != nullptr && enforces(*old))) return {};
    return {at_key("metadata.annotations", kEnforceMountable) +
            ": deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"};
  }
};

}  // namespace

void add_secrets_and_accounts(GroupCode& code) {
  code.kinds["Secret"] = {.make = made<SecretStrategy>()};
  code.kinds["ServiceAccount"] = {.make = made<ServiceAccountStrategy>()};
}

}  // namespace backplane::core
