#include "webhook/token_webhook.hpp"

#include <array>

#include "backplane/core/json_access.hpp"
#include "backplane/host.hpp"
#include "backplane/types/durations.hpp"
#include "tokens/token_union.hpp"

namespace backplane::authentication {
namespace {

constexpr std::string_view kGroup = "authentication.k8s.io", kReview = "TokenReview";
constexpr std::array<std::string_view, 2> kVersions{"v1", "v1beta1"};
constexpr std::chrono::seconds kLimit{30};  // the time limit of one look-up and its retries
constexpr std::string_view kUnreadable = "couldn't get version/kind; json parse error: ";

std::vector<std::string> review_texts(const Object& object, std::string_view field) {
  std::vector<std::string> out;
  const Array* list = get_array(object, field);
  if (list == nullptr) return out;
  for (const Value& each : *list) {
    if (each.is_string()) out.emplace_back(each.get_string());
  }
  return out;
}

UserInfo user_in(const Object& status) {
  const Object& user = object_or_empty(status, "user");
  UserInfo out;
  out.name = get_string(user, "username");
  out.uid = get_string(user, "uid");
  out.groups = review_texts(user, "groups");
  const Object& extra = object_or_empty(user, "extra");
  for (const auto& member : extra) out.extra.emplace_back(std::string(member.key()), review_texts(extra, member.key()));
  return out;
}

Result<TokenCache::Options> cache_options(Host& host) {
  const std::string text = host.flag("authentication-token-webhook-cache-ttl").value_or("2m0s");
  const auto ttl = parse_duration(text);
  if (!ttl) return bad_request("--authentication-token-webhook-cache-ttl: invalid duration " + backplane::quoted(text));
  if (*ttl > std::chrono::nanoseconds(0) && *ttl < TokenUnion::cache_options().success_ttl) {
    host.logger().warn("the webhook cache ttl of " + text +
                       " is shorter than the overall cache ttl of 10s for successful token authentication attempts.");
  }
  TokenCache::Options options;
  options.success_ttl = *ttl;
  options.failure_ttl = *ttl;
  options.cache_errors = false;
  return options;
}

std::shared_ptr<const SchemaSet> set_with_review(const std::vector<std::shared_ptr<const SchemaSet>>& schemas) {
  for (const auto& each : schemas) {
    if (each->find(GroupVersionKind{std::string(kGroup), "v1", std::string(kReview)}) != nullptr) return each;
  }
  return nullptr;
}

}  // namespace

std::string token_review(const std::string& version, const std::string& token, const std::vector<std::string>& audiences) {
  Object spec;
  if (!token.empty()) spec["token"] = token;
  if (!audiences.empty()) spec["audiences"] = Array(audiences.begin(), audiences.end());
  std::string out = R"({"kind":"TokenReview","apiVersion":"authentication.k8s.io/)" + version + R"(","metadata":{},"spec":)";
  append_json(out, spec);
  return out.append(R"(,"status":{"user":{}}})").append("\n");
}

// The status has the same fields in both versions.
Result<Object> read_token_review(const Schema& schema, const std::string& version, std::string_view body) {
  if (body.empty()) return bad_request("0-length response with status code: 200 and content type: ");
  auto parsed = parse_json(body, {}, nullptr);
  if (!parsed.ok()) return bad_request(std::string(kUnreadable) + parsed.status().message());
  if (!parsed->is_object()) return bad_request(std::string(kUnreadable) + "the response is not an object");
  const Object& review = parsed->get_object();
  const std::string_view kind = get_string(review, "kind"), api_version = get_string(review, "apiVersion");
  const std::string wanted = std::string(kGroup) + "/" + version;
  if (kind == "Status" && get_string(review, "status") == "Failure") return bad_request(std::string(get_string(review, "message")));
  if ((!kind.empty() && kind != kReview) || (!api_version.empty() && api_version != wanted)) {
    return bad_request("expected a TokenReview of version " + wanted + ", got kind " + backplane::quoted(kind) + " of version " +
                       backplane::quoted(api_version));
  }
  Object plain{{"kind", kReview}, {"apiVersion", "authentication.k8s.io/v1"}, {"spec", Object()}};
  if (const Value* status = find(review, "status")) plain["status"] = *status;
  Value tree = std::move(plain);
  if (Status status = schema.normalize(tree, nullptr); !status.ok()) return status;
  return std::move(tree.get_object());
}

AuthenticationResult reviewed(const Object& review, const std::vector<std::string>& wanted, const std::vector<std::string>& implicit) {
  const Object& status = object_or_empty(review, "status");
  std::vector<std::string> audiences;
  if (!wanted.empty()) {
    const std::vector<std::string> reported = review_texts(status, "audiences");
    audiences = intersection(reported.empty() ? implicit : reported, wanted);
    if (audiences.empty()) return std::optional<AuthenticationResponse>();
  }
  if (!get_bool(status, "authenticated").value_or(false)) {
    const std::string_view error = get_string(status, "error");
    if (!error.empty()) return unauthorized(error);
    return std::optional<AuthenticationResponse>();
  }
  return std::optional<AuthenticationResponse>(AuthenticationResponse{user_in(status), std::move(audiences)});
}

// The data of a look-up, which may outlive the source.
struct TokenWebhook::Reviewer : std::enable_shared_from_this<TokenWebhook::Reviewer> {
  Reviewer(Host& the_host, std::shared_ptr<kit::ReviewWebhook> the_webhook, std::shared_ptr<const SchemaSet> the_schemas,
           std::string the_version, std::vector<std::string> the_audiences)
      : host(the_host),
        webhook(std::move(the_webhook)),
        schemas(std::move(the_schemas)),
        version(std::move(the_version)),
        api_audiences(std::move(the_audiences)) {}

