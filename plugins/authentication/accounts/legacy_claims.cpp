// Tokens in secrets (kubernetes/pkg/serviceaccount/legacy.go).
#include <openssl/crypto.h>

#include "accounts/account_user.hpp"
#include "accounts/claims_validator.hpp"
#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/types/base64.hpp"

namespace backplane::authentication {
namespace {

constexpr std::string_view kInvalidSince = "kubernetes.io/legacy-token-invalid-since", kLastUsed = "kubernetes.io/legacy-token-last-used";
constexpr std::int64_t kDaySeconds = 24 * 60 * 60;
constexpr std::size_t kDateCharacters = 10;  // of an RFC 3339 time

struct LegacyClaims {
  std::string ns, secret, account, uid;
};

struct LegacyClaimRow {
  std::string_view claim;
  std::string LegacyClaims::*member;
  std::string_view missing;
};
constexpr LegacyClaimRow kLegacyClaims[] = {
    {"kubernetes.io/serviceaccount/namespace", &LegacyClaims::ns, "namespace claim is missing"},
    {"kubernetes.io/serviceaccount/secret.name", &LegacyClaims::secret, "secretName claim is missing"},
    {"kubernetes.io/serviceaccount/service-account.name", &LegacyClaims::account, "serviceAccountName claim is missing"},
    {"kubernetes.io/serviceaccount/service-account.uid", &LegacyClaims::uid, "serviceAccountUID claim is missing"}};

Result<LegacyClaims> read_legacy_claims(const AccountToken& token) {
  if (token.claims.subject.empty()) return unauthorized("sub claim is missing");
  LegacyClaims out;
  for (const LegacyClaimRow& row : kLegacyClaims) {
    out.*row.member = get_string(token.payload, row.claim);
    if ((out.*row.member).empty()) return unauthorized(row.missing);
  }
  const bool clean = out.ns.find(':') == std::string::npos && out.account.find(':') == std::string::npos;
  if (!clean || token.claims.subject != account_user_name(out.ns, out.account)) return unauthorized("sub claim is invalid");
  return out;
}

bool has_token(const Object& secret, std::string_view token) {
  const std::string stored = from_base64(get_string(object_or_empty(secret, "data"), "token")).value_or("");
  return stored.size() == token.size() && CRYPTO_memcmp(stored.data(), token.data(), token.size()) == 0;
}

std::string_view label_of(const Object& object, std::string_view key) {
  return get_string(object_or_empty(object_or_empty(object, "metadata"), "labels"), key);
}

class LegacyValidator final : public ClaimsValidator {
 public:
  LegacyValidator(bool look_up, std::shared_ptr<ObjectReader> objects, std::shared_ptr<LastUsedWriter> last_used, AccountMetricsRef metrics,
                  Logger& logger, UnixClock now)
      : look_up_(look_up),
        objects_(std::move(objects)),
        last_used_(std::move(last_used)),
        metrics_(std::move(metrics)),
        logger_(logger),
        now_(std::move(now)) {}

  Task<Result<UserInfo>> validate(const AccountToken& token, TokenNotes& notes) override {
    auto claims = read_legacy_claims(token);
    if (!claims.ok()) co_return std::move(claims).status();
    if (look_up_) {
      Status status = co_await check_objects(*claims, token, notes);
      if (!status.ok()) co_return status;
    }
    co_return account_user({claims->ns, claims->account, claims->uid, {}, {}, {}, {}, {}});
  }

 private:
  Task<Status> check_objects(const LegacyClaims& claims, const AccountToken& token, TokenNotes& notes) {
    auto secret = co_await objects_->get("secrets", claims.ns, claims.secret);
    if (!secret.ok() || !meta_text(*secret, "deletionTimestamp").empty()) co_return unauthorized("Token has been invalidated");
    if (!has_token(*secret, token.text)) co_return unauthorized("Token does not match server's copy");
    auto account = co_await objects_->get("serviceaccounts", claims.ns, claims.account);
    if (!account.ok()) co_return std::move(account).status();
    if (!meta_text(*account, "deletionTimestamp").empty()) {
      co_return unauthorized("ServiceAccount " + claims.ns + "/" + claims.account + " has been deleted");
    }
    const std::string uid(meta_text(*account, "uid"));
    if (uid != claims.uid) co_return unauthorized("ServiceAccount UID (" + uid + ") does not match claim (" + claims.uid + ")");
    Status used = note_use(claims, *secret, *account, notes);
    co_await write_last_used(claims, *secret);
    co_return used;
  }

  Status note_use(const LegacyClaims& claims, const Object& secret, const Object& account, TokenNotes& notes) const {
    if (!label_of(secret, kInvalidSince).empty()) {
      notes.annotations["authentication.k8s.io/legacy-token-invalidated"] = claims.secret + "/" + claims.ns;
      metrics_->invalidated_legacy->add();
      return unauthorized(
          "the token in secret " + claims.ns + "/" + claims.secret + " for service account " + claims.ns + "/" + claims.account +
          " has been marked invalid. Use tokens from the TokenRequest API or manually created secret-based tokens, or remove "
          "the '" +
          std::string(kInvalidSince) + "' label from the secret to temporarily allow use of this token");
    }
    if (find_item(account, "secrets", "name", claims.secret) != nullptr) {
      notes.warnings.emplace_back(
          "Use tokens from the TokenRequest API or manually created secret-based tokens instead of auto-generated secret-based tokens.");
      notes.annotations["authentication.k8s.io/legacy-token-autogenerated-secret"] = claims.secret;
      metrics_->legacy_auto->add();
    } else {
      notes.annotations["authentication.k8s.io/legacy-token-manual-secret"] = claims.secret;
      metrics_->legacy_manual->add();
    }
    return {};
  }

  // Writes the date once a day. Another server, whose clock is fast, may have written tomorrow's date.
  Task<void> write_last_used(const LegacyClaims& claims, const Object& secret) {
    const std::int64_t now = now_();
    const std::string today = format_rfc3339(now).substr(0, kDateCharacters);
    const std::string_view written = label_of(secret, kLastUsed);
    if (written == today || written == format_rfc3339(now + kDaySeconds).substr(0, kDateCharacters)) co_return;
    const Status status = co_await last_used_->write(claims.ns, claims.secret, std::string(meta_text(secret, "uid")), today);
    if (status.ok()) co_return;
    logger_.error("failed to label legacy service account token " + claims.ns + "/" + claims.secret +
                  " with last-used date: " + status.message());
  }

  const bool look_up_;
  const std::shared_ptr<ObjectReader> objects_;
  const std::shared_ptr<LastUsedWriter> last_used_;
  const AccountMetricsRef metrics_;
  Logger& logger_;
  const UnixClock now_;
};

}  // namespace

std::shared_ptr<ClaimsValidator> make_legacy_validator(bool look_up, std::shared_ptr<ObjectReader> objects,
                                                       std::shared_ptr<LastUsedWriter> last_used, AccountMetricsRef metrics, Logger& logger,
                                                       UnixClock now) {
  return std::make_shared<LegacyValidator>(look_up, std::move(objects), std::move(last_used), std::move(metrics), logger, std::move(now));
}

}  // namespace backplane::authentication
