#include "endpoints/request_series.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_set>

#include "backplane/core/metric_registry.hpp"

namespace backplane {
namespace {

// Returns label names: first `more`, then the common labels, which are sorted.
std::vector<std::string> labels_with(std::initializer_list<const char*> more) {
  std::vector<std::string> out(more.begin(), more.end());
  for (const char* each : {"component", "dry_run", "group", "resource", "scope", "subresource", "verb", "version"}) out.emplace_back(each);
  return out;
}
std::vector<std::string> labels_without_dry_run(std::initializer_list<const char*> more = {}) {
  std::vector<std::string> out = labels_with(more);
  std::erase(out, "dry_run");
  return out;
}

struct Families {
  Metric& totals = Metric::counter("apiserver_request_total",
                                   "[STABLE] Counter of apiserver requests broken out for each verb, dry run value, group, version, "
                                   "resource, scope, component, and HTTP response code.",
                                   labels_with({"code"}));
  Metric& durations = Metric::histogram(
      "apiserver_request_duration_seconds",
      "[STABLE] Response latency distribution in seconds for each verb, dry run value, group, version, resource, subresource, scope and "
      "component.",
      labels_with({}), {0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60});
  Metric& sli = Metric::histogram(
      "apiserver_request_sli_duration_seconds",
      "[ALPHA] Response latency distribution (not counting webhook duration and priority & fairness queue wait times) in seconds for each "
      "verb, group, version, resource, subresource, scope and component.",
      labels_without_dry_run(), {0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60});
  Metric& sizes = Metric::histogram(
      "apiserver_response_sizes",
      "[STABLE] Response size distribution in bytes for each group, version, verb, resource, subresource, scope and component.",
      labels_without_dry_run(), exponential_bounds(1000, 10, 7));
  Metric& open = Metric::gauge("apiserver_longrunning_requests",
                               "[STABLE] Gauge of all active long-running apiserver requests broken out by verb, group, version, resource, "
                               "scope and component. Not all requests are tracked this way.",
                               labels_without_dry_run());
  Metric& own = Metric::counter("apiserver_selfrequest_total",
                                "[ALPHA] Counter of apiserver self-requests broken out for each verb, API resource and subresource.",
                                {"group", "resource", "subresource", "verb"});
  Metric& terminations =
      Metric::counter("apiserver_request_terminations_total", "[ALPHA] Number of requests which apiserver terminated in self-defense.",
                      labels_without_dry_run({"code"}));
  Metric& aborts = Metric::counter("apiserver_request_aborts_total",
                                   "[ALPHA] Number of requests which apiserver aborted possibly due to a timeout, for each group, version, "
                                   "verb, resource, subresource and scope",
                                   {"group", "resource", "scope", "subresource", "verb", "version"});
};

Families& families() {
  static Families all;
  return all;
}

bool equal_ignoring_case(std::string_view text, std::string_view lower) noexcept {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b; });
}

bool asks_watch(const Query& query) {
  if (!query_has(query, "watch")) return false;
  const std::string_view value = query_get(query, "watch");
  return value != "0" && !equal_ignoring_case(value, "false");
}

bool connects(const RequestInfo& info) noexcept {
  constexpr std::array<std::string_view, 5> kConnects{"log", "exec", "portforward", "attach", "proxy"};
  return info.is_resource_request && !info.subresource.empty() &&
         std::find(kConnects.begin(), kConnects.end(), info.subresource) != kConnects.end();
}

constexpr std::string_view kComponent = "apiserver";

struct ResourceLabels {
  std::string_view group, version, resource;
};
// Returns empty labels for paths that do not belong to API resources.
ResourceLabels resource_labels(const RequestInfo& info) noexcept {
  if (!info.is_resource_request) return {};
  return {info.api_group, info.api_version, info.resource};
}

// Limits the label values that clients choose. If no handler has responded, group, resource and path are arbitrary texts of the client, and
// a metric has at most Metric::kMostSeries series. The first kMost such texts become label values. Requests with other texts are counted
// without them.
class ClientLabels {
 public:
  bool admit(const RequestInfo& info) {
    constexpr std::size_t kMost = 1000;
    std::string key;
    if (info.is_resource_request) {
      for (const std::string* part : {&info.api_group, &info.api_version, &info.resource, &info.subresource})
        key.append(*part).append("\n");
    } else {
      key = info.path;
    }
    const std::lock_guard lock(mutex_);
    if (known_.size() >= kMost) return known_.contains(key);
    known_.insert(std::move(key));
    return true;
  }

