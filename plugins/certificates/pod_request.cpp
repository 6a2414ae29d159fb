// PodCertificateRequests.
#include <algorithm>
#include <array>
#include <boost/regex.hpp>
#include <set>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/kit/strategy.hpp"
#include "backplane/types/base64.hpp"
#include "backplane/types/names.hpp"
#include "backplane/workload/signer_name.hpp"
#include "kinds.hpp"
#include "pem.hpp"
#include "x509.hpp"

namespace backplane::certificates {
namespace {

using namespace kit;

constexpr long long kMaxUid = 128;
constexpr std::size_t kMaxBytes = 10 * 1024;
constexpr std::size_t kMaxChain = 100 * 1024;
constexpr long long kHour = 3600, kDay = 24 * kHour;
constexpr long long kLongest = 91 * kDay;
constexpr std::int64_t kNear = 5 * 60, kRefreshMargin = 10 * 60;
constexpr std::int64_t kNanoseconds = 1'000'000'000;

constexpr const char* kKey = "spec.pkixPublicKey";
constexpr const char* kProof = "spec.proofOfPossession";
constexpr const char* kStub = "spec.stubPKCS10Request";
constexpr const char* kChain = "status.certificateChain";

// Adds an error that does not contain the value.
void refuse(const char* path, const std::string& why, FieldErrors& errors) {
  errors.add({FieldErrorType::kInvalid, path, "Invalid value: " + why});
}

std::string bytes_of(const Object& spec, std::string_view member) { return from_base64(get_string(spec, member)).value_or(""); }

// ---- new requests

void check_uid(const Object& spec, std::string_view member, FieldErrors& errors) {
  const std::string path = at("spec", member);
  const std::string_view uid = get_string(spec, member);
  if (uid.empty()) errors.invalid(path, uid, "must not be empty");
  if (uid.size() > static_cast<std::size_t>(kMaxUid)) errors.too_long(path, uid, kMaxUid);
}

void check_subdomain(const Object& spec, std::string_view member, FieldErrors& errors) {
  const std::string_view name = get_string(spec, member);
  for (const std::string& problem : is_dns1123_subdomain(name)) errors.invalid(at("spec", member), name, problem);
}

void check_annotations(const Object& spec, FieldErrors& errors) {
  workload::check_user_annotations("spec.unverifiedUserAnnotations", object_or_empty(spec, "unverifiedUserAnnotations"), errors);
}

// Adds an error for `path`, and returns false, if signers do not support the type of the key.
bool check_key(const PublicKey& key, const char* path, const char* curves, const std::string& unknown, FieldErrors& errors) {
  const std::string curve = kind_of(key) == KeyKind::kEllipticCurve ? curve_of(key) : std::string();
  switch (kind_of(key)) {
    case KeyKind::kEd25519:
      return true;
    case KeyKind::kEllipticCurve:
      if (curve == "P-256" || curve == "P-384" || curve == "P-521") return true;
      errors.invalid(path, "curve " + curve, curves);
      return false;
    case KeyKind::kRsa:
      if (bits_of(key) == 3072 || bits_of(key) == 4096) return true;
      errors.invalid(path, std::to_string(bits_of(key)) + "-bit modulus", "RSA keys must have modulus size 3072 or 4096");
      return false;
    case KeyKind::kOther:
      break;
  }
  errors.add({FieldErrorType::kInvalid, path,
              "Invalid value: " + unknown + "unknown public key type; supported types are Ed25519, ECDSA, and RSA"});
  return false;
}

void check_stub(const Object& spec, FieldErrors& errors) {
  const std::string der = bytes_of(spec, "stubPKCS10Request");
  if (der.size() > kMaxBytes) return errors.too_long(kStub, "", static_cast<long long>(kMaxBytes));
  const auto request = read_request(der);
  if (!request.ok()) return refuse(kStub, "must be a valid PKCS#10 CSR", errors);
  if (!check_key(key_of(*request), kStub, "elliptic public keys must use curve P256, P384, or P521", "", errors)) return;
  if (!check_signature(*request).ok()) refuse(kStub, "invalid signature", errors);
}

// Checks the proof that the requester has the private key: a signature of the pod's uid.
void check_proof(const Object& spec, FieldErrors& errors) {
  const std::string der = bytes_of(spec, "pkixPublicKey"), proof = bytes_of(spec, "proofOfPossession");
  const std::string shown = to_json(spec.at("pkixPublicKey"));
  if (der.size() > kMaxBytes) return errors.too_long(kKey, "", static_cast<long long>(kMaxBytes));
  if (proof.size() > kMaxBytes) return errors.too_long(kProof, "", static_cast<long long>(kMaxBytes));
  const PublicKey key = read_public_key(der);
  if (key == nullptr) return errors.invalid_raw(kKey, shown, "must be a valid PKIX-serialized public key");
  if (!check_key(key, kKey, "elliptic public keys must use curve P256 or P384", shown + ": ", errors)) return;
  if (!verifies(key, get_string(spec, "podUID"), proof)) refuse(kProof, "could not verify proof-of-possession signature", errors);
}

void check_spec(const Object& spec, FieldErrors& errors) {
  const std::string_view signer = get_string(spec, "signerName");
  workload::check_signer_name("spec.signerName", signer, errors);
  check_annotations(spec, errors);
  for (const std::string_view of : {"pod", "serviceAccount", "node"}) {
    check_subdomain(spec, std::string(of) + "Name", errors);
    check_uid(spec, std::string(of) + "UID", errors);
  }
  const auto seconds = get_int(spec, "maxExpirationSeconds");
  if (!seconds) return errors.required("spec.maxExpirationSeconds", "must be set");
  const long long longest = workload::is_kubernetes_signer(signer) ? kDay : kLongest;
  if (*seconds < kHour || *seconds > longest) {
    errors.invalid("spec.maxExpirationSeconds", static_cast<long long>(*seconds),
                   "must be in the range [" + std::to_string(kHour) + ", " + std::to_string(longest) + "]");
  }
  const auto there = [&](std::string_view member) { return !get_string(spec, member).empty(); };
  const bool stub = there("stubPKCS10Request"), key = there("pkixPublicKey"), proof = there("proofOfPossession");
  if (stub && !key && !proof) return check_stub(spec, errors);
  if (!stub && key && proof) return check_proof(spec, errors);
  refuse("spec", "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set", errors);
}

class PodRequestStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;

