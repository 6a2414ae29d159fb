#include "app/metrics_handler.hpp"

#include <dirent.h>
#include <prometheus/metric_family.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "app/metric_exposition.hpp"
#include "app/metric_levels.hpp"
#include "app/metric_page.hpp"
#include "app/plugin_metrics.hpp"
#include "app/version_metrics.hpp"
#include "backplane/core/metrics.hpp"
#include "base/free_memory.hpp"
#include "base/yield.hpp"
#include "engine/codec.hpp"
#include "http/header_text.hpp"
#include "http/limits.hpp"

namespace backplane {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Families = std::vector<MetricFamily>;

using Labels = std::initializer_list<std::pair<const char*, std::string>>;

ClientMetric with_labels(Labels labels) {
  ClientMetric metric;
  for (const auto& [name, value] : labels) {
    ClientMetric::Label label;
    label.name = name;
    label.value = value;
    metric.label.push_back(std::move(label));
  }
  return metric;
}

MetricFamily& add_family(Families& families, std::string name, std::string help, MetricType type) {
  families.emplace_back();
  families.back().name = std::move(name);
  families.back().help = std::move(help);
  families.back().type = type;
  return families.back();
}

void add_value(Families& families, const char* name, const char* help, MetricType type, double value) {
  ClientMetric metric;
  (type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
  add_family(families, name, help, type).metric.push_back(std::move(metric));
}

// A histogram without observations is left out.
template <class Histogram>
void add_histogram(MetricFamily& family, const Histogram& histogram, Labels labels) {
  const std::uint64_t count = histogram.count();
  if (count == 0) return;
  auto metric = with_labels(labels);
  metric.histogram.sample_count = count;
  metric.histogram.sample_sum = histogram.sum_seconds();
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < Histogram::kSize; ++i) {
    below += histogram.in_bucket(i);
    ClientMetric::Bucket bucket;
    bucket.cumulative_count = below;
    bucket.upper_bound = Histogram::bound(i);
    metric.histogram.bucket.push_back(bucket);
  }
  family.metric.push_back(std::move(metric));
}
void add_count(MetricFamily& family, std::uint64_t count, Labels labels) {
  if (count == 0) return;
  family.metric.push_back(with_labels(labels));
  family.metric.back().counter.value = static_cast<double>(count);
}

void add_authentication(Families& families, const AccessMetrics& access) {
  constexpr auto& kResults = AccessMetrics::kAuthentications;
  auto& users = add_family(families, "authenticated_user_requests", "[ALPHA] Counter of authenticated requests broken out by username.",
                           MetricType::Counter);
  for (std::size_t i = 0; i < AccessMetrics::kUsers.size(); ++i) {
    add_count(users, access.requests_of(i), {{"username", std::string(AccessMetrics::kUsers[i])}});
  }
  auto& attempts = add_family(families, "authentication_attempts", "[ALPHA] Counter of authenticated attempts.", MetricType::Counter);
  for (std::size_t i = 0; i < kResults.size(); ++i) {
    add_count(attempts, access.authentication(i).count(), {{"result", std::string(kResults[i])}});
  }
  auto& durations = add_family(families, "authentication_duration_seconds",
                               "[ALPHA] Authentication duration in seconds broken out by result.", MetricType::Histogram);
  for (std::size_t i = 0; i < kResults.size(); ++i) {
    add_histogram(durations, access.authentication(i), {{"result", std::string(kResults[i])}});
  }
}

void add_authorization(Families& families, const AccessMetrics& access, const Authorization& authorization) {
  constexpr auto& kResults = AccessMetrics::kAuthorizations;
  auto& attempts = add_family(families, "authorization_attempts_total",
                              "[ALPHA] Counter of authorization attempts broken down by result. It can be either 'allowed', 'denied', "
                              "'no-opinion' or 'error'.",
                              MetricType::Counter);
  for (std::size_t i = 0; i < kResults.size(); ++i) {
    add_count(attempts, access.authorization(i).count(), {{"result", std::string(kResults[i])}});
  }
  auto& durations = add_family(families, "authorization_duration_seconds",
                               "[ALPHA] Authorization duration in seconds broken out by result.", MetricType::Histogram);
  for (std::size_t i = 0; i < kResults.size(); ++i) {
    add_histogram(durations, access.authorization(i), {{"result", std::string(kResults[i])}});
  }
  auto& decisions = add_family(families, "apiserver_authorization_decisions_total",
                               "[ALPHA] Total number of terminal decisions made by an authorizer split by authorizer type, name, and "
                               "decision.",
                               MetricType::Counter);
  for (std::size_t i = 0; i < authorization.places().size(); ++i) {
    const auto& [type, name, _] = authorization.places()[i];
    const auto& made = authorization.decisions(i);
    add_count(decisions, made.allowed.load(std::memory_order_relaxed), {{"decision", "allowed"}, {"name", name}, {"type", type}});
    add_count(decisions, made.denied.load(std::memory_order_relaxed), {{"decision", "denied"}, {"name", name}, {"type", type}});
  }
}

void add_impersonation(Families& families, const ImpersonationMetrics& impersonation) {
  using Of = const ImpersonationMetrics::Seconds& (ImpersonationMetrics::*)(std::size_t, bool) const noexcept;
  const auto add = [&](std::string_view name, std::string_view what, Of of) {
    const std::string metric = "apiserver_impersonation_" + std::string(name);
    const std::string split(" split by mode and decision.");
    const auto each = [&](const auto& visit) {
      for (std::size_t mode = 0; mode < ImpersonationMetrics::kModes.size(); ++mode) {
        for (const bool allowed : {true, false}) {
          const auto& seconds = (impersonation.*of)(mode, allowed);
          visit(seconds, Labels{{"decision", allowed ? "allowed" : "denied"}, {"mode", std::string(ImpersonationMetrics::kModes[mode])}});
        }
      }
    };
    auto& total = add_family(families, metric + "_total", "[ALPHA] Total number of " + std::string(what) + split, MetricType::Counter);
    each([&](const auto& seconds, const Labels& labels) { add_count(total, seconds.count(), labels); });
    auto& durations = add_family(families, metric + "_duration_seconds", "[ALPHA] Latency of " + std::string(what) + " in seconds" + split,
                                 MetricType::Histogram);
    each([&](const auto& seconds, const Labels& labels) { add_histogram(durations, seconds, labels); });
  };
  add("attempts", "impersonation attempts", &ImpersonationMetrics::attempts);
  add("authorization_attempts", "authorization checks made by the impersonation handler", &ImpersonationMetrics::authorizations);
}

void add_filters(Families& families, const AccessMetrics& access) {
  auto& durations = add_family(families, "apiserver_request_filter_duration_seconds",
                               "[ALPHA] Request filter latency distribution in seconds, for each filter type", MetricType::Histogram);
  for (std::size_t i = 0; i < AccessMetrics::kFilters.size(); ++i) {
    add_histogram(durations, access.filter(i), {{"filter", std::string(AccessMetrics::kFilters[i])}});
  }
}

void add_unfinished(Families& families, const AccessMetrics& access) {
  auto& late = add_family(families, "apiserver_request_post_timeout_total",
                          "[ALPHA] Tracks the activity of the request handlers after the associated requests have been timed out by the "
                          "apiserver",
                          MetricType::Counter);
  for (const bool threw : {false, true}) {
    add_count(late, access.late(threw), {{"source", "timeout-handler"}, {"status", threw ? "panic" : "ok"}});
  }
}

void add_in_flight(Families& families, const InFlightLimits& in_flight) {
  auto& family = add_family(families, "apiserver_current_inflight_requests",
                            "Maximal number of currently used inflight request limit of this apiserver per request kind in last second.",
                            MetricType::Gauge);
  for (const bool mutating : {true, false}) {
    auto metric = with_labels({{"request_kind", mutating ? "mutating" : "readOnly"}});
    metric.gauge.value = in_flight.highest(mutating);
    family.metric.push_back(std::move(metric));
  }
}

// The first storage is the main store; the others hold single resources. The values of the label are upstream's.
void add_sizes(Families& families, const std::vector<const StorageBackend*>& storages) {
  auto& family = add_family(families, "apiserver_storage_size_bytes", "Size of the store in bytes; -1: unknown.", MetricType::Gauge);
  for (std::size_t i = 0; i < storages.size(); ++i) {
    family.metric.push_back(with_labels({{"storage_cluster_id", "etcd-" + std::to_string(i)}}));
    family.metric.back().gauge.value = static_cast<double>(storages[i]->size_bytes());
  }
}

// The bytes of JSON are counted with the caches, because every entry of a cache contains JSON.
void add_encodings(Families& families) {
  auto& family = add_family(families, "apiserver_encoded_object_bytes",
                            "Bytes of requested encodings other than JSON, which are shared, by media type.", MetricType::Gauge);
  for (const Codec* codec : codecs(true)) {
    if (codec == &json_codec()) continue;
    family.metric.push_back(with_labels({{"media_type", std::string(codec->media_type())}}));
    family.metric.back().gauge.value = static_cast<double>(codec->held_bytes());
  }
}

void add_gates(Families& families, const FeatureGates& gates) {
  auto& family = add_family(families, "kubernetes_feature_enabled", "Whether a feature is there, by the name and stage of its gate.",
                            MetricType::Gauge);
  for (const auto& [name, _] : gates.all()) {
    if (!gates.exists(name)) continue;
    family.metric.push_back(with_labels({{"name", name}, {"stage", std::string(gates.stage_of(name))}}));
    family.metric.back().gauge.value = gates.in_effect(name) ? 1 : 0;
  }
}

ClientMetric shown(const Metric::Snapshot& metric, const std::vector<std::string>& values, const Metric::Series& series) {
  ClientMetric out;
  out.label.reserve(metric.labels.size());
  for (std::size_t i = 0; i < metric.labels.size() && i < values.size(); ++i) out.label.push_back({metric.labels[i], values[i]});
  if (metric.kind == Metric::Kind::kCounter) out.counter.value = series.value;
  if (metric.kind == Metric::Kind::kGauge) out.gauge.value = series.value;
  if (metric.kind != Metric::Kind::kHistogram) return out;
  out.histogram.sample_count = series.count;
  out.histogram.sample_sum = series.value;
  out.histogram.bucket.reserve(metric.bounds.size());
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < metric.bounds.size() && i < series.buckets.size(); ++i) {
    below += series.buckets[i];
    ClientMetric::Bucket bucket;
    bucket.cumulative_count = below;
    bucket.upper_bound = metric.bounds[i];
    out.histogram.bucket.push_back(bucket);
  }
  return out;
}

