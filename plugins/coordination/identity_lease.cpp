#include "identity_lease.hpp"

#include <openssl/evp.h>

#include <array>

#include "backplane/kit/walk.hpp"
#include "backplane/meta.hpp"

namespace backplane::coordination {
namespace {

using namespace kit;

// Upstream's: IdentityLeaseDurationSeconds and IdentityLeaseRenewIntervalPeriod, and the pauses of its lease controller.
constexpr int kSeconds = 3600;
constexpr std::chrono::seconds kInterval{10};
constexpr std::chrono::milliseconds kFirstPause{200}, kLongestPause{7000}, kBusyPause{10};

void append_prefixed(std::string& out, std::string_view text) {
  out.push_back(static_cast<char>(text.size() >> 8));
  out.push_back(static_cast<char>(text.size() & 0xFF));
  out.append(text);
}

// RFC 4648, in lower case and without padding.
std::string base32(const unsigned char* bytes, std::size_t size) {
  static constexpr std::string_view kDigits = "abcdefghijklmnopqrstuvwxyz234567";
  std::string out;
  unsigned buffer = 0;
  int bits = 0;
  for (std::size_t i = 0; i < size; ++i) {
    buffer = buffer << 8 | bytes[i];
    for (bits += 8; bits >= 5; bits -= 5) out.push_back(kDigits[buffer >> (bits - 5) & 31]);
  }
  if (bits > 0) out.push_back(kDigits[buffer << (5 - bits) & 31]);
  return out;
}

}  // namespace

std::string server_id(const std::string& hostname) {
  constexpr std::size_t kHashBytes = 16;
  std::string hashed;
  append_prefixed(hashed, hostname);
  append_prefixed(hashed, kIdentity);
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  EVP_Digest(hashed.data(), hashed.size(), hash.data(), nullptr, EVP_sha256(), nullptr);
  return "apiserver-" + base32(hash.data(), kHashBytes);
}

IdentityLease::IdentityLease(Host& host, Identity identity)
    : host_(host), identity_(std::move(identity)), name_(server_id(identity_.hostname)), holder_(name_ + "_" + new_uid()) {}

void IdentityLease::set(Object& lease) const {
  Object& metadata = ensure_object(lease, "metadata");
  metadata["name"] = name_;
  metadata["namespace"] = kLeaseNamespace;
  Object& labels = ensure_object(metadata, "labels");
  labels[kIdentityLabel] = kIdentity;
  labels["kubernetes.io/hostname"] = identity_.hostname;
  if (!identity_.peer_address.empty()) {
    ensure_object(metadata, "annotations")["kubernetes.io/peer-advertise-address"] = identity_.peer_address;
  }
  Object& spec = ensure_object(lease, "spec");
  if (!has(spec, "holderIdentity")) spec["holderIdentity"] = holder_;
  spec["leaseDurationSeconds"] = kSeconds;
  spec["renewTime"] = now_micro_rfc3339();
}

Task<Status> IdentityLease::remove() {
  auto removed = co_await client_->remove(leases(), std::string(kLeaseNamespace), name_);
  const bool gone = removed.ok() || removed.status().code() == 404;
  co_return gone ? Status() : std::move(removed).status();
}

// Nobody else writes it, so it is taken to be as it was left.
Task<Status> IdentityLease::renew() {
  const std::string ns(kLeaseNamespace);
  if (!last_) {
    auto have = co_await client_->get(leases(), ns, name_);
    if (!have.ok() && have.status().code() != 404) co_return std::move(have).status();
    if (have.ok()) last_ = std::move(*have);
  }
  const bool missing = !last_;
  Object lease = missing ? Object() : *last_;
  lease["kind"] = "Lease";
  lease["apiVersion"] = "coordination.k8s.io/v1";
  set(lease);
  auto writing = missing ? client_->create(leases(), ns, std::move(lease)) : client_->update(leases(), ns, std::move(lease));
  auto written = co_await std::move(writing);
  last_.reset();
  if (!written.ok()) co_return std::move(written).status();
  last_ = std::move(*written);
  co_return Status();
}

Task<Status> IdentityLease::start(PostStartHookContext context) {
  client_.emplace(host_.client());
  Status removed = co_await remove();
  if (!removed.ok()) host_.logger().error("error deleting old lease lease=" + name_ + ": " + removed.message());
  host_.spawn("identity-lease", run(context.stop));
  co_return Status();
}

Task<void> IdentityLease::run(Signal& stop) {
  Sleeper sleeper(stop);
  std::chrono::milliseconds pause = kFirstPause;
  bool running = !stop.fired();
  while (running && !stopped_) {
    busy_ = true;
    Status renewed = co_await renew();
    busy_ = false;
    // The first may come before its namespace.
    const bool worth_telling = pause > kFirstPause && !stop.fired();
    if (!renewed.ok() && worth_telling) host_.logger().error("failed to renew the identity lease, will retry: " + renewed.message());
    pause = renewed.ok() ? kFirstPause : std::min(2 * pause, kLongestPause);
    running = co_await sleeper.sleep(renewed.ok() ? std::chrono::milliseconds(kInterval) : pause);
  }
}

Task<Status> IdentityLease::stop() {
  stopped_ = true;
  if (!client_) co_return Status();
  // What a running renewal writes must not come after what is removed here.
  while (busy_) co_await sleep_for(kBusyPause);
  Status removed = co_await remove();
  if (!removed.ok()) host_.logger().error("unable to delete lease lease=" + name_ + ": " + removed.message());
  co_return Status();
}

}  // namespace backplane::coordination