 protected:
  void check_new(const Object& request, FieldErrors& errors) const override { check_spec(object_or_empty(request, "spec"), errors); }
};

// ---- conditions

constexpr std::array<std::string_view, 3> kEnds = {"Issued", "Denied", "Failed"};

std::string condition_path(std::size_t i) { return at("status.conditions", i); }

// Checks that there is at most one final condition, and no other condition.
void check_ends(const Object& status, FieldErrors& errors) {
  int ends = 0;
  each(status, "conditions", [&](const Object& condition, std::size_t i) {
    // Like upstream's path, it has a dot before the index.
    const std::string path = "status.conditions.[" + std::to_string(i) + "]";
    const std::string_view type = get_string(condition, "type"), is = get_string(condition, "status");
    if (std::find(kEnds.begin(), kEnds.end(), type) == kEnds.end()) {
      return errors.not_supported(at(path, "type"), type, {"Issued", "Denied", "Failed"});
    }
    if (++ends > 1) {
      errors.invalid(at(path, "type"), type, R"(There may be at most one condition with type "Issued", "Denied", or "Failed")");
    }
    if (is != "True") errors.not_supported(at(path, "status"), is, {"True"});
  });
}

void check_reason(const std::string& path, std::string_view reason, FieldErrors& errors) {
  constexpr std::size_t kMaxReason = 1024;
  static const boost::regex pattern("[A-Za-z](?:[A-Za-z0-9_,:]*[A-Za-z0-9_])?");
  if (reason.empty()) return errors.required(path, "must be set");
  if (reason.size() > kMaxReason) return errors.too_long(path, reason, static_cast<long long>(kMaxReason));
  if (boost::regex_match(reason.begin(), reason.end(), pattern)) return;
  errors.invalid(path, reason,
                 "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or "
                 "'_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or "
                 "'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')");
}

// Checks a metav1.Condition.
void check_condition(const Object& condition, const std::string& path, FieldErrors& errors) {
  constexpr std::size_t kMaxMessage = 32 * 1024;
  const std::string_view type = get_string(condition, "type"), is = get_string(condition, "status");
  for (const std::string& problem : is_qualified_name(type)) errors.invalid(at(path, "type"), type, problem);
  if (is != "True" && is != "False" && is != "Unknown") errors.not_supported(at(path, "status"), is, {"False", "True", "Unknown"});
  if (const auto generation = get_int(condition, "observedGeneration").value_or(0); generation < 0) {
    errors.invalid(at(path, "observedGeneration"), static_cast<long long>(generation), "must be greater than or equal to zero");
  }
  if (get_string(condition, "lastTransitionTime").empty()) errors.required(at(path, "lastTransitionTime"), "must be set");
  check_reason(at(path, "reason"), get_string(condition, "reason"), errors);
  const std::string_view message = get_string(condition, "message");
  if (message.size() > kMaxMessage) errors.too_long(at(path, "message"), message, static_cast<long long>(kMaxMessage));
}

void check_conditions(const Object& status, FieldErrors& errors) {
  check_ends(status, errors);
  std::set<std::string_view> seen;
  each(status, "conditions", [&](const Object& condition, std::size_t i) {
    const std::string_view type = get_string(condition, "type");
    if (!seen.insert(type).second) errors.duplicate(at(condition_path(i), "type"), type);
    check_condition(condition, condition_path(i), errors);
  });
}

bool has_true_condition_of(const Object& request, std::string_view end) {
  const Object* condition = find_item(object_or_empty(request, "status"), "conditions", "type", end);
  return condition != nullptr && get_string(*condition, "status") == "True";
}

// ---- the certificate

// Returns the key of the request; null if it cannot be parsed.
PublicKey asked_key(const Object& spec) {
  if (get_string(spec, "stubPKCS10Request").empty()) return read_public_key(bytes_of(spec, "pkixPublicKey"));
  const auto request = read_request(bytes_of(spec, "stubPKCS10Request"));
  return request.ok() ? key_of(*request) : nullptr;
}

// Returns true for a dot-atom (RFC 5322): words of the characters below, separated by single dots.
bool is_dot_atom(std::string_view text) {
  constexpr std::string_view kOthers = "!#$%&'*+-/=?^_`{|}~.";
  const auto allowed = [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || static_cast<unsigned char>(c) >= 0x80 ||
           kOthers.find(c) != std::string_view::npos;
  };
  return !text.empty() && text.front() != '.' && text.back() != '.' && text.find("..") == std::string_view::npos &&
         std::all_of(text.begin(), text.end(), allowed);
}

// Whether the text is an RFC 5322 address without a display name.
bool is_mail_address(std::string_view text) {
  const auto sign = text.rfind('@');
  if (sign == std::string_view::npos) return false;
  const std::string_view local = text.substr(0, sign), domain = text.substr(sign + 1);
  const bool quoted_local = local.size() > 2 && local.starts_with('"') && local.ends_with('"');
  const bool literal = domain.size() > 2 && domain.starts_with('[') && domain.ends_with(']');
  return (quoted_local || is_dot_atom(local)) && (literal || is_dot_atom(domain));
}

void check_names(const Certificate& leaf, FieldErrors& errors) {
  for (const std::string& name : dns_names(leaf)) {
    if (name.empty()) errors.invalid(kChain, name, "leaf certificate should not contain empty DNSName");
    if (name.find("..") != std::string::npos) errors.invalid(kChain, name, "leaf certificate's DNSName should not contain '..'");
    if (name.starts_with('.') || name.ends_with('.')) {
      errors.invalid(kChain, name, "leaf certificate's DNSName should not start or end with '.'");
    }
  }
  for (const std::string& address : email_addresses(leaf)) {
    if (!is_mail_address(address)) errors.invalid(kChain, address, "leaf certificate should not contain invalid EmailAddress");
  }
}

// Compares the times of the status with those of the certificate.
class TimesCheck {
 public:
  TimesCheck(const Object& request, const Certificate& leaf, std::int64_t now, FieldErrors& errors)
      : status_(object_or_empty(request, "status")),
        longest_(get_int_path(request, "spec.maxExpirationSeconds").value_or(0)),
        leaf_(leaf),
        now_(now),
        errors_(errors) {}

