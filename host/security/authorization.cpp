#include "security/authorization.hpp"

#include <algorithm>
#include <array>
#include <boost/algorithm/string/case_conv.hpp>

#include "base/fenced.hpp"
#include "base/markup.hpp"
#include "security/log.hpp"
#include "security/users.hpp"

namespace backplane {
namespace {

constexpr std::array<std::string_view, 6> kModes{"AlwaysAllow", "AlwaysDeny", "ABAC", "Webhook", "RBAC", "Node"};
// The order of the modes if --authorization-mode is not set.
constexpr std::array<std::string_view, 4> kModesWithoutFlag{"Node", "RBAC", "ABAC", "Webhook"};
constexpr std::array<std::string_view, 5> kPublicPaths{"/healthz", "/livez", "/readyz", "/version", "/version/"};

AuthorizerPlace place_of(const std::shared_ptr<Authorizer>& authorizer) {
  const std::string_view name = authorizer->name();
  return {std::string(name), boost::algorithm::to_lower_copy(std::string(name)), authorizer};
}

// Returns null for types that only plugins provide.
std::shared_ptr<Authorizer> built_in(std::string_view type) {
  if (type == "AlwaysAllow") return make_always_allow();
  return type == "AlwaysDeny" ? make_always_deny() : nullptr;
}

void add_wildcard_rules(RuleList& rules) {
  rules.resource_rules.push_back({{"*"}, {"*"}, {"*"}, {}});
  rules.non_resource_rules.push_back({{"*"}, {"*"}});
}

class AlwaysAllow final : public Authorizer, public RuleResolver {
 public:
  std::string_view name() const noexcept override { return "AlwaysAllow"; }
  std::optional<AuthorizerResult> decide_now(const RequestView&) const override { return AuthorizerResult{Decision::kAllow, "", {}}; }
  RuleResolver* rule_resolver() noexcept override { return this; }
  Task<RuleList> rules_for(UserInfo, std::string) override {
    RuleList rules;
    add_wildcard_rules(rules);
    co_return rules;
  }
};

class AlwaysDeny final : public Authorizer, public RuleResolver {
 public:
  std::string_view name() const noexcept override { return "AlwaysDeny"; }
  std::optional<AuthorizerResult> decide_now(const RequestView&) const override {
    return AuthorizerResult{Decision::kNoOpinion, "Everything is forbidden.", {}};
  }
  RuleResolver* rule_resolver() noexcept override { return this; }
  Task<RuleList> rules_for(UserInfo, std::string) override { co_return RuleList(); }
};

class PublicInfo final : public Authorizer, public RuleResolver {
 public:
  std::string_view name() const noexcept override { return "public-info"; }
  std::optional<AuthorizerResult> decide_now(const RequestView& request) const override {
    const bool open = !request.resource_request && request.verb == "get" &&
                      std::find(kPublicPaths.begin(), kPublicPaths.end(), request.path) != kPublicPaths.end();
    return AuthorizerResult{open && is_bound(request.user) ? Decision::kAllow : Decision::kNoOpinion, "", {}};
  }
  RuleResolver* rule_resolver() noexcept override { return this; }
  Task<RuleList> rules_for(UserInfo user, std::string) override {
    RuleList rules;
    if (is_bound(user)) rules.non_resource_rules.push_back({{"get"}, {kPublicPaths.begin(), kPublicPaths.end()}});
    co_return rules;
  }