 private:
  std::mutex mutex_;
  std::unordered_set<std::string> known_;
};

// The RequestSeries of one server.
class ServerSeries {
 public:
  RequestSeries& of(const RequestLabels& labels, bool sized) {
    const Key key{std::string(labels.verb),     std::string(labels.dry_run),     std::string(labels.group), std::string(labels.version),
                  std::string(labels.resource), std::string(labels.subresource), std::string(labels.scope), std::string(labels.component)};
    const std::lock_guard lock(mutex_);
    if (const auto found = all_.find({key, sized}); found != all_.end()) return *found->second;
    if (all_.size() >= Metric::kMostSeries) {
      // Each custom resource adds series. When the limit of the metrics is reached, all further labels share one series.
      if (rest_ == nullptr) rest_ = std::make_unique<RequestSeries>(RequestLabels(), false);
      return *rest_;
    }
    return *all_.emplace(std::pair(key, sized), std::make_unique<RequestSeries>(labels, sized)).first->second;
  }
  ClientLabels& client_labels() noexcept { return client_labels_; }

 private:
  using Key = std::array<std::string, 8>;
  std::mutex mutex_;
  std::map<std::pair<Key, bool>, std::unique_ptr<RequestSeries>> all_;
  std::unique_ptr<RequestSeries> rest_;
  ClientLabels client_labels_;
};

// Indexed by metric slot. The series of a stopped server are never destroyed, like the metric cells to which they refer.
std::array<std::atomic<ServerSeries*>, kMostServers + 1>& server_series() noexcept {
  static std::array<std::atomic<ServerSeries*>, kMostServers + 1> all{};
  return all;
}

// Returns the series of the server to which the calling thread belongs.
ServerSeries& current_series() {
  auto& slot = server_series()[current_server_slot()];
  if (ServerSeries* const found = slot.load(std::memory_order_acquire)) return *found;
  auto made = std::make_unique<ServerSeries>();
  ServerSeries* expected = nullptr;
  return slot.compare_exchange_strong(expected, made.get(), std::memory_order_acq_rel) ? *made.release() : *expected;
}

// Returns `info` if its texts may become label values, otherwise a copy without them.
RequestInfo counted_info(const RequestInfo& info) {
  if (current_series().client_labels().admit(info)) return info;
  RequestInfo bare;
  bare.verb = info.verb;
  bare.query = info.query;
  return bare;
}

}  // namespace

std::string_view request_scope(const RequestInfo& info) noexcept {
  if (!info.name.empty() || info.verb == "create") return "resource";
  if (!info.ns.empty()) return "namespace";
  return info.is_resource_request ? "cluster" : "";
}

std::string_view request_verb(const RequestInfo& info, const Exchange& exchange) noexcept {
  constexpr std::array<std::string_view, 5> kMethods{"GET", "POST", "PUT", "PATCH", "DELETE"};
  if (connects(info)) return "CONNECT";
  const std::string_view method = exchange.method();
  if (info.verb == "watch" || (method == "GET" && asks_watch(info.query))) return "WATCH";
  if (method == "PATCH" && exchange.header("content-type") == "application/apply-patch+yaml") return "APPLY";
  if (method == "GET" || method == "HEAD") {
    const std::string_view scope = request_scope(info);
    return scope.empty() || scope == "resource" ? "GET" : "LIST";
  }
  const auto* const found = std::find(kMethods.begin(), kMethods.end(), method);
  return found != kMethods.end() ? *found : "other";
}

std::string_view request_dry_run(const Query& query) {
  std::string_view out;
  for (const auto& [key, value] : query) {
    if (key != "dryRun") continue;
    if (value != "All") return "invalid";
    out = "All";
  }
  return out;
}

// ---- requests without a handler

void count_dropped(const RequestInfo& asked, const Exchange& exchange) {
  const RequestInfo info = counted_info(asked);
  const auto [group, version, resource] = resource_labels(info);
  families().totals.add({"429", kComponent, request_dry_run(info.query), group, resource, request_scope(info), info.subresource,
                         request_verb(info, exchange), version});
}

void count_terminated(const RequestInfo& asked, const Exchange& exchange, int code) {
  const RequestInfo info = counted_info(asked);
  const auto [group, version, resource] = resource_labels(info);
  const std::string_view subresource = info.is_resource_request ? info.subresource : info.path;
  families().terminations.add(
      {std::to_string(code), kComponent, group, resource, request_scope(info), subresource, request_verb(info, exchange), version});
}