  // Returns false if there are errors, of these or of earlier checks.
  bool run() {
    require("notBefore", "must be present and consistent with the issued certificate");
    require("notAfter", "must be present and consistent with the issued certificate");
    require("beginRefreshAt", "must be present and in the range [notbefore+10min, notafter-10min]");
    if (!errors_.empty()) return false;
    const std::int64_t begin = time("notBefore"), end = time("notAfter"), refresh = time("beginRefreshAt");
    const std::int64_t lifetime = not_after(leaf_) - not_before(leaf_);
    if (begin != not_before(leaf_)) return wrong("notBefore", "must be set to the NotBefore time encoded in the leaf certificate");
    if (begin <= now_ - kNear || begin >= now_ + kNear) {
      return wrong("notBefore", "must be set to within 5 minutes of kube-apiserver's current time");
    }
    if (end != not_after(leaf_)) return wrong("notAfter", "must be set to the NotAfter time encoded in the leaf certificate");
    if (lifetime < kHour) return wrong_lifetime(lifetime, "leaf certificate lifetime must be >= 1 hour");
    if (lifetime > longest_) {
      return wrong_lifetime(lifetime, "leaf certificate lifetime must be <= spec.maxExpirationSeconds (" + std::to_string(longest_) + ")");
    }
    if (refresh < begin + kRefreshMargin) return wrong("beginRefreshAt", "must be at least 10 minutes after status.notBefore");
    if (refresh > end - kRefreshMargin) return wrong("beginRefreshAt", "must be at least 10 minutes before status.notAfter");
    return true;
  }

