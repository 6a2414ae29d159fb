#include "routing/health.hpp"

#include <algorithm>
#include <atomic>
#include <set>

#include "backplane/core/request.hpp"
#include "backplane/kit/published.hpp"
#include "base/plain_message.hpp"
#include "endpoints/metered_exchange.hpp"
#include "routing/log.hpp"

namespace backplane {
namespace {

constexpr std::string_view kText = "text/plain; charset=utf-8";

class FunctionCheck final : public HealthCheck {
 public:
  FunctionCheck(std::string name, std::function<Task<Status>()> check, std::string group)
      : name_(std::move(name)), group_(std::move(group)), check_(std::move(check)) {}
  std::string name() const override { return name_; }
  std::string group() const override { return group_; }
  Task<Status> check() override { return check_(); }

 private:
  std::string name_;
  std::string group_;
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

std::shared_ptr<HealthCheck> make_health_check(std::string name, std::function<Task<Status>()> check, std::string group) {
  return std::make_shared<FunctionCheck>(std::move(name), std::move(check), std::move(group));
}
std::shared_ptr<HealthCheck> ping_check() { return make_health_check("ping", always_ok); }

// The handler of /healthz, /livez or /readyz, and of the single checks below it.
class HealthEndpoint final : public HttpHandler {
 public:
  struct Counters {
    std::atomic<bool> healthy{false};
    std::atomic<std::uint64_t> successes{0};
    std::atomic<std::uint64_t> errors{0};
  };
  struct Row {
    std::shared_ptr<HealthCheck> check;
    bool boot;  // a startup check: /livez reports ok until the grace period has passed
    std::shared_ptr<Counters> counters = std::make_shared<Counters>();
  };
  using Rows = std::vector<Row>;
  HealthEndpoint(std::string name, std::chrono::steady_clock::time_point boot_until, std::function<void()> on_ok)
      : name_(std::move(name)), boot_until_(boot_until), on_ok_(std::move(on_ok)) {}

  // Replaces the checks. A check keeps the counters of the former check of the same name.
  void publish(Rows rows) {
    const auto before = rows_.get();
    for (Row& row : rows) {
      for (const Row& former : *before) {
        if (former.check->name() == row.check->name()) row.counters = former.counters;
      }
    }
    rows_.set(std::make_shared<const Rows>(std::move(rows)));
  }
  std::vector<PathRoute> routes(std::shared_ptr<HttpHandler> self) const {
    const std::string path = "/" + name_;
    std::vector<PathRoute> routes{{path, false, true, self}};
    const auto rows = rows_.get();
    for (const auto& row : *rows) routes.push_back({path + "/" + row.check->name(), false, true, self});
    return routes;
  }

  Task<void> handle(RequestContext& context, Exchange& exchange) override {
    const std::string path = context.info.path;
    if (path.size() == name_.size() + 1) {
      count_document(context, exchange, path, "");
      co_await all(context.info.query, exchange);
    } else {
      co_await single(path.substr(name_.size() + 2), exchange);
    }
  }

  void add_observed(std::vector<HealthRegistry::Observed>& out) const {
    const auto rows = rows_.get();
    for (const auto& row : *rows) {
      HealthRegistry::Observed seen{row.check->name(), name_, row.counters->healthy, row.counters->successes, row.counters->errors};
      if (seen.successes + seen.errors > 0) out.push_back(std::move(seen));
    }
  }