void count_aborted(const RequestInfo& asked, const Exchange& exchange) {
  const RequestInfo info = counted_info(asked);
  families().aborts.add(
      {info.api_group, info.resource, request_scope(info), info.subresource, request_verb(info, exchange), info.api_version});
}

// ---- one series

RequestSeries& RequestSeries::of(const RequestLabels& labels, bool sized) { return current_series().of(labels, sized); }

void begin_request_series() noexcept { server_series()[current_server_slot()].store(nullptr, std::memory_order_release); }

RequestSeries::RequestSeries(const RequestLabels& of, bool sized)
    : verb_(of.verb),
      dry_run_(of.dry_run),
      group_(of.group),
      version_(of.version),
      resource_(of.resource),
      subresource_(of.subresource),
      scope_(of.scope),
      component_(of.component),
      durations_(MetricCell::of(families().durations, {component_, dry_run_, group_, resource_, scope_, subresource_, verb_, version_})),
      // Upstream's SLI histogram does not count watches and dry runs.
      sli_(dry_run_.empty() && verb_ != "WATCH"
               ? MetricCell::of(families().sli, {component_, group_, resource_, scope_, subresource_, verb_, version_})
               : nullptr),
      sizes_(sized ? MetricCell::of(families().sizes, {component_, group_, resource_, scope_, subresource_, verb_, version_}) : nullptr) {}

void RequestSeries::count(const Ended& request) noexcept {
  if (MetricCell* total = total_of(request.code)) total->add();
  const double took = std::chrono::duration<double>(request.took).count();
  if (durations_ != nullptr) durations_->observe(took);
  if (sli_ != nullptr)
    sli_->observe(request.waited.count() == 0 ? took : std::chrono::duration<double>(request.took - request.waited).count());
  if (sizes_ != nullptr) sizes_->observe(static_cast<double>(request.bytes));
}

MetricCell* RequestSeries::total_of(int code) noexcept {
  const auto* const known = std::find(kCodes.begin(), kCodes.end(), code);
  if (known == kCodes.end()) return made_total(code);
  auto& slot = totals_[static_cast<std::size_t>(known - kCodes.begin())];
  MetricCell* cell = slot.load(std::memory_order_acquire);
  if (cell == nullptr) {
    cell = made_total(code);
    slot.store(cell, std::memory_order_release);
  }
  return cell;
}

MetricCell* RequestSeries::made_total(int code) noexcept {
  try {
    const std::string text = std::to_string(code);
    return MetricCell::of(families().totals, {text, component_, dry_run_, group_, resource_, scope_, subresource_, verb_, version_});
  } catch (...) {
    return nullptr;  // out of memory: the request is not counted
  }
}

void RequestSeries::opened() noexcept {
  try {
    families().open.add({component_, group_, resource_, scope_, subresource_, verb_, version_}, 1);
  } catch (...) {
  }
}
void RequestSeries::closed() noexcept {
  try {
    families().open.add({component_, group_, resource_, scope_, subresource_, verb_, version_}, -1);
  } catch (...) {
  }
}
void RequestSeries::count_own() noexcept {
  try {
    families().own.add({group_, resource_, subresource_, verb_});
  } catch (...) {
  }
}

// ---- the series of a resource

RequestSeries& RouteSeries::find(const RequestInfo& info, const Exchange& exchange, std::string_view scope, bool sized) {
  const std::string_view verb = request_verb(info, exchange);
  const std::string_view dry_run = request_dry_run(info.query);
  const RequestLabels labels{verb, dry_run, group_, version_, resource_, subresource_, scope, kComponent};
  const auto* const known = std::find(kScopes.begin(), kScopes.end(), scope);
  if (!dry_run.empty() || known == kScopes.end()) return RequestSeries::of(labels, sized);
  const auto row = static_cast<std::size_t>(std::find(kVerbs.begin(), kVerbs.end(), verb) - kVerbs.begin());
  auto& slot = found_[row][static_cast<std::size_t>(known - kScopes.begin())][sized ? 1 : 0];
  RequestSeries* series = slot.load(std::memory_order_acquire);
  if (series == nullptr) {
    series = &RequestSeries::of(labels, sized);
    slot.store(series, std::memory_order_release);
  }
  return *series;
}

void reset_request_series() {
  for (Metric* each : {&families().totals, &families().durations, &families().sli, &families().sizes, &families().own,
                       &families().terminations, &families().aborts}) {
    reset_metric(*each);
  }
}

}  // namespace backplane
