#include "backplane/workload/signer_name.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "backplane/rest/strategy.hpp"
#include "backplane/types/names.hpp"

namespace backplane::workload {
namespace {

constexpr std::size_t kMaxDomain = 253;
constexpr std::size_t kMaxLabel = 63;
constexpr std::size_t kMaxAnnotations = std::size_t{256} << 10;
constexpr std::size_t kMaxName = kMaxDomain + 1 + kMaxDomain + kMaxLabel + 1;

// Checks the labels between the dots. Reports only the first invalid label.
void check_steps(const std::string& path, std::string_view text, Problems (*rule)(std::string_view), FieldErrors& errors) {
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('.', begin), text.size());
    const std::string_view step = text.substr(begin, end - begin);
    const Problems problems = rule(step);
    for (const std::string& problem : problems) errors.invalid(path, text, "validating label " + quoted(step) + ": " + problem);
    if (!problems.empty()) return;
    begin = end + 1;
  }
}

}  // namespace

void check_signer_name(const std::string& path, std::string_view name, FieldErrors& errors) {
  if (name.empty()) return errors.required(path);
  if (std::count(name.begin(), name.end(), '/') != 1) {
    return errors.invalid(path, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'");
  }
  const std::string_view domain = signer_domain(name);
  if (domain.size() > kMaxDomain) errors.too_long(path, "", static_cast<long long>(kMaxDomain));
  check_steps(path, domain, is_dns1123_label, errors);
  if (domain.find('.') == std::string_view::npos) {
    errors.invalid(path, domain, "should be a domain with at least two segments separated by dots");
  }
  check_steps(path, name.substr(domain.size() + 1), is_dns1123_subdomain, errors);
  if (name.size() > kMaxName) errors.too_long(path, "", static_cast<long long>(kMaxName));
}

void check_user_annotations(const std::string& path, const Object& annotations, FieldErrors& errors) {
  std::size_t size = 0;
  for (const auto& entry : annotations) {
    const std::string key = lower_case(entry.key());
    size += key.size() + text_of(entry.value()).size();
    if (key.empty()) {
      errors.required(path);
      continue;
    }
    const Problems problems = is_qualified_name(key);
    for (const std::string& problem : problems) errors.invalid(path, key, problem);
    if (problems.empty() && key.find('/') == std::string::npos) {
      errors.invalid(path, key, R"(must be a domain-prefixed key (such as "acme.io/foo"))");
    }
  }
  if (size > kMaxAnnotations) errors.too_long(path, "", static_cast<long long>(kMaxAnnotations));
}

bool is_kubernetes_signer(std::string_view name) noexcept {
  const std::string_view domain = signer_domain(name);
  return domain == "kubernetes.io" || domain.ends_with(".kubernetes.io");
}

std::string_view signer_domain(std::string_view name) noexcept { return name.substr(0, name.find('/')); }

Problems bundle_name_problems(std::string_view signer, std::string_view name, bool prefix) {
  if (signer.empty()) {
    if (name.find(':') != std::string_view::npos) return {R"(ClusterTrustBundle without signer name must not have ":" in its name)"};
    return check_name(NameRule::kDnsSubdomain, name, prefix);
  }
  std::string front = std::string(signer) + ":";
  std::replace(front.begin(), front.end(), '/', ':');
  if (!name.starts_with(front)) {
    return {"ClusterTrustBundle for signerName " + std::string(signer) + " must be named with prefix " + front};
  }
  return check_name(NameRule::kDnsSubdomain, name.substr(front.size()), prefix);
}

Problems bundle_name_problems(std::string_view name) {
  const auto colon = name.rfind(':');
  std::string signer(name.substr(0, colon == std::string_view::npos ? 0 : colon));
  std::replace(signer.begin(), signer.end(), ':', '/');
  return bundle_name_problems(signer, name, false);
}

}  // namespace backplane::workload
