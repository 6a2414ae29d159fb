// A certificate signing request, parsed for the controllers.
//
// Thread-safety: values.
// Errors:        kBadRequest for a request that cannot be parsed.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/net/openssl_ptr.hpp"

namespace backplane::controllers {

using RequestPtr = std::unique_ptr<X509_REQ, OpenSslDeleter<X509_REQ_free>>;

struct ParsedRequest {
  RequestPtr request;
  std::string common_name;
  std::vector<std::string> organizations;
  int dns_names = 0, addresses = 0, emails = 0, uris = 0;
};
// Parses spec.request. Errors: those of upstream's ParseCSR.
Result<ParsedRequest> parse_request(const Object& csr);

// Each function returns the reason why a signer must refuse the request (kubernetes.io/kubelet-serving, kube-apiserver-client-kubelet and
// kube-apiserver-client); empty: none.
std::string kubelet_serving_problem(const ParsedRequest& request, const std::set<std::string>& usages);
std::string kubelet_client_problem(const ParsedRequest& request, const std::set<std::string>& usages);
std::string client_problem(const Object& csr);

std::set<std::string> usages_of(const Object& csr);
// Returns true if status.conditions contains that type with the status True.
bool has_true_condition(const Object& csr, std::string_view type);
bool is_issued(const Object& csr);

}  // namespace backplane::controllers
