#include "accounts/token_request.hpp"

#include <algorithm>
#include <chrono>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/core/request.hpp"
#include "backplane/types/names.hpp"

namespace backplane::core {
namespace {

constexpr std::string_view kGroup = "authentication.k8s.io";
constexpr std::string_view kKind = "TokenRequest";
constexpr std::int64_t kShortestSeconds = 10 * 60;
constexpr std::int64_t kLongestSeconds = std::int64_t{1} << 32;
// The lifetime that kubelets request by default, and the extended lifetime.
constexpr std::int64_t kWarnAfterSeconds = 60 * 60 + 7;
constexpr std::int64_t kExtendedSeconds = 365 * 24 * 60 * 60;

// The objects that a token names.
struct Bound {
  ObjectRef pod, secret, node;
  std::string node_name;  // the name in the pod's spec if the node has been deleted
};

std::int64_t now_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

Object reference(const Object& object) { return Object{{"name", meta_name(object)}, {"uid", meta_text(object, "uid")}}; }

Object read(const ObjectRef& object) { return decode(*object, {}); }

class TokenRequests final : public RestStorage, public Scoper, public NamedCreater, public ValidatedCreater {
 public:
  TokenRequests(TokenStores stores, TokenOptions options, const Schema* schema)
      : stores_(std::move(stores)), options_(std::move(options)), schema_(schema) {}
  GroupVersionKind kind() const override { return {std::string(kGroup), "v1", std::string(kKind)}; }
  const Schema* schema() const override { return schema_; }
  bool namespaced() const override { return true; }

  Task<Result<ObjectRef>> create_named(RequestContext& context, std::string name, Object& object, WriteOptions) override {
    co_return co_await issue(context, std::move(name), object, nullptr);
  }
  Task<Result<ObjectRef>> create_validated(RequestContext& context, std::string name, Object& object, WriteOptions,
                                           CreateValidation& validation) override {
    co_return co_await issue(context, std::move(name), object, &validation);
  }

 private:
  // `validation`: null: no validation.
  Task<Result<ObjectRef>> issue(RequestContext& context, std::string name, Object& object, CreateValidation* validation);
  Status check_names(const RequestContext& context, const std::string& name, const Object& request) const;
  Status check_uid(RequestContext& context, const std::string& name, const Object& request, const Object& account) const;
  void fill(Object& request, const Object& account) const;
  Task<Result<Bound>> find_bound(RequestContext& context, std::string account, const Object& request);
  Task<Status> find_pod(RequestContext& context, std::string account, std::string name, Bound& bound);
  Object claims(const Object& account, const Object& request, const Bound& bound, std::int64_t now) const;

