#include "oidc/remote_keys.hpp"

#include <algorithm>
#include <charconv>
#include <ctime>

#include "backplane/core/task_set.hpp"
#include "backplane/host.hpp"

namespace backplane::authentication {
namespace {

constexpr std::chrono::seconds kExpiryMargin{30};
constexpr std::chrono::hours kLongestCache{24};
constexpr double kFetchBurst = 10;
constexpr std::chrono::seconds kFetchInterval{1};

std::optional<std::int64_t> seconds_of(std::string_view directives, std::string_view name) {
  for (std::size_t begin = 0; begin < directives.size();) {
    const std::size_t end = std::min(directives.find(',', begin), directives.size());
    std::string_view each = directives.substr(begin, end - begin);
    while (each.starts_with(' ')) each.remove_prefix(1);
    begin = end + 1;
    if (!each.starts_with(name) || each.size() <= name.size() || each[name.size()] != '=') continue;
    each.remove_prefix(name.size() + 1);
    std::int64_t value = 0;
    if (std::from_chars(each.data(), each.data() + each.size(), value).ec == std::errc() && value >= 0) return value;
  }
  return std::nullopt;
}

std::optional<std::chrono::system_clock::time_point> http_date(std::string_view text) {
  std::tm parts{};
  const std::string copy(text);
  if (copy.empty() || ::strptime(copy.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts) == nullptr) return std::nullopt;
  return std::chrono::system_clock::from_time_t(::timegm(&parts));
}

bool verifies(const kit::Jws& jws, const kit::KeySet& keys) { return kit::verifying_key(jws, keys) != nullptr; }

Status not_verified() { return unauthorized("failed to verify id token signature"); }

}  // namespace

std::chrono::seconds cache_lifetime(const OidcReply& reply, std::chrono::system_clock::time_point now) {
  const std::string_view control = reply.header("Cache-Control");
  std::chrono::seconds out{0};
  if (const auto shared = seconds_of(control, "s-maxage")) {
    out = std::chrono::seconds(std::min<std::int64_t>(*shared, 1'000'000'000));
  } else if (const auto age = seconds_of(control, "max-age")) {
    out = std::chrono::seconds(std::min<std::int64_t>(*age, 1'000'000'000));
  } else if (const auto expires = http_date(reply.header("Expires"))) {
    out = std::chrono::duration_cast<std::chrono::seconds>(*expires - now);
  }
  return std::clamp<std::chrono::seconds>(out, std::chrono::seconds(0), kLongestCache);
}

std::chrono::nanoseconds FetchLimit::take(std::chrono::steady_clock::time_point now) {
  if (last_ != std::chrono::steady_clock::time_point{}) {
    const double more = std::chrono::duration<double>(now - last_) / std::chrono::duration<double>(interval_);
    left_ = std::min(burst_, left_ + more);
  }
  last_ = now;
  left_ -= 1;
  return std::chrono::nanoseconds(std::max<std::int64_t>(0, static_cast<std::int64_t>(-left_ * static_cast<double>(interval_.count()))));
}

RemoteKeys::RemoteKeys(Host& host, std::shared_ptr<OidcClient> client, std::string url, Observer observer)
    : host_(host), client_(std::move(client)), url_(std::move(url)), observer_(std::move(observer)), limit_(kFetchBurst, kFetchInterval) {}

RemoteKeys::KeysRef RemoteKeys::cached() const {
  std::lock_guard lock(mutex_);
  return keys_;
}

Task<Status> RemoteKeys::verify(std::shared_ptr<const kit::Jws> jws, OidcClient::Deadline deadline) {
  const auto self = shared_from_this();
  // Tries expired keys, too, so that tokens remain valid while the provider is down.
  const KeysRef known = cached();
  bool verified = false;
  if (known) {
    auto work = run_blocking([&] { verified = verifies(*jws, known->set); });
    co_await std::move(work);
    if (verified) co_return Status();
    if (Clock::now() + kExpiryMargin <= known->expires) co_return not_verified();
  }
  auto fetching = refreshed(deadline);
  auto fresh = co_await std::move(fetching);
  if (!fresh.ok()) co_return unauthorized("fetching keys " + fresh.status().message());
  auto work = run_blocking([&] { verified = verifies(*jws, (*fresh)->set); });
  co_await std::move(work);
  if (!verified) co_return not_verified();
  co_return Status();
}

Task<Result<RemoteKeys::KeysRef>> RemoteKeys::refreshed(Clock::time_point deadline) {
  Promise<Result<KeysRef>> promise;
  bool begin = false;
  std::chrono::nanoseconds delay{};
  {
    std::lock_guard lock(mutex_);
    if (stopped_ || host_.stop_signal().fired()) co_return service_unavailable("the authenticator has been stopped");
    begin = !std::exchange(fetching_, true);
    if (begin) delay = limit_.take(Clock::now());
    waiters_.push_back(promise);
  }
  if (begin) host_.spawn("oidc-keys", fetch(delay));
  const Result<KeysRef> late = service_unavailable("context deadline exceeded");
  auto waiting = within(std::max<Clock::duration>(deadline - Clock::now(), Clock::duration::zero()), promise, late);
  auto result = co_await std::move(waiting);
  co_return result;
}

// `delay`: the time to wait before the request to the provider. Tokens that arrive meanwhile share the fetch, so a valid token among many
// invalid tokens is delayed but not refused.
Task<void> RemoteKeys::fetch(std::chrono::nanoseconds delay) {
  const auto self = shared_from_this();
  Result<KeysRef> result;
  // An exception must end the fetch, too; otherwise no later fetch would begin.
  try {
    if (delay > delay.zero()) co_await sleep_for(delay);
    auto fetching = fetch_keys();
    result = co_await std::move(fetching);
  } catch (const std::exception& error) {
    result = service_unavailable("oidc: get keys failed " + std::string(error.what()));
  }
  std::vector<Promise<Result<KeysRef>>> waiters;
  {
    std::lock_guard lock(mutex_);
    if (result.ok()) keys_ = *result;
    fetching_ = false;
    waiters.swap(waiters_);
  }
  for (const auto& each : waiters) each.set(result);
}

Task<Result<RemoteKeys::KeysRef>> RemoteKeys::fetch_keys() {
  auto getting = client_->get(url_);
  auto reply = co_await std::move(getting);
  const auto failed = [this](std::string why) {
    if (!stopped_) observer_(nullptr);
    return service_unavailable(std::move(why));
  };
  if (!reply.ok()) co_return failed("oidc: get keys failed " + reply.status().message());
  if (reply->code != 200) co_return failed("oidc: get keys failed: " + reply->status_line());
  auto set = kit::KeySet::from_jwks(reply->body);
  if (!set.ok()) co_return failed("oidc: failed to decode keys: " + set.status().message());
  if (!stopped_) observer_(&reply->body);
  auto keys = std::make_shared<Keys>();
  keys->set = std::move(*set);
  keys->expires = Clock::now() + cache_lifetime(*reply, std::chrono::system_clock::now());
  co_return KeysRef(std::move(keys));
}

}  // namespace backplane::authentication
