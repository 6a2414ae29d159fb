#include "routing/health.hpp"

#include <algorithm>
#include <atomic>
#include <set>

#include "backplane/request.hpp"
#include "base/plain_message.hpp"
#include "routing/log.hpp"

namespace backplane {
namespace {

constexpr std::string_view kText = "text/plain; charset=utf-8";

class FunctionCheck final : public HealthCheck {
 public:
  FunctionCheck(std::string name, std::function<Task<Status>()> check) : name_(std::move(name)), check_(std::move(check)) {}
  std::string name() const override { return name_; }
  Task<Status> check() override { return check_(); }

 private:
  std::string name_;
  std::function<Task<Status>()> check_;
};

Task<Status> always_ok() { co_return Status(); }

Task<void> answer(Exchange& exchange, int code, std::string text) {
  exchange.set_response_header("X-Content-Type-Options", "nosniff");
  std::vector<SharedBytes> body;
  body.emplace_back(std::move(text));
  co_await exchange.respond(code, kText, std::move(body));
}

}  // namespace

std::shared_ptr<HealthCheck> make_health_check(std::string name, std::function<Task<Status>()> check) {
  return std::make_shared<FunctionCheck>(std::move(name), std::move(check));
}
std::shared_ptr<HealthCheck> ping_check() { return make_health_check("ping", always_ok); }

// One of /healthz, /livez, /readyz, with its single-check paths.
class HealthEndpoint final : public HttpHandler {
 public:
  struct Row {
    std::shared_ptr<HealthCheck> check;
    bool boot;  // healthy here until the grace period is over
  };
  HealthEndpoint(std::string name, std::vector<Row> rows, std::chrono::steady_clock::time_point boot_until, std::function<void()> on_ok)
      : name_(std::move(name)), rows_(std::move(rows)), boot_until_(boot_until), on_ok_(std::move(on_ok)) {}

  Task<void> handle(RequestContext& context, Exchange& exchange) override {
    const std::string path = context.info.path;
    if (path.size() == name_.size() + 1) {
      co_await all(exchange);
    } else {
      co_await single(path.substr(name_.size() + 2), exchange);
    }
  }

  Task<bool> healthy() {
    for (const auto& row : rows_) {
      Status status = co_await run(row);
      if (!status.ok()) co_return false;
    }
    co_return true;
  }

 private:
  Task<Status> run(Row row) {
    if (row.boot && std::chrono::steady_clock::now() < boot_until_) co_return Status();
    Status status = co_await row.check->check();
    co_return status;
  }

  Task<void> single(std::string check, Exchange& exchange) {
    const auto row = std::find_if(rows_.begin(), rows_.end(), [&](const Row& r) { return r.check->name() == check; });
    int code = 404;
    std::string text = "404 page not found\n";
    if (row != rows_.end()) {
      Status status = co_await run(*row);
      code = status.ok() ? 200 : 500;
      text = status.ok() ? "ok" : "internal server error: " + std::string(plain_message(status)) + "\n";
    }
    co_await answer(exchange, code, std::move(text));
  }

  Task<void> all(Exchange& exchange) {
    const std::string_view target = exchange.target();
    const auto question = target.find('?');
    auto query = parse_query(question == std::string_view::npos ? std::string_view{} : target.substr(question + 1));
    std::set<std::string> excluded;
    bool verbose = false;
    if (query.ok()) {
      verbose = query_has(*query, "verbose");
      for (const auto& [key, value] : *query) {
        if (key == "exclude") excluded.insert(value);
      }
    }
    std::string lines;
    std::string failed;   // names, for the log
    std::string reasons;  // the log's copy of what is withheld
    for (const auto& row : rows_) {
      const std::string name = row.check->name();
      if (excluded.erase(name) > 0) {
        lines += "[+]" + name + " excluded: ok\n";
        continue;
      }
      Status status = co_await run(row);
      lines += status.ok() ? "[+]" + name + " ok\n" : "[-]" + name + " failed: reason withheld\n";
      if (status.ok()) continue;
      failed += (failed.empty() ? "" : ",") + name;
      reasons += "\n[-]" + name + " failed: " + std::string(plain_message(status));
    }
    lines += unknown_excludes(excluded);
    if (!failed.empty()) {
      routing_log().info("{} check failed: {}{}", failed, name_, reasons);
      co_await answer(exchange, 500, lines + name_ + " check failed\n");
      co_return;
    }
    if (on_ok_ && !told_.exchange(true)) on_ok_();
    std::string text = "ok";
    if (verbose) text = lines + name_ + " check passed\n";
    co_await answer(exchange, 200, std::move(text));
  }

  static std::string unknown_excludes(const std::set<std::string>& names) {
    std::string list;
    for (const auto& name : names) list += (list.empty() ? "" : ",") + quoted(name);
    return list.empty() ? "" : "warn: some health checks cannot be excluded: no matches for " + list + "\n";
  }

  std::string name_;
  std::vector<Row> rows_;
  std::chrono::steady_clock::time_point boot_until_;
  std::function<void()> on_ok_;
  std::atomic<bool> told_{false};
};

HealthRegistry::HealthRegistry(std::chrono::nanoseconds livez_grace_period) : grace_(livez_grace_period) {}

Status HealthRegistry::add(std::shared_ptr<HealthCheck> check, HealthEndpoints where) {
  if (installed_) return Status(Reason::kConflict, "unable to add because the healthz endpoint has already been created");
  for (const auto& entry : entries_) {
    if (entry.check->name() == check->name()) return {};
  }
  entries_.push_back(Entry{std::move(check), where});
  return {};
}

std::vector<PathRoute> HealthRegistry::install(std::function<void()> on_first_ready) {
  installed_ = true;
  struct Endpoint {
    const char* name;
    bool HealthEndpoints::*shown;
  };
  static constexpr Endpoint kEndpoints[] = {
      {"healthz", &HealthEndpoints::healthz}, {"livez", &HealthEndpoints::livez}, {"readyz", &HealthEndpoints::readyz}};
  std::vector<PathRoute> routes;
  for (const auto& endpoint : kEndpoints) {
    std::vector<HealthEndpoint::Row> rows;
    const bool livez = std::string_view(endpoint.name) == "livez";
    for (const auto& entry : entries_) {
      if (entry.where.*endpoint.shown) rows.push_back({entry.check, entry.where.boot_sequence && livez});
    }
    const std::string path = std::string("/") + endpoint.name;
    const bool readyz = std::string_view(endpoint.name) == "readyz";
    auto handler =
        std::make_shared<HealthEndpoint>(endpoint.name, rows, started_ + grace_, readyz ? on_first_ready : std::function<void()>{});
    routes.push_back({path, false, true, handler});
    for (const auto& row : rows) routes.push_back({path + "/" + row.check->name(), false, true, handler});
    if (readyz) ready_ = handler;
  }
  return routes;
}

Task<bool> HealthRegistry::ready() {
  if (!ready_) co_return false;
  auto handler = std::static_pointer_cast<HealthEndpoint>(ready_);
  bool healthy = co_await handler->healthy();
  co_return healthy;
}

}  // namespace backplane