  const TokenStores stores_;
  const TokenOptions options_;
  const Schema* const schema_;
};

Status TokenRequests::check_names(const RequestContext& context, const std::string& name, const Object& request) const {
  FieldErrors errors;
  const std::string_view own = meta_name(request), ns = meta_namespace(request);
  if (!own.empty() && own != name) errors.invalid("metadata.name", own, "must match the service account name if specified");
  if (errors.empty() && !ns.empty() && ns != context.info.ns) {
    errors.invalid("metadata.namespace", ns, "must match the service account namespace if specified");
  }
  return errors.empty() ? Status() : errors.to_status(kGroup, kKind, name);
}

Status TokenRequests::check_uid(RequestContext& context, const std::string& name, const Object& request, const Object& account) const {
  const std::string uid(meta_text(request, "uid")), own(meta_text(account, "uid"));
  if (uid.empty() || uid == own) return {};
  const std::string text = "the UID in the token request (" + uid + ") does not match the UID of the service account (" + own + ")";
  if (options_.checks_uid) return conflict(kGroup, kKind, name, text);
  context.annotate("authentication.k8s.io/token-request-uid-mismatch", text);
  context.warn(text + " but TokenRequestServiceAccountUIDValidation is not enabled. In the future, this will return a conflict error");
  return {};
}

Status check_seconds(const Object& request) {
  FieldErrors errors;
  const auto seconds = get_int_path(request, "spec.expirationSeconds").value_or(0);
  const auto add_error = [&](std::string_view text) { errors.invalid("spec.expirationSeconds", static_cast<long long>(seconds), text); };
  if (seconds < kShortestSeconds) add_error("may not specify a duration less than 10 minutes");
  if (seconds > kLongestSeconds) add_error("may not specify a duration larger than 2^32 seconds");
  return errors.empty() ? Status() : errors.to_status(kGroup, kKind, "");
}

// Fills missing members: name, namespace and uid from the account, the audiences from the options. Removes the status.
void TokenRequests::fill(Object& request, const Object& account) const {
  Object& metadata = ensure_object(request, "metadata");
  for (const std::string_view member : {"name", "namespace", "uid"}) {
    if (meta_text(request, member).empty()) take_member(metadata, object_or_empty(account, "metadata"), member);
  }
  Object& spec = ensure_object(request, "spec");
  if (count_of(spec, "audiences") == 0) spec["audiences"] = Array(options_.audiences.begin(), options_.audiences.end());
  erase_member(request, "status");
}

Task<Status> TokenRequests::find_pod(RequestContext& context, std::string account, std::string name, Bound& bound) {
  auto pod = co_await stores_.pods->get(context, name, {});
  if (!pod.ok()) co_return std::move(pod).status();
  const Object tree = read(*pod);
  if (get_string_path(tree, "spec.serviceAccountName") != account) {
    co_return bad_request("cannot bind token for serviceaccount " + quoted(account) +
                          " to pod running with different serviceaccount name.");
  }
  bound.pod = *pod;
  bound.node_name = std::string(get_string_path(tree, "spec.nodeName"));
  if (bound.node_name.empty()) co_return Status();
  GetOptions cached;
  cached.resource_version = "0";
  auto node = co_await stores_.nodes->get(context, bound.node_name, cached);
  if (!node.ok()) node = co_await stores_.nodes->get(context, bound.node_name, {});
  if (node.ok()) bound.node = *node;
  const bool gone = !node.ok() && node.status().reason() == Reason::kNotFound;
  co_return node.ok() || gone ? Status() : internal_error(node.status().message());
}

Task<Result<Bound>> TokenRequests::find_bound(RequestContext& context, std::string account, const Object& request) {
  Bound bound;
  const Object* wanted = get_object(object_or_empty(request, "spec"), "boundObjectRef");
  if (wanted == nullptr) co_return bound;
  const std::string name(get_string(*wanted, "name")), kind(get_string(*wanted, "kind")), uid(get_string(*wanted, "uid"));
  const GroupVersion version = GroupVersion::parse(get_string(*wanted, "apiVersion"));
  const bool secret = kind == "Secret";
  if (!version.group.empty() || (kind != "Pod" && kind != "Node" && !secret)) {
    co_return bad_request("cannot bind token to object of type " + version.group + "/" + version.version + ", Kind=" + kind);
  }
  if (kind == "Pod") {
    Status found = co_await find_pod(context, account, name, bound);
    if (!found.ok()) co_return found;
  } else {
    const auto& store = secret ? stores_.secrets : stores_.nodes;
    auto found = co_await store->get(context, name, {});
    if (!found.ok()) co_return std::move(found).status();
    (secret ? bound.secret : bound.node) = *found;
  }
  const ObjectRef& object = bound.pod ? bound.pod : secret ? bound.secret : bound.node;
  if (!uid.empty() && meta_text(read(object), "uid") != uid) {
    co_return conflict("", kind, name,
                       "the UID in the bound object reference (" + uid +
                           ") does not match the UID in record. The object might have been deleted and then recreated");
  }
  co_return bound;
}

Object TokenRequests::claims(const Object& account, const Object& request, const Bound& bound, std::int64_t now) const {
  const Object& spec = object_or_empty(request, "spec");
  const auto audiences = texts_of(spec, "audiences");
  const bool ours = std::all_of(audiences.begin(), audiences.end(), [&](const std::string& audience) {
    return std::find(options_.audiences.begin(), options_.audiences.end(), audience) != options_.audiences.end();
  });
  const std::int64_t seconds = get_int(spec, "expirationSeconds").value_or(0);
  const bool extended = options_.extends && bound.pod && seconds == kWarnAfterSeconds && ours;
  Object about;
  about["namespace"] = meta_namespace(account);
  if (bound.node) {
    about["node"] = reference(read(bound.node));
  } else if (!bound.node_name.empty()) {
    about["node"] = Object{{"name", bound.node_name}};
  }
  if (bound.pod) about["pod"] = reference(read(bound.pod));
  if (bound.secret) about["secret"] = reference(read(bound.secret));
  about["serviceaccount"] = reference(account);
  if (extended) about["warnafter"] = now + seconds;
  Object out;
  out["aud"] = Array(audiences.begin(), audiences.end());
  const std::int64_t limit = options_.signer->longest_seconds();
  out["exp"] = now + (!extended ? seconds : limit > 0 ? std::min(limit, kExtendedSeconds) : kExtendedSeconds);
  out["iat"] = now;
  out["iss"] = options_.issuer;
  out["jti"] = new_uid();
  out["kubernetes.io"] = std::move(about);
  out["nbf"] = now;
  out["sub"] = "system:serviceaccount:" + std::string(meta_namespace(account)) + ":" + std::string(meta_name(account));
  return out;
}

Task<Result<ObjectRef>> TokenRequests::issue(RequestContext& context, std::string name, Object& object, CreateValidation* validation) {
  Status named = check_names(context, name, object);
  if (!named.ok()) co_return named;
  auto found = co_await stores_.accounts->get(context, name, {});
  if (!found.ok()) co_return std::move(found).status();
  const Object account = read(*found);
  Status same = check_uid(context, name, object, account);
  if (!same.ok()) co_return same;
  const std::int64_t now = now_seconds();
  fill(object, account);
  ensure_object(object, "metadata")["creationTimestamp"] = format_rfc3339(now);
  Status valid = check_seconds(object);
  if (valid.ok() && validation != nullptr) valid = co_await validation->validate(object);
  if (!valid.ok()) co_return valid;
  auto bound = co_await find_bound(context, name, object);
  if (!bound.ok()) co_return std::move(bound).status();
  Value& seconds = object.at("spec").get_object()["expirationSeconds"];
  const std::int64_t longest = options_.longest_seconds > 0 ? options_.longest_seconds : options_.signer->longest_seconds();
  if (longest > 0 && seconds.get_int64() > longest) {
    context.warn("requested expiration of " + std::to_string(seconds.get_int64()) + " seconds shortened to " + std::to_string(longest) +
                 " seconds");
    seconds = longest;
  }
  const Object payload = claims(account, object, *bound, now);
  auto token = co_await options_.signer->sign(payload);
  if (!token.ok()) co_return internal_error("failed to generate token: " + token.status().message());
  context.annotate("authentication.kubernetes.io/issued-credential-id", "JTI=" + std::string(get_string(payload, "jti")));
  Object status;
  status["token"] = *token;
  status["expirationTimestamp"] = format_rfc3339(now + seconds.get_int64());
  object["status"] = std::move(status);
  Value out(object);
  Status shaped = schema_->normalize(out, nullptr);
  if (!shaped.ok()) co_return shaped;
  co_return make_object(out.get_object());
}

}  // namespace

std::shared_ptr<RestStorage> make_token_requests(TokenStores stores, TokenOptions options, const Schema* schema) {
  return std::make_shared<TokenRequests>(std::move(stores), std::move(options), schema);
}

}  // namespace backplane::core
