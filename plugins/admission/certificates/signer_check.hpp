// Base of the admission plugins that check whether a user has a verb (approve, sign, attest) on a signer.
//
// The user needs the verb on the resource `signers` of certificates.k8s.io, with the signer's name or with `domain/*`.
// Thread-safety: any thread.
// Lifetime:      `authorizer` outlives the plugin.
// Source:        kubernetes pkg/certauthorization.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "backplane/points/admission.hpp"
#include "backplane/points/authorization.hpp"

namespace backplane::admission::certificates {

class SignerCheck : public AdmissionPlugin {
 public:
  SignerCheck(Authorizer& authorizer, std::string_view verb) : authorizer_(authorizer), verb_(verb) {}
  bool mutates() const noexcept final { return false; }
  std::optional<Status> validate_now(const AdmissionAttributes& attributes) const final;
  Task<Status> validate(const AdmissionAttributes& attributes) const final;

 private:
  // The name of the signer on which the user needs the verb; nullopt if the write needs no right.
  virtual std::optional<std::string> signer_of(const AdmissionAttributes& attributes) const = 0;
  // The reason for the refusal of the write.
  virtual std::string refusal(std::string_view signer) const = 0;
  AuthorizationAttributes question(const UserRef& user, std::string name) const;

  Authorizer& authorizer_;
  const std::string_view verb_;
};

}  // namespace backplane::admission::certificates