 private:
  void require(const char* member, const char* why) {
    if (get_string(status_, member).empty()) errors_.required(at("status", member), why);
  }
  std::int64_t time(const char* member) const { return parse_rfc3339(get_string(status_, member)).value_or(0); }
  bool wrong(const char* member, const char* why) {
    errors_.invalid(at("status", member), get_string(status_, member), why);
    return false;
  }
  bool wrong_lifetime(std::int64_t seconds, const std::string& why) {
    errors_.invalid(kChain, static_cast<long long>(seconds * kNanoseconds), why);
    return false;
  }

  const Object& status_;
  const std::int64_t longest_;
  const Certificate& leaf_;
  const std::int64_t now_;
  FieldErrors& errors_;
};

void check_rest_of_chain(std::string_view chain, std::string_view shown, FieldErrors& errors) {
  while (const auto block = next_pem_block(chain)) {
    if (block->type != "CERTIFICATE") {
      return errors.invalid(kChain, shown, "issued certificate chain must consist entirely of CERTFICATE PEM blocks");
    }
    if (!read_certificate(block->bytes).ok()) {
      return errors.invalid(kChain, shown, "intermediate certificate does not parse as valid X.509");
    }
  }
}

void check_issued(const Object& request, const Object& old, std::int64_t now, FieldErrors& errors) {
  const std::string_view shown = get_string_path(request, kChain);
  std::string_view chain = shown;
  const auto wrong = [&](const char* why) { errors.invalid(kChain, shown, why); };
  if (chain.size() > kMaxChain) return errors.too_long(kChain, shown, static_cast<long long>(kMaxChain));
  const auto block = next_pem_block(chain);
  if (!block) return wrong("issued certificate chain must contain at least one certificate");
  if (block->type != "CERTIFICATE") return wrong("issued certificate chain must consist entirely of CERTIFICATE PEM blocks");
  const auto leaf = read_certificate(block->bytes);
  if (!leaf.ok()) return wrong("leaf certificate does not parse as valid X.509");
  check_names(*leaf, errors);
  const Object& spec = object_or_empty(old, "spec");
  const PublicKey asked = asked_key(spec);
  if (asked == nullptr) {
    const bool stub = !get_string(spec, "stubPKCS10Request").empty();
    return refuse(stub ? kStub : kKey, stub ? "must be a valid PKCS#10 CSR" : "must be a valid PKIX-serialized public key", errors);
  }
  if (!same_key(asked, key_of(*leaf))) return wrong("leaf certificate was not issued to the requested public key");
  if (!TimesCheck(request, *leaf, now, errors).run()) return;
  check_rest_of_chain(chain, shown, errors);
}

bool has_more_than_conditions(const Object& status) {
  return std::any_of(status.begin(), status.end(), [](const auto& member) {
    return member.key() != "conditions" && !member.value().is_null() && !text_of(member.value()).empty();
  });
}

class PodRequestStatusStrategy final : public StatusStrategy {
 public:
  explicit PodRequestStatusStrategy(std::shared_ptr<const Strategy> parent)
      : StatusStrategy(std::move(parent), {.kept_metadata = {"labels", "annotations", "finalizers", "ownerReferences", "deletionTimestamp"},
                                           .resets = {"spec"}}) {}