// Adds the metrics of the request gate.
void add_measured(Families& families, const std::vector<Metric::Snapshot>& metrics) {
  constexpr std::array kTypes = {MetricType::Counter, MetricType::Gauge, MetricType::Histogram};
  for (const Metric::Snapshot& metric : metrics) {
    MetricFamily family{metric.name, metric.help, kTypes[static_cast<std::size_t>(metric.kind)], {}};
    family.metric.reserve(metric.series.size());
    for (const auto& [values, series] : metric.series) family.metric.push_back(shown(metric, values, series));
    families.push_back(std::move(family));
  }
}

double open_files() {
  const std::unique_ptr<DIR, int (*)(DIR*)> files(opendir("/proc/self/fd"), closedir);
  double count = 0;
  while (files != nullptr && readdir(files.get()) != nullptr) ++count;
  return std::max(0.0, count - 2);  // without the entries "." and ".."
}

void add_start_time(Families& families) {
  static const double start_time = static_cast<double>(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()));
  add_value(families, "process_start_time_seconds", "Start time of the process since unix epoch in seconds.", MetricType::Gauge,
            start_time);
}

void add_process(Families& families) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6; };
  add_value(families, "process_cpu_seconds_total", "Total user and system CPU time spent in seconds.", MetricType::Counter,
            seconds(usage.ru_utime) + seconds(usage.ru_stime));
  const MemoryUse use = memory_use();
  add_value(families, "process_resident_memory_bytes", "Resident memory size in bytes.", MetricType::Gauge,
            static_cast<double>(use.resident_bytes));
  add_value(families, "process_virtual_memory_bytes", "Virtual memory size in bytes.", MetricType::Gauge,
            static_cast<double>(use.virtual_bytes));
  add_value(families, "process_open_fds", "Number of open file descriptors.", MetricType::Gauge, open_files());
  add_start_time(families);
}

