// The metrics of transformations, data keys and KMS plugins, under kube-apiserver's names.
//
// Thread-safety: any thread; counting a successful transformation is two atomic additions.
// Source:        k8s.io/apiserver/pkg/storage/value/metrics.go, …/encrypt/envelope/metrics, …/server/options/encryptionconfig/metrics.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "backplane/core/metric_cell.hpp"
#include "backplane/core/metrics.hpp"
#include "backplane/kit/content_hash.hpp"
#include "outcome.hpp"

namespace backplane::encryption {

using Elapsed = std::chrono::steady_clock::duration;

// Returns the hash that represents a key id or a server id in metrics and logs.
inline std::string hash_text(std::string_view text) { return kit::content_hash(text); }

// Creates the series that kube-apiserver exposes before their first count.
void expose_metrics();

enum class Direction : unsigned char { kFromStorage, kToStorage };
std::string_view label_of(Direction direction) noexcept;

// Counts the transformations of one resource in one direction, for values with one prefix.
class TransformationCount {
 public:
  TransformationCount(std::string resource, Direction direction, std::string prefix);
  TransformationCount(const TransformationCount&) = delete;
  TransformationCount& operator=(const TransformationCount&) = delete;

  void succeeded(Elapsed elapsed) const;
  void failed(const Failure& failure) const;

 private:
  const std::string resource_;
  const Direction direction_;
  const std::string prefix_;
  // Null until the first value, which creates the series.
  mutable std::atomic<MetricCell*> successes_{nullptr}, durations_{nullptr};
};

void count_generated_key(Elapsed elapsed, bool ok);
void count_key_cache_miss();

// ---- KMS v1
void show_key_cache_fill(double part);
void observe_arrival(Direction direction);

// ---- KMS v2
void observe_kms_call(std::string_view provider, std::string_view method, Elapsed elapsed, std::string_view code);
void show_key_cache_size(std::string_view provider, std::size_t size);
void count_invalid_key_id(std::string_view provider, std::string_view error);
// Counts a value that was read or written with the key of this id.
void count_key_id(Direction direction, std::string_view provider, std::string_view key_id_hash, std::string_view server_id_hash);
// Must be called before the first count of a key id. Keeps the series of the last hundred key ids, and drops older ones.
void keep_key_id(Direction direction, std::string_view provider, std::string_view key_id_hash, std::string_view server_id_hash);
// Counts a status response of the plugin that contains this key id.
void show_key_id_of_status(std::string_view provider, std::string_view key_id_hash, std::string_view server_id_hash);

}  // namespace backplane::encryption
