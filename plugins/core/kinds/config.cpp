// Secrets and service accounts.
#include <algorithm>
#include <array>

#include "backplane/kit/strategy.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/kit/walk.hpp"
#include "backplane/names.hpp"
#include "kinds/kinds.hpp"

namespace backplane::core {
namespace {

using namespace kit;

constexpr std::string_view kEnforceMountable = "kubernetes.io/enforce-mountable-secrets";

std::string decode_base64(std::string_view text) {
  static constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  unsigned bits = 0;
  int count = 0;
  for (char letter : text) {
    const auto value = kAlphabet.find(letter);
    if (value == std::string_view::npos) break;
    bits = bits << 6 | static_cast<unsigned>(value);
    if (++count == 4) {
      for (int shift : {16, 8, 0}) out.push_back(static_cast<char>(bits >> shift & 0xFF));
      bits = 0;
      count = 0;
    }
  }
  if (count == 3) {
    out.push_back(static_cast<char>(bits >> 10 & 0xFF));
    out.push_back(static_cast<char>(bits >> 2 & 0xFF));
  } else if (count == 2) {
    out.push_back(static_cast<char>(bits >> 4 & 0xFF));
  }
  return out;
}

std::string encode_base64(std::string_view bytes) {
  static constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t k) { return i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u; };
    const unsigned bits = byte(0) << 16 | byte(1) << 8 | byte(2);
    out.push_back(kAlphabet[bits >> 18 & 63]);
    out.push_back(kAlphabet[bits >> 12 & 63]);
    out.push_back(i + 1 < bytes.size() ? kAlphabet[bits >> 6 & 63] : '=');
    out.push_back(i + 2 < bytes.size() ? kAlphabet[bits & 63] : '=');
  }
  return out;
}

struct SecretType {
  std::string_view type;
  std::array<std::string_view, 2> required_keys;
};
constexpr SecretType kSecretTypes[] = {
    {"kubernetes.io/tls", {"tls.crt", "tls.key"}},
    {"kubernetes.io/ssh-auth", {"ssh-privatekey", ""}},
    {"kubernetes.io/dockerconfigjson", {".dockerconfigjson", ""}},
    {"kubernetes.io/dockercfg", {".dockercfg", ""}},
};

class SecretStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;
  std::vector<std::string> warnings(const Object& object, const Object*) const override {
    if (get_string(object, "type") != "kubernetes.io/tls") return {};
    const Object& data = object_or_empty(object, "data");
    for (const auto& [key, what] : {std::pair{"tls.crt", "certificate"}, std::pair{"tls.key", "key"}}) {
      const Value* value = find(data, key);
      const bool pem = value != nullptr && decode_base64(text_of(*value)).find("-----BEGIN") != std::string::npos;
      if (!pem) return {"tls: failed to find any PEM data in " + std::string(what) + " input"};
    }
    return {};
  }
  // stringData is a way to write data, never to be read back.
  void apply_defaults(Object& object) const override {
    if (const Object* texts = get_object(object, "stringData"); texts && !texts->empty()) {
      const Object copy(*texts);
      Object& data = ensure_object(object, "data");
      for (const auto& entry : copy) data[entry.key()] = encode_base64(text_of(entry.value()));
    }
    erase_member(object, "stringData");
  }

 protected:
  void check(const Object& object, FieldErrors& errors) const override { check_type(object, object_or_empty(object, "data"), errors); }

 private:
  static bool filled(const Object& data, std::string_view key) {
    const Value* value = find(data, key);
    return value != nullptr && !text_of(*value).empty();
  }
  static void check_type(const Object& object, const Object& data, FieldErrors& errors) {
    const std::string_view type = get_string(object, "type");
    if (type == "kubernetes.io/service-account-token") {
      const Value* name = find_path(object, {"metadata", "annotations", "kubernetes.io/service-account.name"});
      if (name == nullptr || text_of(*name).empty()) errors.required("metadata.annotations[kubernetes.io/service-account.name]");
    } else if (type == "kubernetes.io/basic-auth") {
      if (data.contains("username") || data.contains("password")) return;
      for (std::string_view key : {"username", "password"}) errors.required(at_key("data", key));
    } else {
      for (const SecretType& row : kSecretTypes) {
        if (row.type == type) check_required_keys(row, data, errors);
      }
    }
  }
  static void check_required_keys(const SecretType& row, const Object& data, FieldErrors& errors) {
    for (std::string_view key : row.required_keys) {
      if (key.empty()) continue;
      const std::string path = at_key("data", key);
      const bool docker = key.starts_with(".docker");
      const bool tls = key.starts_with("tls.");
      if (docker || tls ? !data.contains(key) : !filled(data, key)) {
        errors.required(path);
      } else if (docker) {
        check_json(decode_base64(text_of(data.at(key))), path, errors);
      }
    }
  }
  static void check_json(const std::string& text, const std::string& path, FieldErrors& errors) {
    boost::system::error_code error;
    json::stream_parser parser;
    parser.write(text, error);
    if (!error) parser.finish(error);
    if (!error) return;
    std::string why = text.find_first_not_of(" \t\r\n") == std::string::npos || error == json::error::incomplete
                          ? "unexpected end of JSON input"
                          : "invalid character " + quote_first_bad(text) + " looking for beginning of value";
    errors.invalid(path, "<secret contents redacted>", why);
  }
  static std::string quote_first_bad(const std::string& text) {
    const auto first = text.find_first_not_of(" \t\r\n");
    return std::string("'") + text[first] + "'";
  }
};

class ServiceAccountStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;
  std::vector<std::string> warnings(const Object& object, const Object* old) const override {
    const auto enforces = [](const Object& account) {
      return object_or_empty(object_or_empty(account, "metadata"), "annotations").contains(kEnforceMountable);
    };
    if (!enforces(object) || (old != nullptr && enforces(*old))) return {};
    return {at_key("metadata.annotations", kEnforceMountable) +
            ": deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"};
  }
};

}  // namespace

KindRow secret_row() {
  return {.resource = "secrets",
          .kind = "Secret",
          .facts = {.rechecks_metadata = true,
                    .selectable = {{"type", "type", ""}},
                    .columns = {name_column(), text_column("Type", "What the entries are for.", ".type"),
                                computed_column("Data", "Number of entries.", print_entries), age_column()}},
          .make = made<SecretStrategy>()};
}

KindRow service_account_row() {
  return {.resource = "serviceaccounts",
          .kind = "ServiceAccount",
          .short_names = {"sa"},
          .facts = {.returns_deleted = true, .rechecks_metadata = true, .columns = {name_column(), age_column()}},
          .make = made<ServiceAccountStrategy>()};
}

}  // namespace backplane::core