void add_health(Families& families, const HealthRegistry& health) {
  MetricFamily last{"kubernetes_healthcheck", "[STABLE] This metric records the result of a single healthcheck.", MetricType::Gauge, {}};
  MetricFamily totals{
      "kubernetes_healthchecks_total", "[STABLE] This metric records the results of all healthcheck.", MetricType::Counter, {}};
  for (const auto& seen : health.observed()) {
    last.metric.push_back(with_labels({{"name", seen.name}, {"type", seen.endpoint}}));
    last.metric.back().gauge.value = seen.healthy ? 1 : 0;
    const std::pair<const char*, std::uint64_t> counts[] = {{"error", seen.errors}, {"success", seen.successes}};
    for (const auto& [status, count] : counts) {
      if (count == 0) continue;
      totals.metric.push_back(with_labels({{"name", seen.name}, {"type", seen.endpoint}, {"status", status}}));
      totals.metric.back().counter.value = static_cast<double>(count);
    }
  }
  families.push_back(std::move(last));
  families.push_back(std::move(totals));
}

Task<void> answer(Exchange& exchange, Families families) {
  mark_levels(families);
  std::sort(families.begin(), families.end(), [](const auto& one, const auto& other) { return one.name < other.name; });
  const Exposition form = choose_exposition(exchange.header("accept"));
  std::vector<SharedBytes> body;
  for (std::string& piece : exposed(families, form)) {
    if (!piece.empty()) body.emplace_back(std::move(piece));
  }
  exchange.set_compressible(true);
  co_await exchange.respond(200, content_type_of(form), std::move(body));
}

