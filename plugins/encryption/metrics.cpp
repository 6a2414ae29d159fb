#include "metrics.hpp"

#include <array>
#include <list>
#include <mutex>
#include <utility>

namespace backplane::encryption {
namespace {

constexpr std::string_view kDirections[] = {"from_storage", "to_storage"};

Metric& operations() {
  static Metric& metric = Metric::counter(
      "apiserver_storage_transformation_operations_total",
      "[ALPHA] Total number of transformations. Successful transformation will have a status 'OK' and a varied status string when the "
      "transformation fails. The status, resource, and transformation_type fields can be used for alerting purposes. For example, you can "
      "monitor for encryption/decryption failures using the transformation_type (e.g., from_storage for decryption and to_storage for "
      "encryption). Additionally, these fields can be used to ensure that the correct transformers are applied to each resource.",
      {"resource", "transformation_type", "transformer_prefix", "status"});
  return metric;
}
Metric& durations() {
  static Metric& metric = Metric::histogram("apiserver_storage_transformation_duration_seconds",
                                            "[ALPHA] Latencies in seconds of value transformation operations.",
                                            {"transformation_type", "transformer_prefix"}, exponential_bounds(5e-6, 2, 25));
  return metric;
}
Metric& cache_misses() {
  static Metric& metric = Metric::counter("apiserver_storage_envelope_transformation_cache_misses_total",
                                          "[ALPHA] Total number of cache misses while accessing key decryption key(KEK).", {});
  return metric;
}
Metric& key_durations() {
  static Metric& metric = Metric::histogram("apiserver_storage_data_key_generation_duration_seconds",
                                            "[ALPHA] Latencies in seconds of data encryption key(DEK) generation operations.", {},
                                            exponential_bounds(5e-6, 2, 14));
  return metric;
}
Metric& key_failures() {
  static Metric& metric = Metric::counter("apiserver_storage_data_key_generation_failures_total",
                                          "[ALPHA] Total number of failed data encryption key(DEK) generation operations.", {});
  return metric;
}
Metric& cache_fill() {
  static Metric& metric = Metric::gauge("apiserver_envelope_encryption_dek_cache_fill_percent",
                                        "[ALPHA] Percent of the cache slots currently occupied by cached DEKs.", {});
  return metric;
}
Metric& arrivals() {
  static Metric& metric = Metric::histogram("apiserver_envelope_encryption_dek_cache_inter_arrival_time_seconds",
                                            "[ALPHA] Time (in seconds) of inter arrival of transformation requests.",
                                            {"transformation_type"}, exponential_bounds(60, 2, 10));
  return metric;
}
Metric& kms_calls() {
  static Metric& metric = Metric::histogram("apiserver_envelope_encryption_kms_operations_latency_seconds",
                                            "[ALPHA] KMS operation duration with gRPC error code status total.",
                                            {"provider_name", "method_name", "grpc_status_code"}, exponential_bounds(0.0001, 2, 20));
  return metric;
}
Metric& key_cache_size() {
  static Metric& metric = Metric::gauge(
      "apiserver_envelope_encryption_dek_source_cache_size",
      "[ALPHA] Number of records in data encryption key (DEK) source cache. On a restart, this value is an approximation of the number of "
      "decrypt RPC calls the server will make to the KMS plugin.",
      {"provider_name"});
  return metric;
}
Metric& invalid_key_ids() {
  static Metric& metric = Metric::counter("apiserver_envelope_encryption_invalid_key_id_from_status_total",
                                          "[ALPHA] Number of times an invalid keyID is returned by the Status RPC call split by error.",
                                          {"provider_name", "error"});
  return metric;
}
const std::vector<std::string>& key_id_labels() {
  static const std::vector<std::string> labels = {"transformation_type", "provider_name", "key_id_hash", "apiserver_id_hash"};
  return labels;
}
Metric& key_ids() {
  static Metric& metric = Metric::counter(
      "apiserver_envelope_encryption_key_id_hash_total",
      "[ALPHA] Number of times a keyID is used split by transformation type, provider, and apiserver identity.", key_id_labels());
  return metric;
}
Metric& key_id_times() {
  static Metric& metric = Metric::gauge("apiserver_envelope_encryption_key_id_hash_last_timestamp_seconds",
                                        "[ALPHA] The last time in seconds when a keyID was used.", key_id_labels());
  return metric;
}
Metric& key_id_status_times() {
  static Metric& metric = Metric::gauge("apiserver_envelope_encryption_key_id_hash_status_last_timestamp_seconds",
                                        "[ALPHA] The last time in seconds when a keyID was returned by the Status RPC call.",
                                        {"provider_name", "key_id_hash", "apiserver_id_hash"});
  return metric;
}
double seconds(Elapsed elapsed) { return std::chrono::duration<double>(elapsed).count(); }
double now_seconds() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

MetricCell* cell(std::atomic<MetricCell*>& known, Metric& metric, std::initializer_list<std::string_view> labels) {
  MetricCell* found = known.load(std::memory_order_acquire);
  if (found != nullptr) return found;
  found = MetricCell::of(metric, labels);
  known.store(found, std::memory_order_release);
  return found;
}

// The labels of the series that the key ids of plugins create. Their number is bounded.
class KeptSeries {
 public:
  using Labels = std::array<std::string, 4>;

