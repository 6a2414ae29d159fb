#include "app/plugin_handler.hpp"

#include "backplane/core/json.hpp"
#include "backplane/core/request.hpp"
#include "base/origin_executor.hpp"

namespace backplane {
namespace {

constexpr std::size_t kMostBytes = 64 * 1024;
constexpr std::string_view kAnonymous = "system:anonymous";

Task<void> respond_with(Exchange& exchange, Result<std::string> text) {
  std::vector<SharedBytes> body;
  int code = 200;
  if (text.ok()) {
    body.emplace_back(std::move(*text));
  } else {
    code = text.status().code();
    body.emplace_back(text.status().to_json());
  }
  co_await exchange.respond(code, "application/json", std::move(body));
}

class StatusesHandler final : public HttpHandler {
 public:
  explicit StatusesHandler(std::function<Array()> statuses) : statuses_(std::move(statuses)) {}
  Task<void> handle(RequestContext&, Exchange& exchange) override {
    Result<std::string> text = Status(Reason::kMethodNotAllowed, "only GET is allowed");
    if (exchange.method() == "GET" || exchange.method() == "HEAD") text = to_json(Value(Object{{"plugins", statuses_()}}));
    auto responding = respond_with(exchange, std::move(text));
    co_await std::move(responding);
  }

 private:
  const std::function<Array()> statuses_;
};

class ActionHandler final : public HttpHandler {
 public:
  ActionHandler(PluginAction action, const PluginPaths& paths) : action_(action), act_(paths.act), changes_(paths.changes) {}

  Task<void> handle(RequestContext& context, Exchange& exchange) override {
    auto working = answer(context, exchange);
    Result<std::string> text = co_await std::move(working);
    auto responding = respond_with(exchange, std::move(text));
    co_await std::move(responding);
  }

 private:
  Task<Result<std::string>> answer(RequestContext& context, Exchange& exchange) {
    // Code is loaded into the server: anonymous users may not do this, even with AlwaysAllow.
    if (context.user->name == kAnonymous) co_return Status(Reason::kForbidden, "plugins cannot be changed without authentication");
    if (exchange.method() != "POST") co_return Status(Reason::kMethodNotAllowed, "only POST is allowed");
    auto reading = exchange.read_body(kMostBytes);
    auto text = co_await std::move(reading);
    if (!text.ok()) co_return std::move(text.status());
    boost::system::error_code error;
    const Value value = boost::json::parse(*text, error);
    if (error || !value.is_object()) co_return bad_request("the body must be a JSON object");
    auto request = request_of(action_, value.get_object());
    if (!request.ok()) co_return std::move(request.status());
    const OriginExecutor origin;
    co_await resume_on(changes_);
    auto acted = act_(*request);
    co_await origin;
    if (!acted.ok()) co_return std::move(acted.status());
    co_return to_json(Value(acted_to_json(*acted)));
  }

  const PluginAction action_;
  const std::function<Result<PluginActed>(const PluginRequest&)> act_;
  Executor& changes_;
};

}  // namespace

std::vector<PathRoute> plugin_routes(PluginPaths paths) {
  std::vector<PathRoute> routes;
  const auto statuses = std::make_shared<StatusesHandler>(paths.statuses);
  for (const char* path : {"/plugins", "/debug/plugins"}) routes.push_back({path, false, false, statuses});
  for (const auto action : {PluginAction::kReload, PluginAction::kUpgrade, PluginAction::kRollback, PluginAction::kDisable,
                            PluginAction::kEnable, PluginAction::kForget}) {
    routes.push_back({"/plugins/" + std::string(action_name(action)), false, false, std::make_shared<ActionHandler>(action, paths)});
  }
  return routes;
}

}  // namespace backplane
