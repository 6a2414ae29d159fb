#include "webhook_config.hpp"

#include <algorithm>
#include <set>

#include "backplane/kit/webhook_rules.hpp"
#include "backplane/types/base64.hpp"
#include "backplane/types/names.hpp"
#include "definition.hpp"

namespace backplane::apiextensions {
namespace {

constexpr int kHttps = 443;

bool is_known_review(const std::string& version) { return version == "v1" || version == "v1beta1"; }

std::string authorities_of(const Object& client) {
  std::string pem = from_base64(get_string(client, "caBundle")).value_or("");
  // A bundle of blanks counts as absent.
  return pem.find_first_not_of(" \t\r\n") == std::string::npos ? std::string() : pem;
}

// Go's error for a bundle without certificates; empty: it has some.
std::string authorities_problem(std::string_view bundle) {
  const std::string pem = from_base64(bundle).value_or("");
  const std::size_t begin = pem.find("-----BEGIN CERTIFICATE-----");
  if (begin != std::string::npos && pem.find("-----END CERTIFICATE-----", begin) != std::string::npos) return {};
  return "unable to load root certificates: unable to parse bytes as PEM block";
}

void check_client(const Object& client, const std::string& path, bool any_authorities, FieldErrors& errors) {
  const Object* service = get_object(client, "service");
  const Value* url = find(client, "url");
  const bool has_url = url != nullptr && url->is_string();
  if (has_url == (service != nullptr))
    errors.required(path, "exactly one of url or service is required");
  else if (has_url)
    kit::check_webhook_url(text_of(*url), path + ".url", errors);
  else
    kit::check_webhook_service(*service, path + ".service", errors);
  const std::string_view bundle = get_string(client, "caBundle");
  const std::string problem = bundle.empty() || any_authorities ? std::string() : authorities_problem(bundle);
  if (!problem.empty()) errors.invalid(path + ".caBundle", bundle, problem);
}

std::vector<std::string> reviews_of(const Object& conversion) {
  return texts(object_or_empty(conversion, "webhook"), "conversionReviewVersions");
}

void check_reviews(const Object& conversion, bool known_needed, const std::string& path, FieldErrors& errors) {
  const std::vector<std::string> versions = reviews_of(conversion);
  if (versions.empty()) return errors.required(path);
  std::set<std::string> seen;
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const std::string at = path + "[" + std::to_string(i) + "]";
    if (!seen.insert(versions[i]).second) {
      errors.invalid(at, versions[i], "duplicate version");
      continue;
    }
    for (const std::string& problem : is_dns1035_label(versions[i])) errors.invalid(at, versions[i], problem);
  }
  if (!known_needed || std::any_of(versions.begin(), versions.end(), is_known_review)) return;
  const Value* printed = find(object_or_empty(conversion, "webhook"), "conversionReviewVersions");
  errors.invalid_raw(path, to_json(*printed), "must include at least one of v1, v1beta1");
}

}  // namespace

bool converts_by_webhook(const Object& crd) { return get_string(object_or_empty(spec_of(crd), "conversion"), "strategy") == "Webhook"; }

WebhookConfig webhook_config(const Object& crd) {
  const Object& webhook = object_or_empty(object_or_empty(spec_of(crd), "conversion"), "webhook");
  const Object& client = object_or_empty(webhook, "clientConfig");
  const Object& service = object_or_empty(client, "service");
  WebhookConfig out;
  out.definition = meta_name(crd);
  out.target.url = get_string(client, "url");
  out.target.service.ns = get_string(service, "namespace");
  out.target.service.name = get_string(service, "name");
  out.target.service.path = get_string(service, "path");
  out.target.service.port = static_cast<int>(get_int(service, "port").value_or(kHttps));
  out.authorities = authorities_of(client);
  out.review_versions = texts(webhook, "conversionReviewVersions");
  return out;
}

void check_conversion_webhook(const Object& conversion, const Object* old, bool any_authorities, FieldErrors& errors) {
  const std::string path = "spec.conversion.";
  const Object* client = get_object(object_or_empty(conversion, "webhook"), "clientConfig");
  if (client == nullptr)
    errors.required(path + "webhookClientConfig", "required when strategy is set to Webhook");
  else
    check_client(*client, path + "webhookClientConfig", any_authorities, errors);
  const std::vector<std::string> before = old != nullptr ? reviews_of(*old) : std::vector<std::string>();
  const bool known_before = before.empty() || std::any_of(before.begin(), before.end(), is_known_review);
  check_reviews(conversion, known_before, path + "conversionReviewVersions", errors);
}

bool has_bad_authorities(const Object& crd) {
  const Object& webhook = object_or_empty(object_or_empty(spec_of(crd), "conversion"), "webhook");
  const std::string_view bundle = get_string(object_or_empty(webhook, "clientConfig"), "caBundle");
  return !bundle.empty() && !authorities_problem(bundle).empty();
}

bool may_have_any_authorities(const Object* old) {
  return old == nullptr || !condition_is_true(*old, "Established") || has_bad_authorities(*old);
}

}  // namespace backplane::apiextensions