  Task<bool> healthy() {
    const auto rows = rows_.get();
    for (const auto& row : *rows) {
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
    const auto rows = rows_.get();
    const auto row = std::find_if(rows->begin(), rows->end(), [&](const Row& r) { return r.check->name() == check; });
    int code = 404;
    std::string text = "404 page not found\n";
    if (row != rows->end()) {
      Status status = co_await run(*row);
      code = status.ok() ? 200 : 500;
      text = status.ok() ? "ok" : "internal server error: " + std::string(plain_message(status)) + "\n";
    }
    co_await answer(exchange, code, std::move(text));
  }

  Task<void> all(const Query& query, Exchange& exchange) {
    const bool verbose = query_has(query, "verbose");
    std::set<std::string> excluded;
    for (const auto& [key, value] : query) {
      if (key == "exclude") excluded.insert(value);
    }
    std::set<std::string> unknown = excluded;
    std::string lines;
    std::string failed;   // the names of the failed checks, for the log
    std::string reasons;  // the reasons of the failures; only the log gets them
    const auto rows = rows_.get();
    for (const auto& row : *rows) {
      const std::string name = row.check->name();
      if (leave_out(*row.check, excluded, unknown, lines)) continue;
      Status status = co_await run(row);
      observe(row, status.ok());
      lines += status.ok() ? "[+]" + name + " ok\n" : "[-]" + name + " failed: reason withheld\n";
      if (status.ok()) continue;
      failed += (failed.empty() ? "" : ",") + name;
      reasons += "\n[-]" + name + " failed: " + std::string(plain_message(status));
    }
    lines += unknown_excludes(unknown);
    if (!failed.empty()) {
      routing_details().info("{} check failed: {}{}", failed, name_, reasons);
      co_await answer(exchange, 500, lines + name_ + " check failed\n");
      co_return;
    }
    if (on_ok_ && !notified_.exchange(true)) on_ok_();
    std::string text = "ok";
    if (verbose) text = lines + name_ + " check passed\n";
    co_await answer(exchange, 200, std::move(text));
  }

  static void observe(const Row& row, bool healthy) {
    row.counters->healthy = healthy;
    ++(healthy ? row.counters->successes : row.counters->errors);
  }

  // Returns true if the check is excluded by its name or by the name of its group. Adds a line about the exclusion to `lines`.
  static bool leave_out(const HealthCheck& check, const std::set<std::string>& excluded, std::set<std::string>& unknown,
                        std::string& lines) {
    const std::string name = check.name();
    const std::string group = check.group();
    if (excluded.contains(name)) {
      lines += "[+]" + name + " excluded: ok\n";
      unknown.erase(name);
      return true;
    }
    if (group.empty() || !excluded.contains(group)) return false;
    lines += "[+]" + name + " excluded with " + group + ": ok\n";
    unknown.erase(group);
    return true;
  }

  static std::string unknown_excludes(const std::set<std::string>& names) {
    std::string list;
    for (const auto& name : names) list += (list.empty() ? "" : ",") + quoted(name);
    return list.empty() ? "" : "warn: some health checks cannot be excluded: no matches for " + list + "\n";
  }

  std::string name_;
  kit::Published<Rows> rows_{std::make_shared<const Rows>()};
  std::chrono::steady_clock::time_point boot_until_;
  std::function<void()> on_ok_;
  std::atomic<bool> notified_{false};
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
  const bool first = endpoints_.empty();
  std::vector<PathRoute> routes;
  for (std::size_t i = 0; i < std::size(kEndpoints); ++i) {
    const Endpoint& endpoint = kEndpoints[i];
    const std::string_view name = endpoint.name;
    if (first) {
      endpoints_.push_back(
          std::make_shared<HealthEndpoint>(endpoint.name, started_ + grace_, name == "readyz" ? on_first_ready : std::function<void()>{}));
    }
    HealthEndpoint::Rows rows;
    for (const auto& entry : entries_) {
      if (entry.where.*endpoint.shown) rows.push_back({entry.check, entry.where.boot_sequence && name == "livez"});
    }
    endpoints_[i]->publish(std::move(rows));
    auto own = endpoints_[i]->routes(endpoints_[i]);
    routes.insert(routes.end(), std::make_move_iterator(own.begin()), std::make_move_iterator(own.end()));
  }
  return routes;
}

void HealthRegistry::reopen() {
  installed_ = false;
  entries_.clear();
}

Task<bool> HealthRegistry::ready() {
  if (endpoints_.empty()) co_return false;
  bool healthy = co_await endpoints_.back()->healthy();
  co_return healthy;
}

std::vector<HealthRegistry::Observed> HealthRegistry::observed() const {
  std::vector<Observed> out;
  for (const auto& endpoint : endpoints_) endpoint->add_observed(out);
  return out;
}

}  // namespace backplane
