// CertificateSigningRequests.
#include <array>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/kit/review.hpp"
#include "backplane/kit/strategy.hpp"
#include "backplane/types/base64.hpp"
#include "backplane/workload/signer_name.hpp"
#include "kinds.hpp"
#include "pem.hpp"
#include "x509.hpp"

namespace backplane::certificates {
namespace {

using namespace kit;

constexpr std::string_view kApproved = "Approved";
constexpr std::string_view kDenied = "Denied";
constexpr std::string_view kFailed = "Failed";
constexpr std::array<std::string_view, 2> kVerdicts = {kApproved, kDenied};
constexpr std::array<std::string_view, 3> kLasting = {kApproved, kDenied, kFailed};
constexpr const char* kConditions = "status.conditions";

// ---- the request itself

Status request_problem(std::string_view pem) {
  const auto block = next_pem_block(pem);
  if (!block || block->type != "CERTIFICATE REQUEST") return bad_request("PEM block type must be CERTIFICATE REQUEST");
  auto request = read_request(block->bytes);
  return request.ok() ? check_signature(*request) : std::move(request).status();
}

// The strategy of the main resource. The spec is immutable, so it is validated on create only.
class SigningRequestStrategy final : public Strategy {
 public:
  using Strategy::Strategy;
  std::optional<WrittenFields> written_fields() const override { return WrittenFields{.resets = {"spec", "status"}}; }

  // The server sets the requester's fields.
  void prepare_for_create(RequestContext& context, Object& object) const override {
    Object& spec = ensure_object(object, "spec");
    for (auto& member : user_info(context.user)) spec[member.key()] = std::move(member.value());
  }
  void prepare_for_update(RequestContext&, Object& object, const Object& old) const override { take_member(object, old, "spec"); }

  void validate(RequestContext&, const Object& object, FieldErrors& errors) const override {
    check_finalizer_names(object, errors);
    const Object& spec = object_or_empty(object, "spec");
    const Value* request = find(spec, "request");
    const Status problem = request_problem(from_base64(get_string(spec, "request")).value_or(""));
    if (!problem.ok()) errors.invalid_raw("spec.request", request != nullptr ? to_json(*request) : "null", problem.message());
    const std::string_view signer = get_string(spec, "signerName");
    if (signer == "kubernetes.io/legacy-unknown") {
      errors.invalid("spec.signerName", signer, "the legacy signerName is not allowed via this API version");
    } else {
      workload::check_signer_name("spec.signerName", signer, errors);
    }
  }
  void validate_update(RequestContext&, const Object& object, const Object&, FieldErrors& errors) const override {
    check_finalizer_names(object, errors);
  }
};

// ---- conditions

std::vector<std::size_t> places_of(const Object& request, std::string_view type) {
  std::vector<std::size_t> out;
  each(object_or_empty(request, "status"), "conditions", [&](const Object& condition, std::size_t i) {
    if (get_string(condition, "type") == type) out.push_back(i);
  });
  return out;
}

bool has_condition(const Object& request, std::string_view type) { return !places_of(request, type).empty(); }

// Returns the transition time of the old condition with the same type and status; `now` if there is none.
std::string transition_of(const Object& condition, const Object& old, const std::string& now) {
  std::string out;
  each(object_or_empty(old, "status"), "conditions", [&](const Object& before, std::size_t) {
    const bool same =
        get_string(before, "type") == get_string(condition, "type") && get_string(before, "status") == get_string(condition, "status");
    if (out.empty() && same) out = get_string(before, "lastTransitionTime");
  });
  return out.empty() ? now : out;
}

void fill_times(Object& request, const Object& old) {
  const std::string now = now_rfc3339();
  each_mutable(ensure_object(request, "status"), "conditions", [&](Object& condition) {
    fill(condition, "lastUpdateTime", now);
    fill(condition, "lastTransitionTime", transition_of(condition, old, now));
  });
}

// Keeps approvals and denials unchanged, unless their number differs, which validation refuses.
void keep_verdict(Object& request, const Object& old, std::string_view type) {
  const auto before = places_of(old, type), now = places_of(request, type);
  if (before.empty() || before.size() != now.size()) return;
  const Array& from = old.at("status").get_object().at("conditions").get_array();
  Array& to = request.at("status").get_object().at("conditions").get_array();
  for (std::size_t i = 0; i < now.size(); ++i) to[now[i]] = from[before[i]];
}

// Refuses several conditions without a type. The schema's rule against repeated types ignores them.
void check_empty_types(const Object& request, const Object& old, FieldErrors& errors) {
  if (places_of(old, "").size() > 1) return;
  const std::vector<std::size_t> empty = places_of(request, "");
  for (std::size_t i = 1; i < empty.size(); ++i) errors.duplicate("status.conditions[" + std::to_string(empty[i]) + "].type", "");
}

void check_conditions(const Object& request, const Object& old, bool verdicts, FieldErrors& errors) {
  check_empty_types(request, old, errors);
  const bool both_were = has_condition(old, kApproved) && has_condition(old, kDenied);
  bool approved = false, denied = false;
  each(object_or_empty(request, "status"), "conditions", [&](const Object& condition, std::size_t) {
    const std::string_view type = get_string(condition, "type");
    if (type != kApproved && type != kDenied) return;
    (type == kApproved ? approved : denied) = true;
    const bool other = type == kApproved ? denied : approved;
    if (other && !both_were) errors.invalid(kConditions, type, "Approved and Denied conditions are mutually exclusive");
  });
  for (const std::string_view type : kLasting) {
    if (places_of(request, type).size() >= places_of(old, type).size()) continue;
    errors.forbidden(kConditions, "updates may not remove a condition of type " + quoted(type));
  }
  for (const std::string_view type : kVerdicts) {
    if (verdicts || places_of(request, type).size() <= places_of(old, type).size()) continue;
    errors.forbidden(kConditions, "updates may not add a condition of type " + quoted(type));
  }
}

// ---- the certificate

Status certificate_problem(std::string_view pem) {
  int blocks = 0;
  while (const auto block = next_pem_block(pem)) {
    if (block->type != "CERTIFICATE") return bad_request("only CERTIFICATE PEM blocks are allowed, found " + quoted(block->type));
    if (block->headers) return bad_request("no PEM block headers are permitted");
    ++blocks;
    if (Status problem = check_certificates(block->bytes); !problem.ok()) return problem;
  }
  return blocks > 0 ? Status() : bad_request("must contain at least one CERTIFICATE PEM block");
}

void check_certificate(const Object& request, const Object& old, FieldErrors& errors) {
  const std::string_view now = get_string_path(request, "status.certificate"), before = get_string_path(old, "status.certificate");
  if (now == before) return;
  const auto bad = [](std::string_view text) { return text.empty() ? Status() : certificate_problem(from_base64(text).value_or("")); };
  // If the old value was invalid too, any new value is accepted.
  const Status problem = bad(before).ok() ? bad(now) : Status();
  if (!problem.ok()) errors.invalid("status.certificate", "<certificate data>", problem.message());
  if (!before.empty()) errors.forbidden("status.certificate", "updates may not modify existing certificate content");
}

class SigningStatusStrategy final : public StatusStrategy {
 public:
  explicit SigningStatusStrategy(std::shared_ptr<const Strategy> parent)
      : StatusStrategy(std::move(parent), {.resets = {"spec", "status.conditions"}}) {}
  void prepare_for_update(RequestContext& context, Object& object, const Object& old) const override {
    StatusStrategy::prepare_for_update(context, object, old);
    for (const std::string_view type : kVerdicts) keep_verdict(object, old, type);
    fill_times(object, old);
  }

