// Tokens of the TokenRequest API (kubernetes/pkg/serviceaccount/claims.go).
#include <chrono>
#include <optional>

#include "accounts/account_user.hpp"
#include "accounts/claims_validator.hpp"
#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"

namespace backplane::authentication {
namespace {

constexpr std::int64_t kLeewaySeconds = 60;
constexpr std::string_view kInvalidated = "service account token has been invalidated";

struct ObjectClaim {
  std::string name, uid;
};

// The member kubernetes.io of a token.
struct BoundClaims {
  std::string ns;
  ObjectClaim account;
  std::optional<ObjectClaim> pod, secret, node;
  std::int64_t warn_after = 0;  // unix seconds; 0: never
};

bool read_object_claim(const Object& from, std::string_view key, std::optional<ObjectClaim>& to) {
  if (!has(from, key)) return true;
  const Object* const object = get_object(from, key);
  if (object == nullptr) return false;
  to = ObjectClaim{std::string(get_string(*object, "name")), std::string(get_string(*object, "uid"))};
  return true;
}

Result<BoundClaims> read_bound_claims(const Object& payload) {
  BoundClaims out;
  std::optional<ObjectClaim> account;
  const Object& claims = object_or_empty(payload, "kubernetes.io");
  out.ns = get_string(claims, "namespace");
  const bool good = read_object_claim(claims, "serviceaccount", account) && read_object_claim(claims, "pod", out.pod) &&
                    read_object_claim(claims, "secret", out.secret) && read_object_claim(claims, "node", out.node);
  const auto warn_after = has(claims, "warnafter") ? kit::numeric_date(*find(claims, "warnafter")) : std::optional<std::int64_t>(0);
  if (!good || !warn_after) return unauthorized("the claim \"kubernetes.io\" has the wrong type");
  if (account) out.account = std::move(*account);
  out.warn_after = *warn_after;
  return out;
}

Status check_times(const kit::TokenClaims& claims, std::int64_t now) {
  if (claims.not_before && now + kLeewaySeconds < *claims.not_before) return unauthorized("service account token is not valid yet");
  if (claims.expires && now - kLeewaySeconds > *claims.expires) return unauthorized("service account token has expired");
  if (claims.issued_at && now + kLeewaySeconds < *claims.issued_at) return unauthorized("service account token is issued in the future");
  return {};
}

class BoundValidator final : public ClaimsValidator {
 public:
  BoundValidator(std::shared_ptr<ObjectReader> objects, AccountMetricsRef metrics, UnixClock now)
      : objects_(std::move(objects)), metrics_(std::move(metrics)), now_(std::move(now)) {}

  Task<Result<UserInfo>> validate(const AccountToken& token, TokenNotes& notes) override {
    const std::int64_t now = now_();
    Status times = check_times(token.claims, now);
    if (!times.ok()) co_return times;
    auto claims = read_bound_claims(token.payload);
    if (!claims.ok()) co_return std::move(claims).status();
    Status objects = co_await check_objects(*claims, now);
    if (!objects.ok()) co_return objects;
    note_age(token, *claims, now, notes);
    AccountInfo info{claims->ns, claims->account.name, claims->account.uid, {}, {}, {}, {}, token.claims.id};
    if (claims->pod) {
      info.pod_name = claims->pod->name;
      info.pod_uid = claims->pod->uid;
    }
    if (claims->node) {
      info.node_name = claims->node->name;
      info.node_uid = claims->node->uid;
    }
    co_return account_user(info);
  }

 private:
  static bool deleted(const Object& object, std::int64_t now) {
    const std::string_view text = meta_text(object, "deletionTimestamp");
    if (text.empty()) return false;
    const auto time = parse_rfc3339(text);
    return !time || *time < now - kLeewaySeconds;
  }

  Task<Status> check_objects(const BoundClaims& claims, std::int64_t now) {
    Status status = co_await check_account(claims, now);
    if (!status.ok()) co_return status;
    if (claims.secret) {
      status = co_await check_bound("secrets", "secret", claims.ns, *claims.secret, now);
      if (!status.ok()) co_return status;
    }
    if (claims.pod) {
      status = co_await check_bound("pods", "pod", claims.ns, *claims.pod, now);
      if (!status.ok()) co_return status;
    }
    // If the token is bound to a pod, its node is not verified; the node is only an extra value of the user.
    if (claims.node && !claims.pod) status = co_await check_bound("nodes", "node", "", *claims.node, now);
    co_return status;
  }

  Task<Status> check_account(const BoundClaims& claims, std::int64_t now) {
    auto account = co_await objects_->get("serviceaccounts", claims.ns, claims.account.name);
    if (!account.ok()) co_return std::move(account).status();
    const std::string uid(meta_text(*account, "uid"));
    if (uid != claims.account.uid) {
      co_return unauthorized("service account UID (" + uid + ") does not match claim (" + claims.account.uid + ")");
    }
    if (deleted(*account, now)) co_return unauthorized("service account " + claims.ns + "/" + claims.account.name + " has been deleted");
    co_return Status();
  }

  Task<Status> check_bound(std::string resource, std::string word, std::string ns, const ObjectClaim& claim, std::int64_t now) {
    auto object = co_await objects_->get(resource, ns, claim.name);
    if (!object.ok()) co_return unauthorized(kInvalidated);
    const std::string uid(meta_text(*object, "uid"));
    if (uid != claim.uid) {
      co_return unauthorized(word + " UID (" + uid + ") does not match service account " + word + " ref claim (" + claim.uid + ")");
    }
    if (deleted(*object, now)) co_return unauthorized(kInvalidated);
    co_return Status();
  }

  void note_age(const AccountToken& token, const BoundClaims& claims, std::int64_t now, TokenNotes& notes) const {
    if (claims.warn_after == 0) return;
    if (now <= claims.warn_after) return metrics_->valid->add();
    notes.annotations["authentication.k8s.io/stale-token"] =
        "subject: " + token.claims.subject + ", seconds after warning threshold: " + std::to_string(now - claims.warn_after);
    metrics_->stale->add();
  }

  const std::shared_ptr<ObjectReader> objects_;
  const AccountMetricsRef metrics_;
  const UnixClock now_;
};

}  // namespace

std::int64_t unix_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::shared_ptr<ClaimsValidator> make_bound_validator(std::shared_ptr<ObjectReader> objects, AccountMetricsRef metrics, UnixClock now) {
  return std::make_shared<BoundValidator>(std::move(objects), std::move(metrics), std::move(now));
}

}  // namespace backplane::authentication