class SlisHandler final : public HttpHandler {
 public:
  SlisHandler(const HealthRegistry& health, MetricRules rules) : health_(health), rules_(std::move(rules)) {}

  Task<void> handle(RequestContext&, Exchange& exchange) override {
    Families families;
    add_health(families, health_);
    add_start_time(families);
    rules_.apply(families);
    co_await answer(exchange, std::move(families));
  }

 private:
  const HealthRegistry& health_;
  MetricRules rules_;
};

class MetricsHandler final : public HttpHandler {
 public:
  MetricsHandler(MetricsParts parts, MetricRules rules)
      : parts_(std::move(parts)),
        rules_(std::move(rules)),
        has_page_(rules_.only_removes()),
        page_(constant_families(parts_.gates, parts_.version), parts_.count_objects, parts_.uncached) {
    Families first;
    add_process(first);  // sets the start time (add_start_time())
    for (const auto& name : PluginRequests::metrics()) {
      page_.observe(name, [this](const auto& about, const auto& reading) { plugin_requests_.read(about, reading); });
    }
  }

  Task<void> handle(RequestContext&, Exchange& exchange) override {
    if (parts_.may_reset && exchange.method() == "DELETE") {
      parts_.requests.reset();
      co_await respond_reset(exchange);
      co_return;
    }
    MetricPage::Use use = page_.use();
    if (use && has_page_ && !choose_exposition(exchange.header("accept")).delimited) {
      co_await respond_with_page(exchange, std::move(use));
      co_return;
    }
    Families families = sampled(std::move(use));
    std::set<std::string> disabled;
    for (const auto& family : families) disabled.insert(family.name);
    rules_.apply(families);
    for (const auto& family : families) disabled.erase(family.name);
    count_levels(families, disabled.size(), 0);
    co_await answer(exchange, std::move(families));
  }