 protected:
  void check_status(const Object& object, const Object& old, FieldErrors& errors) const override {
    check_conditions(object, old, false, errors);
    check_certificate(object, old, errors);
  }
};

class ApprovalStrategy final : public StatusStrategy {
 public:
  explicit ApprovalStrategy(std::shared_ptr<const Strategy> parent)
      : StatusStrategy(std::move(parent), {.resets = {"spec", "status.certificate"}, .has_tables = false}) {}
  void prepare_for_update(RequestContext& context, Object& object, const Object& old) const override {
    StatusStrategy::prepare_for_update(context, object, old);
    fill_times(object, old);
    take_member(ensure_object(object, "status"), object_or_empty(old, "status"), "certificate");
  }

 protected:
  void check_status(const Object& object, const Object& old, FieldErrors& errors) const override {
    check_conditions(object, old, true, errors);
  }
};

}  // namespace

KindCode signing_request_code() { return {.make = made<SigningRequestStrategy>(), .make_status = made_status<SigningStatusStrategy>}; }

std::shared_ptr<const Strategy> approval_strategy(std::shared_ptr<const Strategy> parent) {
  return std::make_shared<ApprovalStrategy>(std::move(parent));
}

void print_signing_state(const Object& request, std::int64_t, Array& cells) {
  std::string out = has_condition(request, kDenied) ? "Denied" : has_condition(request, kApproved) ? "Approved" : "Pending";
  if (has_condition(request, kFailed)) out += ",Failed";
  if (!get_string_path(request, "status.certificate").empty()) out += ",Issued";
  cells.emplace_back(std::move(out));
}

Value show_duration(const Value* seconds, std::int64_t) {
  if (seconds == nullptr || !seconds->is_int64()) return "<none>";
  return Value(human_age("1970-01-01T00:00:00Z", seconds->get_int64()));
}

}  // namespace backplane::certificates
