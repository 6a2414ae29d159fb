#include "app/metrics_handler.hpp"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "backplane/codec.hpp"
#include "base/free_memory.hpp"

namespace backplane {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Families = std::vector<MetricFamily>;

ClientMetric with_labels(std::initializer_list<std::pair<const char*, std::string>> labels) {
  ClientMetric metric;
  for (const auto& [name, value] : labels) {
    ClientMetric::Label label;
    label.name = name;
    label.value = value;
    metric.label.push_back(std::move(label));
  }
  return metric;
}

MetricFamily& add_family(Families& families, const char* name, const char* help, MetricType type) {
  families.emplace_back();
  families.back().name = name;
  families.back().help = help;
  families.back().type = type;
  return families.back();
}

void add_value(Families& families, const char* name, const char* help, MetricType type, double value) {
  ClientMetric metric;
  (type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
  add_family(families, name, help, type).metric.push_back(std::move(metric));
}

void add_requests(Families& families, const RequestMetrics& requests) {
  auto& totals = add_family(families, "apiserver_request_total", "Requests by verb and HTTP response code.", MetricType::Counter);
  for (std::size_t verb = 0; verb < RequestMetrics::kVerbs.size(); ++verb) {
    for (int code = RequestMetrics::kFirstCode; code < RequestMetrics::kFirstCode + RequestMetrics::kCodes; ++code) {
      const auto count = requests.total(verb, code);
      if (count == 0) continue;
      auto metric = with_labels({{"code", std::to_string(code)}, {"verb", std::string(RequestMetrics::kVerbs[verb])}});
      metric.counter.value = static_cast<double>(count);
      totals.metric.push_back(std::move(metric));
    }
  }
  auto& durations =
      add_family(families, "apiserver_request_duration_seconds", "Response latency in seconds by verb.", MetricType::Histogram);
  for (std::size_t verb = 0; verb < RequestMetrics::kVerbs.size(); ++verb) {
    const auto& latency = requests.latency(verb);
    const auto count = latency.count.load(std::memory_order_relaxed);
    if (count == 0) continue;
    auto metric = with_labels({{"verb", std::string(RequestMetrics::kVerbs[verb])}});
    metric.histogram.sample_count = count;
    metric.histogram.sample_sum = static_cast<double>(latency.sum_ns.load(std::memory_order_relaxed)) / 1e9;
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < RequestMetrics::kBuckets.size(); ++i) {
      below += latency.buckets[i].load(std::memory_order_relaxed);
      ClientMetric::Bucket bucket;
      bucket.cumulative_count = below;
      bucket.upper_bound = RequestMetrics::kBuckets[i];
      metric.histogram.bucket.push_back(bucket);
    }
    durations.metric.push_back(std::move(metric));
  }
}

void add_in_flight(Families& families, const InFlightLimits& in_flight) {
  auto& family = add_family(families, "apiserver_current_inflight_requests",
                            "The most short requests that ran at once in the last second, by kind.", MetricType::Gauge);
  for (const bool mutating : {true, false}) {
    auto metric = with_labels({{"request_kind", mutating ? "mutating" : "readOnly"}});
    metric.gauge.value = in_flight.highest(mutating);
    family.metric.push_back(std::move(metric));
  }
}

void add_caches(Families& families, const TrackedCaches& caches) {
  MetricFamily bytes{"apiserver_watch_cache_bytes", "Bytes of encoded objects held in memory, by key prefix.", MetricType::Gauge, {}};
  for (const auto& [prefix, totals] : caches.totals()) {
    bytes.metric.push_back(with_labels({{"prefix", prefix}}));
    bytes.metric.back().gauge.value = static_cast<double>(totals.bytes);
  }
  families.push_back(std::move(bytes));
}

void add_objects(Families& families, const TrackedCaches& caches) {
  auto& family = add_family(families, "apiserver_resource_objects",
                            "Objects that are stored, by resource; kinds that are served in several groups count where they are stored.",
                            MetricType::Gauge);
  MetricFamily older{"apiserver_storage_objects", "The same by the older name, resource and group in one label.", MetricType::Gauge, {}};
  for (const auto& [prefix, totals] : caches.totals()) {
    const auto& [group, resource] = totals.resource;
    family.metric.push_back(with_labels({{"group", group}, {"resource", resource}}));
    family.metric.back().gauge.value = static_cast<double>(totals.objects);
    older.metric.push_back(with_labels({{"resource", group.empty() ? resource : resource + "." + group}}));
    older.metric.back().gauge.value = static_cast<double>(totals.objects);
  }
  families.push_back(std::move(older));
}

// JSON is counted with the caches: it is what every entry begins with.
void add_encodings(Families& families) {
  auto& family = add_family(families, "apiserver_encoded_object_bytes",
                            "Bytes of encodings beside JSON that were asked for and are shared, by media type.", MetricType::Gauge);
  for (const Codec* codec : codecs()) {
    if (codec == &json_codec()) continue;
    family.metric.push_back(with_labels({{"media_type", std::string(codec->media_type())}}));
    family.metric.back().gauge.value = static_cast<double>(codec->held_bytes());
  }
}

void add_gates(Families& families, const FeatureGates& gates) {
  auto& family = add_family(families, "kubernetes_feature_enabled", "Whether a feature is there, by the name and stage of its gate.",
                            MetricType::Gauge);
  for (const auto& [name, _] : gates.all()) {
    family.metric.push_back(with_labels({{"name", name}, {"stage", std::string(FeatureGates::stage_of(name))}}));
    family.metric.back().gauge.value = gates.in_effect(name) ? 1 : 0;
  }
}

double open_files() {
  std::error_code error;
  double count = 0;
  for (auto it = std::filesystem::directory_iterator("/proc/self/fd", error); !error && it != std::filesystem::directory_iterator();
       it.increment(error)) {
    ++count;
  }
  return count;
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
  std::vector<SharedBytes> body;
  body.emplace_back(prometheus::TextSerializer().Serialize(families));
  exchange.set_compressible(true);
  co_await exchange.respond(200, "text/plain; version=0.0.4; charset=utf-8", std::move(body));
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
  MetricsHandler(MetricsParts parts, MetricRules rules) : parts_(parts), rules_(std::move(rules)) {
    Families first;
    add_process(first);  // notes the start time
  }

  Task<void> handle(RequestContext&, Exchange& exchange) override {
    if (parts_.may_reset && exchange.method() == "DELETE") {
      parts_.requests.reset();
      co_await say_reset(exchange);
      co_return;
    }
    Families families;
    add_process(families);
    add_requests(families, parts_.requests);
    add_in_flight(families, parts_.in_flight);
    add_caches(families, parts_.caches);
    if (parts_.count_objects) add_objects(families, parts_.caches);
    add_encodings(families);
    add_gates(families, parts_.gates);
    add_value(families, "apiserver_tls_handshake_errors_total", "Number of requests dropped with a TLS handshake error.",
              MetricType::Counter, static_cast<double>(parts_.transport.tls_handshake_errors.load(std::memory_order_relaxed)));
    if (parts_.store_size) {
      add_value(families, "apiserver_storage_size_bytes", "Size of the store in bytes; -1: unknown.", MetricType::Gauge,
                static_cast<double>(parts_.storage.size_bytes()));
    }
    rules_.apply(families);
    co_await answer(exchange, std::move(families));
  }

 private:
  static Task<void> say_reset(Exchange& exchange) {
    exchange.set_response_header("X-Content-Type-Options", "nosniff");
    std::vector<SharedBytes> body;
    body.push_back(SharedBytes::from_static("metrics reset\n"));
    co_await exchange.respond(200, "text/plain; charset=utf-8", std::move(body));
  }

  MetricsParts parts_;
  MetricRules rules_;
};

}  // namespace

std::shared_ptr<HttpHandler> make_metrics_handler(MetricsParts parts, MetricRules rules) {
  return std::make_shared<MetricsHandler>(parts, std::move(rules));
}
std::shared_ptr<HttpHandler> make_slis_handler(const HealthRegistry& health, MetricRules rules) {
  return std::make_shared<SlisHandler>(health, std::move(rules));
}

}  // namespace backplane
