#include "certificates/signer_check.hpp"

#include <array>

namespace backplane::admission::certificates {
namespace {

// A decision with an evaluation error does not grant the right.
bool grants(const AuthorizerResult& result) { return result.decision == Decision::kAllow && result.error.ok(); }

// The names on which the right may be granted: the signer, and all signers of its domain.
std::array<std::string, 2> names_for(const std::string& signer) { return {signer, signer.substr(0, signer.find('/')) + "/*"}; }

}  // namespace

AuthorizationAttributes SignerCheck::question(const UserRef& user, std::string name) const {
  AuthorizationAttributes out;
  out.user = user;
  out.verb = verb_;
  out.resource_request = true;
  out.api_group = "certificates.k8s.io";
  out.api_version = "*";
  out.resource = "signers";
  out.name = std::move(name);
  return out;
}

std::optional<Status> SignerCheck::validate_now(const AdmissionAttributes& attributes) const {
  const auto signer = signer_of(attributes);
  if (!signer) return Status();
  for (const std::string& name : names_for(*signer)) {
    const AuthorizationAttributes asked = question(attributes.user, name);
    const auto result = authorizer_.decide_now(RequestView(asked));
    if (!result) return std::nullopt;
    if (grants(*result)) return Status();
  }
  return admission_forbidden(attributes, refusal(*signer));
}

Task<Status> SignerCheck::validate(const AdmissionAttributes& attributes) const {
  const auto signer = signer_of(attributes);
  if (!signer) co_return Status();
  const std::array<std::string, 2> names = names_for(*signer);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const AuthorizationAttributes asked = question(attributes.user, names[i]);
    auto authorizing = authorizer_.authorize(asked);
    const AuthorizerResult result = co_await std::move(authorizing);
    if (grants(result)) co_return Status();
  }
  co_return admission_forbidden(attributes, refusal(*signer));
}

}  // namespace backplane::admission::certificates
