#include "tokens/token_cache.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <cstring>
#include <stdexcept>

#include "backplane/core/metric_cell.hpp"
#include "backplane/core/metrics.hpp"

namespace backplane::authentication {
namespace {

MetricCell* cell(Metric& metric, std::string_view status) { return MetricCell::of(metric, {status}); }

void append_sized(std::string& out, std::string_view text) {
  const auto size = static_cast<std::uint32_t>(text.size());
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(size >> shift & 0xFF));
  out.append(text);
}

}  // namespace

TokenCache::Metrics::Metrics() {
  Metric& requests = Metric::counter("authentication_token_cache_request_total", "Look-ups in the token cache, by status.", {"status"});
  Metric& durations =
      Metric::histogram("authentication_token_cache_request_duration_seconds", "Time of look-ups in the token cache, by status.",
                        {"status"}, {.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10});
  Metric& active = Metric::gauge("authentication_token_cache_active_fetch_count", "Look-ups in progress, by status.", {"status"});
  Metric& fetches = Metric::counter("authentication_token_cache_fetch_total", "Finished look-ups, by status.", {"status"});
  hits = {cell(requests, "hit"), cell(durations, "hit")};
  misses = {cell(requests, "miss"), cell(durations, "miss")};
  in_flight = cell(active, "in_flight");
  blocked = cell(active, "blocked");
  good = cell(fetches, "ok");
  bad = cell(fetches, "error");
}

void TokenCache::Metrics::request(const Requests& of, Clock::time_point began) {
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began);
  of.count->add();
  of.duration->observe(static_cast<double>(took.count()) / 1000);
}

TokenCache::TokenCache(LookUp look_up, Options options) : look_up_(std::move(look_up)), options_(std::move(options)) {
  if (RAND_bytes(secret_.data(), static_cast<int>(secret_.size())) != 1) throw std::runtime_error("no random numbers for the token cache");
}

std::size_t TokenCache::KeyHash::operator()(const Key& key) const noexcept {
  std::size_t out = 0;
  std::memcpy(&out, key.data() + 1, sizeof out);
  return out;
}

TokenCache::Key TokenCache::key_of(std::string_view token, const std::vector<std::string>& audiences) const {
  std::string text;
  text.reserve(token.size() + 64);
  append_sized(text, token);
  for (const std::string& audience : audiences) append_sized(text, audience);
  Key out{};
  unsigned size = 0;
  const auto* made = HMAC(EVP_sha256(), secret_.data(), static_cast<int>(secret_.size()),
                          reinterpret_cast<const unsigned char*>(text.data()), text.size(), out.data(), &size);
  if (made == nullptr) throw std::runtime_error("HMAC failed");
  return out;
}

TokenRecordRef TokenCache::find(const Key& key) const {
  Shard& shard = shard_of(key);
  const auto now = options_.now();
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.cached.find(key);
  return found != shard.cached.end() && found->second.expires > now ? found->second.record : nullptr;
}

TokenRecordRef TokenCache::find(std::string_view token, const std::vector<std::string>& audiences) const {
  const auto began = Clock::now();
  TokenRecordRef record = find(key_of(token, audiences));
  if (record) Metrics::request(metrics_.hits, began);
  return record;
}

bool TokenCache::join(const Key& key, const Promise<TokenRecordRef>& mine) {
  Shard& shard = shard_of(key);
  const std::lock_guard lock(shard.mutex);
  const auto [flight, first] = shard.waiting.try_emplace(key);
  if (!first) flight->second.push_back(mine);
  return first;
}

Task<TokenRecordRef> TokenCache::run(std::string token, std::vector<std::string> audiences) {
  auto record = std::make_shared<TokenRecord>();
  metrics_.in_flight->add();
  try {
    auto looking = look_up_(std::move(token), std::move(audiences));
    *record = co_await std::move(looking);
  } catch (const std::exception&) {
    record->result = internal_error("authentication failed unexpectedly");
  }
  (record->result.ok() ? metrics_.good : metrics_.bad)->add();
  metrics_.in_flight->add(-1);
  co_return record;
}

void TokenCache::store(Shard& shard, const Key& key, const TokenRecordRef& record) {
  const AuthenticationResult& result = record->result;
  const bool success = result.ok() && result->has_value();
  if (!result.ok() && !options_.cache_errors) return;
  const auto ttl = success ? options_.success_ttl : options_.failure_ttl;
  if (ttl <= ttl.zero()) return;
  const auto now = options_.now();
  if (now - shard.swept > ttl || shard.cached.size() >= kMostEntries) {
    std::erase_if(shard.cached, [now](const auto& each) { return each.second.expires <= now; });
    shard.swept = now;
  }
  if (shard.cached.size() < kMostEntries) shard.cached[key] = {record, now + ttl};
}

void TokenCache::finish(const Key& key, const TokenRecordRef& record) {
  Shard& shard = shard_of(key);
  std::vector<Promise<TokenRecordRef>> waiting;
  {
    const std::lock_guard lock(shard.mutex);
    store(shard, key, record);
    if (const auto flight = shard.waiting.find(key); flight != shard.waiting.end()) {
      waiting = std::move(flight->second);
      shard.waiting.erase(flight);
    }
  }
  for (const auto& each : waiting) each.set(record);
}

Task<TokenRecordRef> TokenCache::get(std::string token, std::vector<std::string> audiences) {
  const auto began = Clock::now();
  const Key key = key_of(token, audiences);
  if (TokenRecordRef record = find(key)) {
    Metrics::request(metrics_.hits, began);
    co_return record;
  }
  metrics_.blocked->add();
  const Promise<TokenRecordRef> mine;
  TokenRecordRef record;
  if (join(key, mine)) {
    record = co_await run(std::move(token), std::move(audiences));
    finish(key, record);
  } else {
    record = co_await mine.future();
  }
  metrics_.blocked->add(-1);
  Metrics::request(metrics_.misses, began);
  co_return record;
}

}  // namespace backplane::authentication