  Task<TokenRecord> look_up(std::string token, std::vector<std::string> audiences) {
    const auto self = shared_from_this();
    const Schema* schema = schemas->find(GroupVersionKind{std::string(kGroup), "v1", std::string(kReview)});
    const auto decode = [schema, this](std::string_view body) { return read_token_review(*schema, version, body); };
    auto posting =
        webhook->post(token_review(version, token, audiences), decode, std::chrono::steady_clock::now() + kLimit, kit::ReviewObserver());
    auto review = co_await std::move(posting);
    if (review.ok()) co_return TokenRecord{reviewed(*review, audiences, api_audiences), {}};
    host.logger().error("Failed to make webhook authenticator request: " + review.status().message());
    co_return TokenRecord{std::move(review).status(), {}};
  }

  Host& host;
  const std::shared_ptr<kit::ReviewWebhook> webhook;
  const std::shared_ptr<const SchemaSet> schemas;
  const std::string version;
  const std::vector<std::string> api_audiences;
};

TokenWebhook::TokenWebhook(Host& host, std::shared_ptr<kit::ReviewWebhook> webhook, std::shared_ptr<const SchemaSet> schemas,
                           std::string version, std::vector<std::string> api_audiences, TokenCache::Options options)
    : reviewer_(std::make_shared<Reviewer>(host, std::move(webhook), std::move(schemas), std::move(version), std::move(api_audiences))),
      cache_(
          [reviewer = reviewer_](std::string token, std::vector<std::string> audiences) {
            return reviewer->look_up(std::move(token), std::move(audiences));
          },
          std::move(options)) {}

Result<std::shared_ptr<TokenWebhook>> TokenWebhook::make(Host& host, const std::vector<std::shared_ptr<const SchemaSet>>& schemas,
                                                         std::vector<std::string> api_audiences) {
  const std::string file = host.flag("authentication-token-webhook-config-file").value_or("");
  if (file.empty()) return std::shared_ptr<TokenWebhook>();
  std::string version = host.flag("authentication-token-webhook-version").value_or("v1beta1");
  if (std::find(kVersions.begin(), kVersions.end(), version) == kVersions.end()) {
    return bad_request("unsupported authentication webhook version " + backplane::quoted(version) +
                       R"(, supported versions are "v1", "v1beta1")");
  }
  auto options = cache_options(host);
  if (!options.ok()) return std::move(options).status();
  auto server = kit::read_kubeconfig(file);
  if (!server.ok()) return std::move(server).status();
  auto webhook = kit::ReviewWebhook::make(host, std::move(*server));
  if (!webhook.ok()) return std::move(webhook).status();
  return std::shared_ptr<TokenWebhook>(new TokenWebhook(host, std::move(*webhook), set_with_review(schemas), std::move(version),
                                                        std::move(api_audiences), std::move(*options)));
}

Task<AuthenticationResult> TokenWebhook::authenticate(std::string token, std::vector<std::string> audiences, TokenNotes&) {
  auto looking = cache_.get(std::move(token), std::move(audiences));
  const TokenRecordRef record = co_await std::move(looking);
  co_return record->result;
}

}  // namespace backplane::authentication
