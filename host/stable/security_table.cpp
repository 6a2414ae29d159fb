// Authenticators and authorizers of the stable tier.
#include "backplane/core/json_access.hpp"
#include "backplane/points/authentication.hpp"
#include "backplane/points/authorization.hpp"
#include "stable/call_error.hpp"
#include "stable/context.hpp"
#include "stable/tables.hpp"
#include "stable/users.hpp"

namespace backplane::stable {
namespace {

// The user that a plugin has returned; nullopt: the plugin has returned none, because the token is not of its kind.
AuthenticationResult written_user(const std::string& bytes) {
  if (bytes.empty()) return std::optional<AuthenticationResponse>();
  const auto object = object_of(bytes);
  if (!object || get_string(*object, "username").empty()) {
    return Status(Reason::kInternalError, "the authenticator has written no user");
  }
  AuthenticationResponse response;
  response.user.name = get_string(*object, "username");
  response.user.uid = get_string(*object, "uid");
  response.user.groups = texts(find(*object, "groups"));
  for (const auto& member : object_or_empty(*object, "extra")) {
    response.user.extra.emplace_back(member.key(), texts(&member.value()));
  }
  response.audiences = texts(find(*object, "audiences"));
  return std::optional<AuthenticationResponse>(std::move(response));
}

class TableAuthenticator final : public TokenAuthenticator {
 public:
  TableAuthenticator(bp_context& context, const bp_authenticator& table) : context_(context), table_(table), name_(text(table.name)) {}
  std::string_view name() const noexcept override { return name_; }
  std::optional<AuthenticationResult> authenticate_token_now(std::string_view token, const std::vector<std::string>& audiences) override {
    if ((table_.flags & BP_BLOCKING) != 0) return std::nullopt;
    const CallScope scope(CallPlace::kRequest);
    return ask(token, audiences);
  }
  Task<AuthenticationResult> authenticate_token(std::string token, std::vector<std::string> audiences) override {
    AuthenticationResult result = std::optional<AuthenticationResponse>();
    auto asking = context_.threads->run([&] { result = ask(token, audiences); });
    co_await std::move(asking);
    co_return result;
  }

 private:
  AuthenticationResult ask(std::string_view token, const std::vector<std::string>& audiences) const {
    std::vector<bp_str> wanted;
    for (const std::string& audience : audiences) wanted.push_back(str(audience));
    bp_output user;
    CallError error;
    if (table_.authenticate(table_.self, str(token), wanted.data(), wanted.size(), &user, error.get()) != 0) {
      return status_of(*error.get(), Reason::kUnauthorized);
    }
    return written_user(user.bytes);
  }

  bp_context& context_;
  const bp_authenticator table_;
  const std::string name_;
};

class TableAuthorizer final : public Authorizer {
 public:
  TableAuthorizer(bp_context& context, const bp_authorizer& table) : context_(context), table_(table), name_(text(table.name)) {}
  std::string_view name() const noexcept override { return name_; }
  std::optional<AuthorizerResult> decide_now(const RequestView& request) const override {
    if ((table_.flags & BP_BLOCKING) != 0) return std::nullopt;
    const CallScope scope(CallPlace::kRequest);
    return ask(request);
  }
  Task<AuthorizerResult> authorize(const AuthorizationAttributes& attributes) override {
    std::optional<AuthorizerResult> result;
    const RequestView request(attributes);
    auto asking = context_.threads->run([&] { result = ask(request); });
    co_await std::move(asking);
    co_return std::move(*result);
  }

 private:
  // Always has a value. The type is that of decide_now(), so that the result need not be moved.
  std::optional<AuthorizerResult> ask(const RequestView& request) const {
    const SeenUser user(request.user);
    const bp_access access = {sizeof(bp_access),        user.table(),
                              str(request.verb),        request.resource_request ? 1 : 0,
                              str(request.path),        str(request.api_group),
                              str(request.api_version), str(request.ns),
                              str(request.resource),    str(request.subresource),
                              str(request.name)};
    bp_output reason;
    CallError error;
    const int decision = table_.decide(table_.self, &access, &reason, error.get());
    std::optional<AuthorizerResult> result(std::in_place);
    result->reason = std::move(reason.bytes);
    if (decision < 0) result->error = status_of(*error.get());
    if (decision == BP_ALLOW) result->decision = Decision::kAllow;
    if (decision == BP_DENY) result->decision = Decision::kDeny;
    return result;
  }

  bp_context& context_;
  const bp_authorizer table_;
  const std::string name_;
};

int32_t add_table_authenticator(bp_context* context, const bp_authenticator* given, bp_error* error) {
  return guarded(error, [&]() -> Status {
    const bp_authenticator table = copy_of(given);
    if (table.authenticate == nullptr) return bad_request("an authenticator needs authenticate()");
    return context->host->register_authenticator(std::make_shared<TableAuthenticator>(*context, table));
  });
}

int32_t add_table_authorizer(bp_context* context, const bp_authorizer* given, bp_error* error) {
  return guarded(error, [&]() -> Status {
    const bp_authorizer table = copy_of(given);
    if (table.decide == nullptr) return bad_request("an authorizer needs decide()");
    return context->host->register_authorizer(std::make_shared<TableAuthorizer>(*context, table));
  });
}

}  // namespace

const bp_security_table& security_table() {
  static const bp_security_table kTable = {sizeof(bp_security_table), add_table_authenticator, add_table_authorizer};
  return kTable;
}

}  // namespace backplane::stable