 private:
  // Returns true for members of the groups to which upstream binds system:public-info-viewer.
  static bool is_bound(const UserInfo& user) { return user.in_group(kAuthenticatedGroup) || user.in_group(kUnauthenticatedGroup); }
};

// Returns a text such as `User "jane" cannot get resource "pods/log" in API group "" in the namespace "x"`.
std::string refusal_text(const AuthorizationAttributes& wanted) {
  std::string text = "User " + quoted(wanted.user->name) + " cannot " + wanted.verb;
  if (!wanted.resource_request) return text + " path " + quoted(wanted.path);
  const std::string resource = wanted.subresource.empty() ? wanted.resource : wanted.resource + "/" + wanted.subresource;
  text += " resource " + quoted(resource) + " in API group " + quoted(wanted.api_group);
  return text + (wanted.ns.empty() ? " at the cluster scope" : " in the namespace " + quoted(wanted.ns));
}

// The text must not look like valid HTML (upstream: the sanitizer of responsewriters).
std::string refusal(const AuthorizationAttributes& wanted) { return escaped_markup(refusal_text(wanted)); }

AuthorizerResult threw(const Authorizer& authorizer, const Caught& error) {
  security_log().error("authorizer threw authorizer={} error={}{}", authorizer.name(), error.what, error.stack);
  Status status(Reason::kInternalError, "authorizer " + std::string(authorizer.name()) + " threw: " + error.what);
  return {Decision::kNoOpinion, "", std::move(status)};
}

Task<AuthorizerResult> ask(Authorizer& authorizer, const AuthorizationAttributes& attributes) {
  return fenced<AuthorizerResult>([&] { return authorizer.authorize(attributes); },
                                  [&](const Caught& error) { return threw(authorizer, error); });
}

std::optional<AuthorizerResult> ask_now(const Authorizer& authorizer, const RequestView& request) {
  return fenced_now([&] { return authorizer.decide_now(request); },
                    [&](const Caught& error) -> std::optional<AuthorizerResult> { return threw(authorizer, error); });
}

// Like utilerrors.NewAggregate: a single error is unchanged, several errors are in brackets, and equal errors appear once.
Status together(const std::vector<Status>& errors) {
  std::vector<std::string_view> texts;
  for (const Status& error : errors) {
    if (std::find(texts.begin(), texts.end(), error.message()) == texts.end()) texts.push_back(error.message());
  }
  if (texts.empty()) return {};
  if (texts.size() == 1) return errors.front();
  std::string text;
  for (const std::string_view each : texts) text.append(text.empty() ? "[" : ", ").append(each);
  return Status(Reason::kInternalError, text + "]");
}

// Stores the reason and the error of an authorizer that has no opinion.
void note_silence(AuthorizerResult&& result, PendingAuthorization& pending) {
  if (!result.reason.empty()) pending.reasons.append(pending.reasons.empty() ? "" : "\n").append(result.reason);
  if (!result.error.ok()) pending.errors.push_back(std::move(result.error));
}

template <class Item>
void append(std::vector<Item>& to, std::vector<Item>& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

std::shared_ptr<Authorizer> make_always_allow() { return std::make_shared<AlwaysAllow>(); }
std::shared_ptr<Authorizer> make_always_deny() { return std::make_shared<AlwaysDeny>(); }
std::shared_ptr<Authorizer> make_public_info() { return std::make_shared<PublicInfo>(); }

bool is_privileged(const UserInfo& user) noexcept { return user.in_group(kPrivilegedGroup); }

bool is_authorization_mode(std::string_view name) noexcept { return std::find(kModes.begin(), kModes.end(), name) != kModes.end(); }

std::vector<AuthorizerPlace> Authorization::places_of(const std::vector<std::shared_ptr<Authorizer>>& authorizers) {
  std::vector<AuthorizerPlace> places;
  for (const auto& each : authorizers) places.push_back(place_of(each));
  return places;
}

Authorization::Authorization(std::vector<AuthorizerPlace> places, const Authorization* before) : places_(std::move(places)) {
  for (const AuthorizerPlace& place : places_) {
    std::shared_ptr<Decisions> counts;
    for (std::size_t i = 0; before != nullptr && !counts && i < before->places_.size(); ++i) {
      const AuthorizerPlace& former = before->places_[i];
      if (former.type == place.type && former.name == place.name) counts = before->decisions_[i];
    }
    decisions_.push_back(counts ? std::move(counts) : std::make_shared<Decisions>());
  }
}

std::optional<AuthorizerResult> Authorization::walk(const RequestView& request, PendingAuthorization& pending) const {
  for (; pending.place < places_.size(); ++pending.place) {
    auto result = ask_now(*places_[pending.place].authorizer, request);
    if (!result) return std::nullopt;
    note(pending.place, result->decision);
    if (result->decision != Decision::kNoOpinion) return result;
    note_silence(std::move(*result), pending);
  }
  return AuthorizerResult{Decision::kNoOpinion, std::move(pending.reasons), together(pending.errors)};
}

std::optional<AuthorizerResult> Authorization::decide_now(const RequestView& request) const {
  if (is_privileged(request.user)) return AuthorizerResult{Decision::kAllow, "", {}};
  PendingAuthorization pending;
  return walk(request, pending);
}

std::optional<AuthorizerResult> Authorization::begin(const RequestView& request, std::shared_ptr<PendingAuthorization>& pending) const {
  if (is_privileged(request.user)) return AuthorizerResult{Decision::kAllow, "", {}};
  PendingAuthorization made;
  auto result = walk(request, made);
  if (!result) pending = std::make_shared<PendingAuthorization>(std::move(made));
  return result;
}

// kNoOpinion is not a decision, so it is not counted.
void Authorization::note(std::size_t index, Decision decision) const noexcept {
  if (decision == Decision::kNoOpinion) return;
  Decisions& decisions = *decisions_[index];
  (decision == Decision::kAllow ? decisions.allowed : decisions.denied).fetch_add(1, std::memory_order_relaxed);
}

Task<AuthorizerResult> Authorization::authorize(const AuthorizationAttributes& attributes) {
  std::shared_ptr<PendingAuthorization> pending;
  auto decided = begin(RequestView(attributes), pending);
  if (decided) co_return std::move(*decided);
  auto finishing = finish(attributes, std::move(pending));
  AuthorizerResult result = co_await std::move(finishing);
  co_return result;
}

Task<AuthorizerResult> Authorization::finish(const AuthorizationAttributes& attributes, std::shared_ptr<PendingAuthorization> pending) {
  const RequestView view(attributes);
  while (true) {
    const std::size_t place = pending->place++;
    auto asking = ask(*places_[place].authorizer, attributes);
    AuthorizerResult result = co_await std::move(asking);
    note(place, result.decision);
    if (result.decision != Decision::kNoOpinion) co_return result;
    note_silence(std::move(result), *pending);
    auto decided = walk(view, *pending);
    if (decided) co_return std::move(*decided);
  }
}

Task<RuleList> Authorization::rules_for(UserInfo user, std::string ns) {
  RuleList all;
  std::vector<Status> errors;
  // RBAC's default roles also give system:masters these rules.
  const bool rbac = std::any_of(places_.begin(), places_.end(), [](const AuthorizerPlace& place) { return place.type == "RBAC"; });
  if (is_privileged(user) && !rbac) add_wildcard_rules(all);
  for (const auto& place : places_) {
    const auto& each = place.authorizer;
    RuleResolver* const resolver = each->rule_resolver();
    all.incomplete = all.incomplete || resolver == nullptr;
    if (resolver == nullptr) continue;
    auto asking = fenced<RuleList>([&] { return resolver->rules_for(user, ns); },
                                   [&each](const Caught& error) {
                                     RuleList none;
                                     none.incomplete = true;
                                     none.error = threw(*each, error).error;
                                     return none;
                                   });
    RuleList rules = co_await std::move(asking);
    append(all.resource_rules, rules.resource_rules);
    append(all.non_resource_rules, rules.non_resource_rules);
    all.incomplete = all.incomplete || rules.incomplete;
    if (!rules.error.ok()) errors.push_back(std::move(rules.error));
  }
  all.error = together(errors);
  co_return all;
}

std::vector<AuthorizerPlace> places_of_modes(const std::vector<std::string>& modes) {
  std::vector<AuthorizerPlace> places;
  for (const auto& mode : modes) places.push_back({mode, mode == "Webhook" ? "default" : boost::algorithm::to_lower_copy(mode)});
  return places;
}

AuthorizationPlan plan_authorization(const std::vector<AuthorizerPlace>& places,
                                     const std::vector<std::shared_ptr<Authorizer>>& registered) {
  AuthorizationPlan plan;
  const auto find = [&](std::string_view type) -> std::shared_ptr<Authorizer> {
    for (const auto& each : registered) {
      if (each->name() == type) return each;
    }
    return built_in(type);
  };
  for (const auto& each : registered) {
    if (!is_authorization_mode(each->name())) plan.places.push_back(place_of(each));
  }
  for (AuthorizerPlace place : places) {
    if (!place.authorizer) place.authorizer = find(place.type);
    if (place.authorizer) {
      plan.places.push_back(std::move(place));
    } else {
      plan.not_offered.push_back(place.type);
    }
  }
  if (!places.empty()) return plan;
  for (const std::string_view mode : kModesWithoutFlag) {
    const auto found = std::find_if(registered.begin(), registered.end(), [&](const auto& each) { return each->name() == mode; });
    if (found != registered.end()) plan.places.push_back(place_of(*found));
  }
  // If RBAC is registered, its default roles allow access to the public information.
  const bool rbac = std::any_of(registered.begin(), registered.end(), [](const auto& each) { return each->name() == "RBAC"; });
  if (!rbac) plan.places.push_back(place_of(make_public_info()));
  return plan;
}

Status forbidden_request(const AuthorizationAttributes& attributes, std::string_view reason) {
  std::string why = refusal(attributes);
  if (!reason.empty()) why.append(": ").append(reason);
  if (!attributes.resource_request) return forbidden("", "", "", why);
  return forbidden(attributes.api_group, attributes.resource, attributes.name, why);
}

}  // namespace backplane
