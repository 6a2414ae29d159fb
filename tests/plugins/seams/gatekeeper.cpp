// A plugin that calls the authorizer of the server: GET /gatekeeper?user=U&verb=V&resource=R&namespace=N&fieldSelector=F returns its
// decision, GET /gatekeeper/rules the rules of a user. The plugin also authenticates the user "jane" by the token "jane-token", and
// authorizes her to read config maps in the namespace "team" and to list the pods of the node n1.
#include <backplane/core/query.hpp>
#include <backplane/core/request.hpp>
#include <backplane/plugin.hpp>
#include <backplane/points/audit.hpp>
#include <backplane/points/authorization.hpp>
#include <backplane/points/hooks.hpp>
#include <backplane/points/http.hpp>
#include <backplane/points/paths.hpp>
#include <backplane/points/storage_transformer.hpp>
#include "backplane/points/authentication.hpp"

namespace {

using namespace backplane;

bool names_node(const FieldSelector& fields, std::string_view node) {
  for (const auto& requirement : fields.requirements()) {
    if (requirement.field == "spec.nodeName" && requirement.equals && requirement.value == node) return true;
  }
  return false;
}

class Rules final : public Authorizer, public RuleResolver {
 public:
  RuleResolver* rule_resolver() noexcept override { return this; }
  std::string_view name() const noexcept override { return "janes-rules"; }
  Task<AuthorizerResult> authorize(const AuthorizationAttributes& wanted) override { co_return decide(wanted); }
  Task<RuleList> rules_for(UserInfo user, std::string ns) override {
    RuleList rules;
    if (user.name == "jane" && ns == "team") rules.resource_rules.push_back({{"get", "list"}, {""}, {"configmaps"}, {}});
    co_return rules;
  }

 private:
  static AuthorizerResult decide(const AuthorizationAttributes& wanted) {
    if (wanted.user->name != "jane") return {};
    if (wanted.resource == "configmaps" && wanted.ns == "team") return {Decision::kAllow, "it is her team", {}};
    if (wanted.resource != "pods" || wanted.verb != "list") return {Decision::kNoOpinion, "not a rule of jane's", {}};
    // A selector that cannot be parsed must not be treated as absent.
    if (!wanted.fields_error.ok()) return {Decision::kNoOpinion, "", wanted.fields_error};
    if (names_node(wanted.fields, "n1")) return {Decision::kAllow, "her node", {}};
    return {Decision::kNoOpinion, "jane lists the pods of n1 only", {}};
  }
};

class Tokens final : public TokenAuthenticator {
 public:
  std::string_view name() const noexcept override { return "janes-token"; }
  Task<AuthenticationResult> authenticate_token(std::string token, std::vector<std::string>) override {
    std::optional<AuthenticationResponse> known;
    if (token == "jane-token") {
      known.emplace();
      known->user.name = "jane";
    }
    co_return known;
  }
};

std::string_view word(Decision decision) {
  return decision == Decision::kAllow ? "allow" : decision == Decision::kDeny ? "deny" : "no opinion";
}

class AccessHandler final : public HttpHandler {
 public:
  explicit AccessHandler(Host& host) : host_(host) {}

  Task<void> handle(RequestContext& context, Exchange& exchange) override {
    const std::string_view target = exchange.target();
    const auto question = target.find('?');
    auto query = parse_query(question == std::string_view::npos ? std::string_view() : target.substr(question + 1));
    std::string answer;
    if (!query.ok()) {
      answer = query.status().message();
    } else if (context.info.path == "/gatekeeper/rules") {
      answer = co_await rules(std::move(*query));
    } else if (context.info.path == "/gatekeeper/token") {
      answer = co_await who(std::move(*query));
    } else {
      answer = co_await decision(std::move(*query));
    }
    std::vector<SharedBytes> body;
    body.emplace_back(std::move(answer));
    co_await exchange.respond(200, "text/plain; charset=utf-8", std::move(body));
  }

 private:
  Task<std::string> decision(Query query) {
    AuthorizationAttributes wanted;
    UserInfo user;
    user.name = query_get(query, "user");
    if (query_has(query, "group")) user.groups.emplace_back(query_get(query, "group"));
    wanted.user = std::move(user);
    wanted.verb = query_get(query, "verb");
    wanted.path = query_get(query, "path");
    wanted.resource = query_get(query, "resource");
    wanted.resource_request = !wanted.resource.empty();
    wanted.ns = query_get(query, "namespace");
    auto fields = FieldSelector::parse(query_get(query, "fieldSelector"));
    if (fields.ok())
      wanted.fields = std::move(*fields);
    else
      wanted.fields_error = std::move(fields.status());
    AuthorizerResult result = co_await host_.authorizer().authorize(wanted);
    co_return std::string(word(result.decision)) + "|" + result.reason + "|" + (result.error.ok() ? "" : result.error.message());
  }

  Task<std::string> rules(Query query) {
    UserInfo user;
    user.name = query_get(query, "user");
    if (query_has(query, "group")) user.groups.emplace_back(query_get(query, "group"));
    RuleList rules = co_await host_.rule_resolver().rules_for(std::move(user), std::string(query_get(query, "namespace")));
    std::string text = rules.incomplete ? "incomplete" : "complete";
    for (const auto& rule : rules.resource_rules) text += "|" + rule.verbs.front() + " " + rule.resources.front();
    for (const auto& rule : rules.non_resource_rules) text += "|" + rule.verbs.front() + " " + rule.paths.front();
    co_return text;
  }

  Task<std::string> who(Query query) {
    auto known = co_await host_.token_authenticator().authenticate_token(std::string(query_get(query, "token")), {});
    if (!known.ok()) co_return known.status().message();
    if (!known->has_value()) co_return "nobody";
    co_return (*known)->user.name + " in " + (*known)->user.groups.front();
  }

  Host& host_;
};

class Gatekeeper final : public Plugin {
 public:
  Status provision(Host& host) override {
    Status status = host.register_authorizer(std::make_shared<Rules>());
    if (status.ok()) status = host.register_authenticator(std::make_shared<Tokens>());
    if (status.ok()) status = host.handle({"/gatekeeper", true, true, std::make_shared<AccessHandler>(host)});
    return status;
  }
};

}  // namespace

BACKPLANE_PLUGIN(Gatekeeper)
