// ConfigMaps, secrets and service accounts.
#include <algorithm>
#include <array>

#include "backplane/kit/strategy.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/kit/walk.hpp"
#include "backplane/names.hpp"
#include "kinds/strategies.hpp"

namespace backplane::core {
namespace {

using namespace kit;

constexpr std::size_t kMaxBytes = 1024 * 1024;
constexpr std::string_view kEnforceMountable = "kubernetes.io/enforce-mountable-secrets";

std::size_t size_of(const Object& object, std::string_view key) {
  const Object* map = get_object(object, key);
  return map ? map->size() : 0;
}

// Bytes of a base64 text.
std::size_t decoded_size(std::string_view text) {
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  return text.size() / 4 * 3 - (text.empty() ? 0 : padding);
}

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

// Bytes that are null are none.
void fill_null_bytes(Object& object, std::string_view member) {
  Object* map = mutable_object(object, member);
  if (map == nullptr) return;
  for (auto& entry : *map) {
    if (entry.value().is_null()) entry.value() = "";
  }
}

// What `immutable: true` forbids; `members` may then not change, and it cannot be taken back.
void check_frozen(const Object& object, const Object& old, std::initializer_list<std::string_view> members, FieldErrors& errors) {
  if (!get_bool(old, "immutable").value_or(false)) return;
  if (!get_bool(object, "immutable").value_or(false)) errors.forbidden("immutable", "field is immutable when `immutable` is set");
  for (std::string_view member : members) {
    if (!same_member(object, old, member)) errors.forbidden(std::string(member), "field is immutable when `immutable` is set");
  }
}

class ConfigMapStrategy final : public KindStrategy {
 public:
  void canonicalize(Object& object) const override { fill_null_bytes(object, "binaryData"); }
  const TableConvertor& table_convertor() const override {
    static const PrintedTable table({name_column(), text_column("Data", "Number of entries."), age_column()},
                                    [](const Object& object, std::int64_t now, Array& cells) {
                                      cells.emplace_back(meta_name(object));
                                      cells.emplace_back(size_of(object, "data") + size_of(object, "binaryData"));
                                      cells.emplace_back(age_of(object, now));
                                    });
    return table;
  }

 protected:
  bool rechecks_metadata() const override { return true; }
  void check_change(const Object& object, const Object& old, FieldErrors& errors) const override {
    check_frozen(object, old, {"data", "binaryData"}, errors);
  }
  void check(const Object& object, FieldErrors& errors) const override {
    const Object& data = object_or_empty(object, "data");
    const Object& binary = object_or_empty(object, "binaryData");
    std::size_t total = 0;
    for (const auto& entry : data) {
      check_key(entry.key(), "data", errors);
      if (binary.contains(entry.key()))
        errors.invalid(at_key("data", entry.key()), std::string_view(entry.key()), "duplicate of key present in binaryData");
      total += text_of(entry.value()).size();
    }
    for (const auto& entry : binary) {
      check_key(entry.key(), "binaryData", errors);
      total += decoded_size(text_of(entry.value()));
    }
    if (total > kMaxBytes) errors.too_long("", "", static_cast<long long>(kMaxBytes));
  }

 private:
  static void check_key(std::string_view key, const std::string& member, FieldErrors& errors) {
    for (const std::string& problem : is_config_map_key(key)) errors.invalid(at_key(member, key), key, problem);
  }
};

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
  void canonicalize(Object& object) const override { fill_null_bytes(object, "data"); }
  std::vector<SelectableField> selectable_fields() const override { return {{"type", "type", ""}}; }
  const TableConvertor& table_convertor() const override {
    static const PrintedTable table(
        {name_column(), text_column("Type", "What the entries are for."), text_column("Data", "Number of entries."), age_column()},
        [](const Object& object, std::int64_t now, Array& cells) {
          cells.emplace_back(meta_name(object));
          cells.emplace_back(get_string(object, "type"));
          cells.emplace_back(size_of(object, "data"));
          cells.emplace_back(age_of(object, now));
        });
    return table;
  }
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
    fill(object, "type", "Opaque");
  }

 protected:
  bool rechecks_metadata() const override { return true; }
  void prepare_update(Object& object, const Object& old) const override { fill(object, "type", std::string(get_string(old, "type"))); }
  void check_change(const Object& object, const Object& old, FieldErrors& errors) const override {
    check_immutable(find(object, "type"), find(old, "type"), "type", errors);
    check_frozen(object, old, {"data"}, errors);
  }
  void check(const Object& object, FieldErrors& errors) const override {
    const Object& data = object_or_empty(object, "data");
    std::size_t total = 0;
    for (const auto& entry : data) {
      for (const std::string& problem : is_config_map_key(entry.key())) {
        errors.invalid(at_key("data", entry.key()), std::string_view(entry.key()), problem);
      }
      total += decoded_size(text_of(entry.value()));
    }
    if (total > kMaxBytes) errors.too_long("data", "", static_cast<long long>(kMaxBytes));
    check_type(object, data, errors);
  }

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
  std::vector<std::string> warnings(const Object& object, const Object* old) const override {
    const auto enforces = [](const Object& account) {
      return object_or_empty(object_or_empty(account, "metadata"), "annotations").contains(kEnforceMountable);
    };
    if (!enforces(object) || (old != nullptr && enforces(*old))) return {};
    return {at_key("metadata.annotations", kEnforceMountable) +
            ": deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"};
  }
  const TableConvertor& table_convertor() const override {
    static const PrintedTable table({name_column(), age_column()}, [](const Object& object, std::int64_t now, Array& cells) {
      cells.emplace_back(meta_name(object));
      cells.emplace_back(age_of(object, now));
    });
    return table;
  }

 protected:
  bool rechecks_metadata() const override { return true; }
};

}  // namespace

std::shared_ptr<const Strategy> config_map_strategy() { return std::make_shared<ConfigMapStrategy>(); }
std::shared_ptr<const Strategy> secret_strategy() { return std::make_shared<SecretStrategy>(); }
std::shared_ptr<const Strategy> service_account_strategy() { return std::make_shared<ServiceAccountStrategy>(); }

}  // namespace backplane::core
