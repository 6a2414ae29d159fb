// Secrets, and kinds that refer to them: rules that the schema cannot express.
#include "backplane/core/json_access.hpp"
#include "backplane/kit/strategy.hpp"
#include "backplane/types/base64.hpp"
#include "backplane/types/schema.hpp"
#include "backplane/workload/annotation_value.hpp"
#include "kinds/kinds.hpp"

namespace backplane::core {
namespace {

using namespace kit;

std::string bytes_at(const Object& data, std::string_view key) { return from_base64(get_string(data, key)).value_or(""); }

// Checks `data` of a TLS secret.
void warn_of_key_pair(const Value& data, const std::string&, std::vector<std::string>& warnings) {
  for (const auto& [key, what] : {std::pair{"tls.crt", "certificate"}, std::pair{"tls.key", "key"}}) {
    if (bytes_at(data.get_object(), key).find("-----BEGIN") != std::string::npos) continue;
    warnings.push_back("tls: failed to find any PEM data in " + std::string(what) + " input");
    return;
  }
}

class SecretStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;

 protected:
  void check(const Object& object, FieldErrors& errors) const override {
    const Object& data = object_or_empty(object, "data");
    for (std::string_view name : {"dockerconfigjson", "dockercfg"}) {
      const std::string key = "." + std::string(name);
      if (get_string(object, "type") != "kubernetes.io/" + std::string(name) || !data.contains(key)) continue;
      const auto parsed = parse_json(bytes_at(data, key), {}, nullptr);
      const auto refuse = [&](const std::string& why) { errors.invalid(at_key("data", key), "<secret contents redacted>", why); };
      if (!parsed.ok()) {
        refuse(parsed.status().message());
      } else if (!parsed->is_object() && !parsed->is_null()) {
        refuse("json: cannot unmarshal " + std::string(workload::go_kind(*parsed)) + " into Go value of type map[string]interface {}");
      }
    }
  }
};

// Stores only the names of a service account's secrets.
class ServiceAccountStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;

 protected:
  void prepare_create(Object& object) const override { keep_names(object); }
  void prepare_update(Object& object, const Object&) const override { keep_names(object); }

 private:
  static void keep_names(Object& object) {
    each_mutable(object, "secrets", [](Object& reference) {
      Object named;
      take_member(named, reference, "name");
      reference = std::move(named);
    });
  }
};

}  // namespace

void add_secrets(GroupCode& code) {
  code.kinds["Secret"] = {.make = made<SecretStrategy>()};
  code.kinds["ServiceAccount"] = {.make = made<ServiceAccountStrategy>()};
  code.warnings.emplace("keyPair", warn_of_key_pair);
}

}  // namespace backplane::core