 protected:
  void check_status(const Object& request, const Object& old, FieldErrors& errors) const override {
    check_pod_request_status(request, old, parse_rfc3339(now_rfc3339()).value_or(0), errors);
  }
};

// ---- authorization

class PodRequestSigning final : public AdmissionPlugin {
 public:
  explicit PodRequestSigning(Authorizer& authorizer) : authorizer_(authorizer) {}
  std::string_view name() const noexcept override { return "PodCertificateRequestSigning"; }
  bool handles(AdmissionOperation operation) const noexcept override { return operation == AdmissionOperation::kUpdate; }

  Task<Status> validate(const AdmissionAttributes& attributes) const override {
    const bool asked = attributes.kind.group == "certificates.k8s.io" && attributes.kind.kind == "PodCertificateRequest" &&
                       attributes.subresource == "status" && attributes.object != nullptr && attributes.old_object != nullptr;
    if (!asked || same_member(*attributes.object, *attributes.old_object, "status")) co_return Status();
    const std::string signer(get_string_path(*attributes.old_object, "spec.signerName"));
    const std::array<std::string, 2> names{signer, std::string(workload::signer_domain(signer)) + "/*"};
    for (std::size_t i = 0; i < names.size(); ++i) {
      const AuthorizationAttributes wanted = sign_attributes(attributes.user, names[i]);
      AuthorizerResult result = co_await authorizer_.authorize(wanted);
      if (result.decision == Decision::kAllow && result.error.ok()) co_return Status();
    }
    FieldErrors errors;
    errors.forbidden("spec.signerName",
                     "User " + quoted(attributes.user->name) + " is not permitted to \"sign\" for signer " + quoted(signer));
    co_return errors.to_status(attributes.kind.group, attributes.kind.kind, meta_name(*attributes.object));
  }

 private:
  static AuthorizationAttributes sign_attributes(const UserInfo& user, const std::string& name) {
    AuthorizationAttributes out;
    out.user = user;
    out.verb = "sign";
    out.resource_request = true;
    out.api_group = "certificates.k8s.io";
    out.api_version = "*";
    out.resource = "signers";
    out.name = name;
    return out;
  }

  Authorizer& authorizer_;
};

}  // namespace

void check_pod_request_status(const Object& request, const Object& old, std::int64_t now_unix, FieldErrors& errors) {
  const Object& status = object_or_empty(request, "status");
  const Object& before = object_or_empty(old, "status");
  if (errors.empty()) check_conditions(status, errors);
  if (!errors.empty()) return;
  if (std::any_of(kEnds.begin(), kEnds.end(), [&](std::string_view end) { return has_true_condition_of(old, end); })) {
    if (status != before) refuse("status", "immutable after PodCertificateRequest is issued, denied, or failed", errors);
  } else if (has_true_condition_of(request, "Denied") || has_true_condition_of(request, "Failed")) {
    if (has_more_than_conditions(status)) {
      refuse("status", "non-condition status fields must be empty when denying or failing the PodCertificateRequest", errors);
    }
  } else if (has_true_condition_of(request, "Issued")) {
    check_issued(request, old, now_unix, errors);
  } else if (status != before) {
    refuse("status", R"(status is immutable unless transitioning to "Issued", "Denied", or "Failed")", errors);
  }
}

KindCode pod_request_code() { return {.make = made<PodRequestStrategy>(), .make_status = made_status<PodRequestStatusStrategy>}; }

void print_pod_request_state(const Object& request, std::int64_t, Array& cells) {
  std::string_view state = "Pending";
  each(object_or_empty(request, "status"), "conditions", [&](const Object& condition, std::size_t) {
    const auto* const end = std::find(kEnds.begin(), kEnds.end(), get_string(condition, "type"));
    if (end != kEnds.end()) state = *end;
  });
  cells.emplace_back(state);
}

std::shared_ptr<AdmissionPlugin> make_pod_request_signing(Authorizer& authorizer) {
  return std::make_shared<PodRequestSigning>(authorizer);
}

}  // namespace backplane::certificates
