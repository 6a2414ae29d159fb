#include "config/authentication_config.hpp"

#include "authentication_configuration_json.hpp"
#include "backplane/core/json_access.hpp"
#include "backplane/kit/config_document.hpp"

namespace backplane::authentication {
namespace {

const kit::ConfigDecoder& decoder() {
  static const kit::ConfigDecoder made("AuthenticationConfiguration", {"v1", "v1beta1", "v1alpha1"}, authentication_configuration_json());
  return made;
}

std::string text(const Object& object, std::string_view field) { return std::string(get_string(object, field)); }

// Calls `each` for the objects of a list; the decoder has checked the types, but null items are possible.
template <class F>
void for_items(const Object& object, std::string_view field, F each) {
  const Array* list = get_array(object, field);
  if (list == nullptr) return;
  static const Object none;
  for (const Value& item : *list) each(item.is_object() ? item.get_object() : none);
}

std::vector<std::string> texts(const Object& object, std::string_view field) {
  std::vector<std::string> out;
  const Array* list = get_array(object, field);
  if (list == nullptr) return out;
  for (const Value& item : *list) out.push_back(item.is_string() ? std::string(item.get_string()) : std::string());
  return out;
}

IssuerConfig issuer_of(const Object& object) {
  IssuerConfig out;
  out.url = text(object, "url");
  out.discovery_url = text(object, "discoveryURL");
  out.certificate_authority = text(object, "certificateAuthority");
  out.audiences = texts(object, "audiences");
  out.audience_match_policy = text(object, "audienceMatchPolicy");
  out.egress_selector_type = text(object, "egressSelectorType");
  return out;
}

ClaimMapping mapping_of(const Object& object) {
  ClaimMapping out{text(object, "claim"), std::nullopt, text(object, "expression")};
  const Value* prefix = find(object, "prefix");
  if (prefix != nullptr && prefix->is_string()) out.prefix = std::string(prefix->get_string());
  return out;
}

JwtConfig jwt_of(const Object& object) {
  JwtConfig out;
  out.issuer = issuer_of(object_or_empty(object, "issuer"));
  for_items(object, "claimValidationRules", [&](const Object& rule) {
    out.claim_rules.push_back({text(rule, "claim"), text(rule, "requiredValue"), text(rule, "expression"), text(rule, "message")});
  });
  const Object& mappings = object_or_empty(object, "claimMappings");
  out.username = mapping_of(object_or_empty(mappings, "username"));
  out.groups = mapping_of(object_or_empty(mappings, "groups"));
  out.uid = mapping_of(object_or_empty(mappings, "uid"));
  for_items(mappings, "extra", [&](const Object& extra) { out.extra.push_back({text(extra, "key"), text(extra, "valueExpression")}); });
  for_items(object, "userValidationRules", [&](const Object& rule) {
    out.user_rules.push_back({text(rule, "expression"), text(rule, "message")});
  });
  return out;
}

}  // namespace

Result<AuthenticationConfiguration> decode_authentication_config(std::string_view content) {
  if (content.empty()) return bad_request("empty config data");
  auto document = decoder().decode(content);
  if (!document.ok()) return std::move(document).status();
  AuthenticationConfiguration out;
  for_items(document->object, "jwt", [&](const Object& jwt) { out.jwt.push_back(jwt_of(jwt)); });
  if (const Object* anonymous = get_object(document->object, "anonymous"); anonymous != nullptr) {
    out.anonymous.emplace();
    out.anonymous->enabled = get_bool(*anonymous, "enabled").value_or(false);
    for_items(*anonymous, "conditions", [&](const Object& condition) { out.anonymous->paths.push_back(text(condition, "path")); });
  }
  return out;
}

}  // namespace backplane::authentication
