// A plugin that publishes paths while the server runs: after PUT /pathfinder?path=P&say=S, the path P and all paths below it return S;
// DELETE /pathfinder?path=P removes P.
#include <backplane/plugin.hpp>
#include "backplane/core/request.hpp"
#include "backplane/points/http.hpp"
#include "backplane/points/paths.hpp"

namespace {

using namespace backplane;

Task<void> say(Exchange& exchange, int code, std::string text) {
  std::vector<SharedBytes> body;
  body.emplace_back(std::move(text));
  co_await exchange.respond(code, "text/plain; charset=utf-8", std::move(body));
}

class TextHandler final : public HttpHandler {
 public:
  explicit TextHandler(std::string text) : text_(std::move(text)) {}
  Task<void> handle(RequestContext&, Exchange& exchange) override {
    if (exchange.method() == "POST") {
      co_await count_body(exchange);
    } else {
      co_await say(exchange, 200, text_ + " " + std::string(exchange.target()));
    }
  }

 private:
  // Reads a body of any size piece by piece, and responds with its size.
  static Task<void> count_body(Exchange& exchange) {
    std::size_t size = 0;
    for (bool more = true; more;) {
      auto some = co_await exchange.read_body_some();
      if (!some.ok()) co_return;
      more = !some->empty();
      size += some->size();
    }
    co_await say(exchange, 200, std::to_string(size));
  }

  std::string text_;
};

class Control final : public HttpHandler {
 public:
  explicit Control(std::shared_ptr<DynamicPaths> paths) : paths_(std::move(paths)) {}

  Task<void> handle(RequestContext&, Exchange& exchange) override {
    const std::string_view target = exchange.target();
    auto query = parse_query(target.substr(target.find('?') + 1));
    Status status = query.ok() ? change(exchange, *query) : query.status();
    const int code = status.ok() ? 200 : status.code();
    std::string text = status.ok() ? "done" : status.message();  // g++ 12 ends the other branch's temporary inside a co_await expression
    co_await say(exchange, code, std::move(text));
  }

 private:
  Status change(const Exchange& exchange, const Query& query) {
    std::string path(query_get(query, "path"));
    if (exchange.method() == "DELETE") return paths_->withdraw(std::move(path));
    return paths_->publish({std::move(path), true, true, std::make_shared<TextHandler>(std::string(query_get(query, "say")))});
  }

  std::shared_ptr<DynamicPaths> paths_;
};

class Pathfinder final : public Plugin {
 public:
  Status provision(Host& host) override {
    return host.handle({"/pathfinder", false, false, std::make_shared<Control>(host.dynamic_paths())});
  }
};

}  // namespace

BACKPLANE_PLUGIN(Pathfinder)