  // Returns the labels whose series are to be dropped; empty if the series exists or there is room.
  std::vector<Labels> keep(Labels labels) {
    const std::lock_guard lock(mutex_);
    for (const Labels& each : kept_) {
      if (each == labels) return {};
    }
    kept_.push_front(std::move(labels));
    std::vector<Labels> dropped;
    if (kept_.size() > kMost) {
      dropped.push_back(std::move(kept_.back()));
      kept_.pop_back();
    }
    return dropped;
  }

 private:
  static constexpr std::size_t kMost = 100;
  std::mutex mutex_;
  std::list<Labels> kept_;
};

}  // namespace

void expose_metrics() {
  for (Metric* metric : {&cache_misses(), &key_durations(), &key_failures(), &cache_fill()}) MetricCell::of(*metric, {});
}

std::string_view label_of(Direction direction) noexcept { return kDirections[static_cast<std::size_t>(direction)]; }

TransformationCount::TransformationCount(std::string resource, Direction direction, std::string prefix)
    : resource_(std::move(resource)), direction_(direction), prefix_(std::move(prefix)) {}

void TransformationCount::succeeded(Elapsed elapsed) const {
  if (MetricCell* found = cell(successes_, operations(), {resource_, label_of(direction_), prefix_, "OK"})) found->add();
  if (MetricCell* found = cell(durations_, durations(), {label_of(direction_), prefix_})) found->observe(seconds(elapsed));
}

void TransformationCount::failed(const Failure& failure) const {
  operations().add({resource_, label_of(direction_), prefix_, failure.code()});
}

void count_generated_key(Elapsed elapsed, bool ok) {
  if (ok) {
    key_durations().observe({}, seconds(elapsed));
  } else {
    key_failures().add({});
  }
}

void count_key_cache_miss() { cache_misses().add({}); }

void show_key_cache_fill(double part) { cache_fill().set({}, part); }

void observe_arrival(Direction direction) {
  using Ticks = std::chrono::steady_clock::rep;
  static std::array<std::atomic<Ticks>, 2> last{};
  const Ticks now = std::chrono::steady_clock::now().time_since_epoch().count();
  const Ticks before = last[static_cast<std::size_t>(direction)].exchange(now, std::memory_order_relaxed);
  arrivals().observe({label_of(direction)}, before == 0 ? 0 : seconds(Elapsed(now - before)));
}

void observe_kms_call(std::string_view provider, std::string_view method, Elapsed elapsed, std::string_view code) {
  kms_calls().observe({provider, method, code}, seconds(elapsed));
}

void show_key_cache_size(std::string_view provider, std::size_t size) { key_cache_size().set({provider}, static_cast<double>(size)); }

void count_invalid_key_id(std::string_view provider, std::string_view error) { invalid_key_ids().add({provider, error}); }

void keep_key_id(Direction direction, std::string_view provider, std::string_view key_id_hash, std::string_view server_id_hash) {
  static KeptSeries kept;
  const std::string_view type = label_of(direction);
  for (const auto& old : kept.keep({std::string(type), std::string(provider), std::string(key_id_hash), std::string(server_id_hash)})) {
    key_ids().forget({old[0], old[1], old[2], old[3]});
    key_id_times().forget({old[0], old[1], old[2], old[3]});
  }
}

void count_key_id(Direction direction, std::string_view provider, std::string_view key_id_hash, std::string_view server_id_hash) {
  const std::string_view type = label_of(direction);
  key_ids().add({type, provider, key_id_hash, server_id_hash});
  key_id_times().set({type, provider, key_id_hash, server_id_hash}, now_seconds());
}

void show_key_id_of_status(std::string_view provider, std::string_view key_id_hash, std::string_view server_id_hash) {
  static KeptSeries kept;
  for (const auto& old : kept.keep({std::string(provider), std::string(key_id_hash), std::string(server_id_hash), ""})) {
    key_id_status_times().forget({old[0], old[1], old[2]});
  }
  key_id_status_times().set({provider, key_id_hash, server_id_hash}, now_seconds());
}

}  // namespace backplane::encryption
