#include "app/debug_handlers.hpp"

#include <charconv>
#include <map>

#include "backplane/core/request.hpp"
#include "base/log.hpp"

namespace backplane {
namespace {

constexpr std::string_view kText = "text/plain; charset=utf-8";
constexpr std::size_t kMaxFlagBytes = 64;

Task<void> answer(Exchange& exchange, int code, std::string text) {
  exchange.set_response_header("X-Content-Type-Options", "nosniff");
  std::vector<SharedBytes> body;
  body.emplace_back(std::move(text));
  co_await exchange.respond(code, kText, std::move(body));
}

std::string flags_page() { return "/debug/flags/\n\nv  PUT a number: the log's verbosity\n"; }

class FlagsHandler final : public HttpHandler {
 public:
  Task<void> handle(RequestContext&, Exchange& exchange) override { co_await answer(exchange, 200, flags_page()); }
};

class VerbosityHandler final : public HttpHandler {
 public:
  Task<void> handle(RequestContext&, Exchange& exchange) override {
    if (exchange.method() != "PUT") {
      co_await answer(exchange, 406, std::string("unsupported http method\n"));
      co_return;
    }
    auto body = co_await exchange.read_body(kMaxFlagBytes);
    const std::string text = body.ok() ? *body : std::string();
    int level = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), level);
    if (error != std::errc() || end == text.data() || end != text.data() + text.size() || level < 0) {
      co_await answer(exchange, 400,
                      "unable to read the verbosity: want a number, got " + backplane::quoted(std::string_view(text)) + "\n");
      co_return;
    }
    set_verbosity(level);
    co_await answer(exchange, 200, "successfully set klog.logging.verbosity to " + std::to_string(level));
  }
};

class DebugOnlyHandler final : public HttpHandler {
 public:
  DebugOnlyHandler(HttpHandler& chain, const Activities& activities) : chain_(chain) {
    for (const auto& route : debug_routes(activities, true)) own_.emplace(route.path, route.handler);
  }
  Task<void> handle(RequestContext& context, Exchange& exchange) override {
    const std::string_view target = exchange.target();
    if (const auto own = own_.find(target.substr(0, target.find('?'))); own != own_.end()) {
      co_await own->second->handle(context, exchange);
      co_return;
    }
    // Refuses paths that the router would normalize to a path outside /debug/.  /debug/store is refused too, because this socket does not
    // authenticate its clients.
    if (target.starts_with("/debug/") && !target.starts_with("/debug/store") && target.find("..") == std::string_view::npos &&
        target.find('%') == std::string_view::npos) {
      co_await chain_.handle(context, exchange);
    } else {
      co_await answer(exchange, 404, "404 page not found\n");
    }
  }

 private:
  HttpHandler& chain_;
  std::map<std::string, std::shared_ptr<HttpHandler>, std::less<>> own_;  // routes of debug_routes(), served regardless of --profiling
};

}  // namespace

std::string log_level(int verbosity) { return verbosity >= 6 ? "trace" : verbosity >= 3 ? "debug" : verbosity >= 2 ? "details" : "info"; }
void set_verbosity(int level) { set_log_level(log_level(level)); }

std::vector<PathRoute> debug_routes(const Activities& activities, bool on_socket) {
  auto routes = profile_routes(activities, on_socket);
  for (const char* path : {"/debug/flags", "/debug/flags/"}) routes.push_back({path, false, false, std::make_shared<FlagsHandler>()});
  routes.push_back({"/debug/flags/v", false, false, std::make_shared<VerbosityHandler>()});
  return routes;
}

std::shared_ptr<HttpHandler> make_debug_only_handler(HttpHandler& chain, const Activities& activities) {
  return std::make_shared<DebugOnlyHandler>(chain, activities);
}

}  // namespace backplane
