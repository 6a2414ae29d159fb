#include "app/extension/rule_webhooks.hpp"

#include <algorithm>

#include "admission/rule_matches.hpp"
#include "app/extension/admission_review.hpp"
#include "backplane/points/http.hpp"

namespace backplane {
namespace {

// A review contains the new and the old object; kube-apiserver limits each of them to 3 MiB.
constexpr std::size_t kLongestReview = std::size_t{8} << 20;

class ReviewHandler final : public HttpHandler {
 public:
  ReviewHandler(std::shared_ptr<AdmissionChain> rule, bool mutating) : rule_(std::move(rule)), mutating_(mutating) {}

  Task<void> handle(RequestContext&, Exchange& exchange) override {
    auto answering = answer(exchange);
    Answer answered = co_await std::move(answering);
    std::vector<SharedBytes> body;
    body.emplace_back(std::move(answered.text));
    const std::string_view type = answered.code == 200 ? "application/json" : "text/plain; charset=utf-8";
    co_await exchange.respond(answered.code, type, std::move(body));
  }

 private:
  struct Answer {
    int code;
    std::string text;
  };
  static Answer failed(const Status& status) { return {status.code(), status.message() + "\n"}; }

  Task<Answer> answer(Exchange& exchange) {
    if (exchange.method() != "POST") co_return Answer{405, "reviews are sent with POST\n"};
    if (rule_->names().empty()) co_return failed(service_unavailable("the plugin of this rule does not run"));
    auto reading = exchange.read_body(kLongestReview);
    auto body = co_await std::move(reading);
    if (!body.ok()) co_return failed(body.status());
    auto reviewing = answer_review(*rule_, mutating_, std::move(*body));
    auto review = co_await std::move(reviewing);
    if (!review.ok()) co_return failed(review.status());
    co_return Answer{200, std::move(*review)};
  }

  const std::shared_ptr<AdmissionChain> rule_;
  const bool mutating_;
};

// `text`: "pods", "deployments.apps", "*".
WebhookRule::Match match_of(const std::string& text) {
  if (text == "*") return {"*", "*", "*"};
  const auto dot = text.find('.');
  return {dot == std::string::npos ? "" : text.substr(dot + 1), "*", text.substr(0, dot)};
}

std::vector<WebhookRule::Match> matches_of(const AdmissionPlugin& plugin, const std::vector<std::string>& resources) {
  std::vector<WebhookRule::Match> out;
  // A plugin of the native tier selects its resources in code; only plugins of the stable tier declare them as rules.
  if (const auto* role = dynamic_cast<const RuleMatches*>(&plugin)) {
    for (const RuleMatch& each : role->matches()) {
      out.push_back({each.group, each.version, each.subresource.empty() ? each.resource : each.resource + "/" + each.subresource});
    }
  }
  if (!out.empty()) return out;
  for (const std::string& each : resources) out.push_back(match_of(each));
  return out;
}

}  // namespace

Result<std::shared_ptr<RuleWebhooks>> RuleWebhooks::make(const AdmissionChain::Plugins& rules, const std::vector<std::string>& resources) {
  auto made = std::make_shared<RuleWebhooks>();
  for (const auto& plugin : rules) {
    WebhookRule rule;
    rule.name = plugin->name();
    rule.mutates = plugin->mutates();
    rule.validates = plugin->validates();
    for (const auto each :
         {AdmissionOperation::kCreate, AdmissionOperation::kUpdate, AdmissionOperation::kDelete, AdmissionOperation::kConnect}) {
      if (plugin->handles(each)) rule.operations.emplace_back(admission_operation_name(each));
    }
    rule.matches = matches_of(*plugin, resources);
    if (rule.matches.empty()) {
      return bad_request("--webhook-resources: admission rule " + rule.name +
                         " does not say which resources it is for; name them, as in --webhook-resources=configmaps,deployments.apps");
    }
    if (rule.operations.empty()) continue;
    auto chain = std::make_shared<AdmissionChain>();
    chain->publish({plugin});
    made->chains_.emplace(rule.name, std::move(chain));
    made->rules_.push_back(std::move(rule));
  }
  if (made->rules_.empty()) return bad_request("--admission-webhooks: the plugins of --plugin have no admission rules");
  return made;
}

void RuleWebhooks::publish(const AdmissionChain::Plugins& plugins) {
  for (const auto& [name, chain] : chains_) {
    // clang 14 does not capture structured bindings.
    const auto found = std::find_if(plugins.begin(), plugins.end(), [&rule = name](const auto& plugin) { return plugin->name() == rule; });
    chain->publish(found == plugins.end() ? AdmissionChain::Plugins() : AdmissionChain::Plugins{*found});
  }
}

std::vector<PathRoute> RuleWebhooks::routes() const {
  std::vector<PathRoute> routes;
  for (const WebhookRule& rule : rules_) {
    const auto& chain = chains_.at(rule.name);
    if (rule.mutates) routes.push_back({webhook_path(true, rule.name), false, true, std::make_shared<ReviewHandler>(chain, true)});
    if (rule.validates) routes.push_back({webhook_path(false, rule.name), false, true, std::make_shared<ReviewHandler>(chain, false)});
  }
  return routes;
}

}  // namespace backplane
