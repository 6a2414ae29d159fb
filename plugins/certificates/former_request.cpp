#include "former_request.hpp"

#include <algorithm>
#include <set>

#include "backplane/core/json_access.hpp"
#include "backplane/types/base64.hpp"
#include "pem.hpp"
#include "x509.hpp"

namespace backplane::certificates {
namespace {

using Usages = std::set<std::string>;

// Returns true if these are the usages of a kubelet's request. A request with an RSA key may also have the usage "key encipherment".
bool are(Usages usages, const char* authentication) {
  usages.erase("key encipherment");
  return usages == Usages{"digital signature", authentication};
}

std::string_view signer_of(const RequestedIdentity& asked, const Usages& usages) {
  constexpr std::string_view kUnknown = "kubernetes.io/legacy-unknown";
  const auto& [organizations, common_name] = asked.subject;
  const bool of_node = organizations == std::vector<std::string>{"system:nodes"} && common_name.starts_with("system:node:");
  if (!of_node || asked.names.emails > 0 || asked.names.uris > 0) return kUnknown;
  if (asked.names.dns_names + asked.names.addresses == 0)
    return are(usages, "client auth") ? "kubernetes.io/kube-apiserver-client-kubelet" : kUnknown;
  return are(usages, "server auth") ? "kubernetes.io/kubelet-serving" : kUnknown;
}

}  // namespace

Status signing_request_from_v1beta1(Object& request) {
  Object& spec = ensure_object(request, "spec");
  if (count_of(spec, "usages") == 0) spec["usages"] = Array{"digital signature", "key encipherment"};
  if (!has(spec, "signerName")) {
    const std::string text = from_base64(get_string(spec, "request")).value_or("");
    std::string_view rest = text;
    const auto block = next_pem_block(rest);
    const bool is_request = block && block->type == "CERTIFICATE REQUEST";
    const std::vector<std::string> usages = texts_of(spec, "usages");
    const RequestedIdentity asked = is_request ? identity_of(read_request(block->bytes)) : RequestedIdentity();
    spec["signerName"] = signer_of(asked, {usages.begin(), usages.end()});
  }
  each_mutable(ensure_object(request, "status"), "conditions", [](Object& condition) { fill(condition, "status", "True"); });
  return {};
}

}  // namespace backplane::certificates