 private:
  static Families constant_families(const FeatureGates& gates, const ReportedVersion& version) {
    Families families;
    add_gates(families, gates);
    families.push_back(build_info_metric(version));
    families.push_back(version_info_metric(version.effective));
    return families;
  }
  // All families of a scrape. If another scrape uses the page, the samples come from a temporary page.
  Families sampled(MetricPage::Use use) {
    Families families = use ? page_.samples(parts_.caches) : MetricPage({}, parts_.count_objects, parts_.uncached).samples(parts_.caches);
    use.done();
    for (auto& family : own_families()) families.push_back(std::move(family));
    for (auto& family : constant_families(parts_.gates, parts_.version)) families.push_back(std::move(family));
    if (parts_.plugins) add_plugins(families, parts_.plugins());
    return families;
  }
  // Families whose values this handler reads directly, and not from registered metrics. The families of caches and plugins are not
  // included.
  Families own_families() const {
    Families families;
    add_process(families);
    add_authentication(families, parts_.requests.access);
    if (const auto authorization = parts_.authorization.current()) add_authorization(families, parts_.requests.access, *authorization);
    add_impersonation(families, parts_.requests.impersonation);
    add_filters(families, parts_.requests.access);
    add_unfinished(families, parts_.requests.access);
    add_in_flight(families, parts_.in_flight);
    add_encodings(families);
    if (parts_.gate != nullptr) add_measured(families, parts_.gate->measured());
    add_value(families, "apiserver_tls_handshake_errors_total", "Number of requests dropped with a TLS handshake error.",
              MetricType::Counter, static_cast<double>(parts_.transport.tls_handshake_errors.load(std::memory_order_relaxed)));
    if (parts_.store_size) add_sizes(families, parts_.storages);
    return families;
  }

  bool may_gzip(const Exchange& exchange) const {
    return exchange.method() == "GET" && parts_.gates.enabled("APIResponseCompression") &&
           header_has_token(exchange.headers(), "Accept-Encoding", "gzip");
  }

  Task<void> respond_with_page(Exchange& exchange, MetricPage::Use use) {
    std::vector<SharedBytes> body;
    if (may_gzip(exchange)) {
      fill_page(MetricPage::For::kGzip);
      while (!page_.pack(kTurn)) co_await Yield{};
      if (page_.text_size() > HttpLimits().gzip_threshold) body = page_.gzip();
    }
    if (body.empty()) {
      fill_page(MetricPage::For::kText);
      body = page_.text();
    } else {
      exchange.set_response_header("Content-Encoding", "gzip");
      exchange.add_response_header("Vary", "Accept-Encoding");
    }
    use.done();
    exchange.set_compressible(true);
    co_await exchange.respond(200, content_type_of(choose_exposition(exchange.header("accept"))), std::move(body));
  }

  void fill_page(MetricPage::For use) {
    std::vector<PluginStatus> plugins;
    if (parts_.plugins) plugins = parts_.plugins();
    plugin_requests_.set_plugins(plugins);
    page_.read(use, parts_.caches);
    for (auto& family : own_families()) page_.set(std::move(family));
    if (parts_.plugins) {
      plugin_requests_.show(
          plugins, [this](const std::string& name) { return page_.keep(name); },
          [this](MetricFamily family) { page_.set(std::move(family)); });
    }
    page_.count(rules_);
  }

  // Number of bytes that are compressed before the coroutine yields: about half a millisecond of work.
  static constexpr std::size_t kTurn = 256 << 10;

  static Task<void> respond_reset(Exchange& exchange) {
    exchange.set_response_header("X-Content-Type-Options", "nosniff");
    std::vector<SharedBytes> body;
    body.push_back(SharedBytes::from_static("metrics reset\n"));
    co_await exchange.respond(200, "text/plain; charset=utf-8", std::move(body));
  }

  const MetricsParts parts_;
  const MetricRules rules_;
  const bool has_page_;  // the rules change no samples, so the page has the text
  MetricPage page_;
  PluginRequests plugin_requests_;  // used with the page
};

}  // namespace

std::shared_ptr<HttpHandler> make_metrics_handler(MetricsParts parts, MetricRules rules) {
  return std::make_shared<MetricsHandler>(std::move(parts), std::move(rules));
}
std::shared_ptr<HttpHandler> make_slis_handler(const HealthRegistry& health, MetricRules rules) {
  return std::make_shared<SlisHandler>(health, std::move(rules));
}

}  // namespace backplane
