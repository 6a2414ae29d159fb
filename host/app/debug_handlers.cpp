#include "app/debug_handlers.hpp"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

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

std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

std::string command_line() {
  std::string text = read_all("/proc/self/cmdline");
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

// One line per thread: id, name, processor time in milliseconds.
std::string threads() {
  std::string out;
  std::error_code error;
  const auto tick_ms = 1000.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
  for (auto it = std::filesystem::directory_iterator("/proc/self/task", error); !error && it != std::filesystem::directory_iterator();
       it.increment(error)) {
    const std::string stat = read_all(it->path().string() + "/stat");
    const auto open = stat.find('(');
    const auto close = stat.rfind(')');
    if (open == std::string::npos || close == std::string::npos) continue;
    std::istringstream fields(stat.substr(close + 2));
    std::string skipped;
    for (int i = 0; i < 11; ++i) fields >> skipped;
    double user = 0;
    double system = 0;
    fields >> user >> system;
    char line[160];
    std::snprintf(line, sizeof line, "%s %s %.0fms\n", it->path().filename().c_str(), stat.substr(open + 1, close - open - 1).c_str(),
                  (user + system) * tick_ms);
    out += line;
  }
  return out;
}

// glibc's own account of its arenas.
std::string heap() {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* stream = open_memstream(&text, &size);
  if (stream == nullptr) return {};
  malloc_info(0, stream);
  std::fclose(stream);
  std::string out(text, size);
  std::free(text);
  return out;
}

std::string index_page();
std::string flags_page() { return "/debug/flags/\n\nv  PUT a number: the log's verbosity\n"; }

struct Page {
  std::string_view path;
  std::string (*text)();
  std::string_view about;
  bool socket_only = false;  // not on the secure port, as upstream
};
constexpr Page kPages[] = {
    {"/debug/flags", flags_page, ""},
    {"/debug/flags/", flags_page, ""},
    {"/debug/pprof/", index_page, ""},
    {"/debug/pprof/cmdline", command_line, "the command line, its words separated by NUL; on the debug socket alone", true},
    {"/debug/pprof/heap", heap, "what the allocator holds (malloc_info)"},
    {"/debug/pprof/threads", threads, "threads and the processor time of each"},
};

std::string index_page() {
  std::string out = "/debug/pprof/\n\n";
  for (const auto& page : kPages) {
    if (!page.about.empty()) out.append(page.path.substr(13)).append("  ").append(page.about).append("\n");
  }
  return out;
}

class RedirectHandler final : public HttpHandler {
 public:
  Task<void> handle(RequestContext&, Exchange& exchange) override {
    exchange.set_response_header("Location", "/debug/pprof/");
    co_await answer(exchange, 302, "");
  }
};

class PageHandler final : public HttpHandler {
 public:
  explicit PageHandler(std::string (*text)()) : text_(text) {}
  Task<void> handle(RequestContext&, Exchange& exchange) override { co_await answer(exchange, 200, text_()); }

 private:
  std::string (*text_)();
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
  explicit DebugOnlyHandler(HttpHandler& chain) : chain_(chain) {
    for (const auto& route : debug_routes(true)) own_.emplace(route.path, route.handler);
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
  std::map<std::string, std::shared_ptr<HttpHandler>, std::less<>> own_;  // whatever --profiling says
};

}  // namespace

std::string log_level(int verbosity) { return verbosity >= 6 ? "trace" : verbosity >= 3 ? "debug" : verbosity >= 2 ? "details" : "info"; }
void set_verbosity(int level) { set_log_level(log_level(level)); }

std::vector<PathRoute> debug_routes(bool on_socket) {
  std::vector<PathRoute> routes;
  for (const auto& page : kPages) {
    if (on_socket || !page.socket_only) routes.push_back({std::string(page.path), false, false, std::make_shared<PageHandler>(page.text)});
  }
  routes.push_back({"/debug/pprof", false, false, std::make_shared<RedirectHandler>()});
  routes.push_back({"/debug/flags/v", false, false, std::make_shared<VerbosityHandler>()});
  return routes;
}

std::shared_ptr<HttpHandler> make_debug_only_handler(HttpHandler& chain) { return std::make_shared<DebugOnlyHandler>(chain); }

}  // namespace backplane
