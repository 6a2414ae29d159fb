#include "security/authorization.hpp"

#include <algorithm>
#include <array>

#include "security/users.hpp"

namespace backplane {
namespace {

constexpr std::array<std::string_view, 5> kPublicPaths{"/healthz", "/livez", "/readyz", "/version", "/version/"};

// `User "jane" cannot get resource "pods/log" in API group "" in the namespace "x"`.
std::string refusal(const RequestContext& context) {
  const RequestInfo& info = context.info;
  std::string text = "User " + quoted(context.user.name) + " cannot " + info.verb;
  if (!info.is_resource_request) return text + " path " + quoted(info.path);
  const std::string resource = info.subresource.empty() ? info.resource : info.resource + "/" + info.subresource;
  text += " resource " + quoted(resource) + " in API group " + quoted(info.api_group);
  return text + (info.ns.empty() ? " at the cluster scope" : " in the namespace " + quoted(info.ns));
}

}  // namespace

bool is_privileged(const UserInfo& user) noexcept { return user.in_group(kPrivilegedGroup); }

bool is_public_info(const RequestInfo& info) noexcept {
  return !info.is_resource_request && info.verb == "get" &&
         std::find(kPublicPaths.begin(), kPublicPaths.end(), info.path) != kPublicPaths.end();
}

std::optional<AuthorizerResult> Authorization::authorize_now(const RequestContext& context) const {
  if (is_privileged(context.user)) return AuthorizerResult{Decision::kAllow, ""};
  if (!config_.plugins.empty()) return std::nullopt;
  return last_word(context);
}

AuthorizerResult Authorization::last_word(const RequestContext& context) const {
  if (is_public_info(context.info)) return {Decision::kAllow, ""};
  return {config_.fallback == AuthorizationFallback::kAllow ? Decision::kAllow : Decision::kNoOpinion, ""};
}

Task<AuthorizerResult> Authorization::authorize(RequestContext& context) const {
  if (is_privileged(context.user)) co_return AuthorizerResult{Decision::kAllow, ""};
  std::string reasons;
  for (const auto& plugin : config_.plugins) {
    AuthorizerResult result = co_await plugin->authorize(context);
    if (result.decision != Decision::kNoOpinion) co_return result;
    if (!result.reason.empty()) reasons += (reasons.empty() ? "" : "\n") + result.reason;
  }
  AuthorizerResult result = last_word(context);
  if (result.decision != Decision::kAllow) result.reason = std::move(reasons);
  co_return result;
}

Status forbidden_request(const RequestContext& context, std::string_view reason) {
  std::string why = refusal(context);
  if (!reason.empty()) why.append(": ").append(reason);
  const RequestInfo& info = context.info;
  if (!info.is_resource_request) return forbidden("", "", "", why);
  return forbidden(info.api_group, info.resource, info.name, why);
}

}  // namespace backplane
