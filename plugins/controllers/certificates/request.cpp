#include "certificates/request.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "backplane/core/json_access.hpp"
#include "backplane/types/base64.hpp"

namespace backplane::controllers {
namespace {

constexpr std::string_view kNodes = "system:nodes";
constexpr std::string_view kNodePrefix = "system:node:";

std::vector<std::string> subject_texts(const X509_NAME* name, int entry) {
  std::vector<std::string> out;
  for (int at = -1; (at = X509_NAME_get_index_by_NID(name, entry, at)) >= 0;) {
    const ASN1_STRING* text = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at));
    out.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)), static_cast<std::size_t>(ASN1_STRING_length(text)));
  }
  return out;
}

void count_names(ParsedRequest& out) {
  STACK_OF(X509_EXTENSION)* extensions = X509_REQ_get_extensions(out.request.get());
  auto* names = static_cast<GENERAL_NAMES*>(X509V3_get_d2i(extensions, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names); ++i) {
    switch (sk_GENERAL_NAME_value(names, i)->type) {
      case GEN_DNS:
        ++out.dns_names;
        break;
      case GEN_IPADD:
        ++out.addresses;
        break;
      case GEN_EMAIL:
        ++out.emails;
        break;
      case GEN_URI:
        ++out.uris;
        break;
      default:
        break;
    }
  }
  GENERAL_NAMES_free(names);
  sk_X509_EXTENSION_pop_free(extensions, X509_EXTENSION_free);
}

std::string usage_problem(const std::set<std::string>& usages, const char* purpose) {
  const std::set<std::string> plain{"digital signature", purpose};
  const std::set<std::string> with_encipherment{"digital signature", "key encipherment", purpose};
  if (usages == plain || usages == with_encipherment) return {};
  std::string list;
  for (const std::string& usage : with_encipherment) list += (list.empty() ? "" : " ") + usage;
  return "usages did not match [" + list + "]";
}

}  // namespace

Result<ParsedRequest> parse_request(const Object& csr) {
  const auto pem = from_base64(get_string_path(csr, "spec.request"));
  if (!pem) return bad_request("PEM block type must be CERTIFICATE REQUEST");
  const BioPtr bio = memory_bio(*pem);
  ParsedRequest out;
  out.request.reset(PEM_read_bio_X509_REQ(bio.get(), nullptr, no_openssl_password, nullptr));
  ERR_clear_error();
  if (out.request == nullptr) return bad_request("PEM block type must be CERTIFICATE REQUEST");
  const X509_NAME* subject = X509_REQ_get_subject_name(out.request.get());
  out.organizations = subject_texts(subject, NID_organizationName);
  const auto names = subject_texts(subject, NID_commonName);
  if (!names.empty()) out.common_name = names.back();
  count_names(out);
  ERR_clear_error();
  return out;
}

std::string kubelet_serving_problem(const ParsedRequest& request, const std::set<std::string>& usages) {
  if (request.organizations != std::vector<std::string>{std::string(kNodes)}) return "subject organization is not system:nodes";
  if (request.dns_names == 0 && request.addresses == 0) return "DNS or IP subjectAltName is required";
  if (request.emails > 0) return "Email subjectAltNames are not allowed";
  if (request.uris > 0) return "URI subjectAltNames are not allowed";
  std::string problem = usage_problem(usages, "server auth");
  if (!problem.empty()) return problem;
  return request.common_name.starts_with(kNodePrefix) ? "" : "subject common name does not begin with system:node:";
}

std::string kubelet_client_problem(const ParsedRequest& request, const std::set<std::string>& usages) {
  if (request.organizations != std::vector<std::string>{std::string(kNodes)}) return "subject organization is not system:nodes";
  if (request.dns_names > 0) return "DNS subjectAltNames are not allowed";
  if (request.emails > 0) return "Email subjectAltNames are not allowed";
  if (request.addresses > 0) return "IP subjectAltNames are not allowed";
  if (request.uris > 0) return "URI subjectAltNames are not allowed";
  if (!request.common_name.starts_with(kNodePrefix)) return "subject common name does not begin with system:node:";
  return usage_problem(usages, "client auth");
}

std::string client_problem(const Object& csr) {
  bool client = false;
  std::string problem;
  each_text(object_or_empty(csr, "spec"), "usages", [&](std::string_view usage, std::size_t) {
    client |= usage == "client auth";
    const bool known = usage == "client auth" || usage == "digital signature" || usage == "key encipherment";
    if (!known && problem.empty()) problem = "invalid usage for client certificate: " + std::string(usage);
  });
  if (!problem.empty()) return problem;
  return client ? "" : "missing required usage for client certificate: client auth";
}

std::set<std::string> usages_of(const Object& csr) {
  const auto all = texts_of(object_or_empty(csr, "spec"), "usages");
  return {all.begin(), all.end()};
}

bool has_true_condition(const Object& csr, std::string_view type) {
  bool out = false;
  each(object_or_empty(csr, "status"), "conditions", [&](const Object& condition, std::size_t) {
    out |= get_string(condition, "type") == type && get_string(condition, "status") == "True";
  });
  return out;
}

bool is_issued(const Object& csr) { return !get_string_path(csr, "status.certificate").empty(); }

}  // namespace backplane::controllers
