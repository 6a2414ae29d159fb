#include "translation.hpp"

#include <array>
#include <charconv>

namespace backplane::etcd {
namespace {

// The error of a server that has no leader; it has not processed the request.
constexpr std::string_view kNoLeader = "etcdserver: no leader";
// Errors of requests that no server has added to its log.
constexpr std::string_view kDropped = "raft proposal dropped";
constexpr std::string_view kDenied = "etcdserver: permission denied";

struct Words {
  std::string_view etcd;
  Reason reason;
  std::string_view ours;
};
// The errors of etcd that have a reason other than the default: the beginning of etcd's message, the reason, and the message for clients.
constexpr std::array<Words, 4> kWords = {{
    {"etcdserver: mvcc: required revision has been compacted", Reason::kExpired, "the requested revision has been compacted away"},
    {"etcdserver: mvcc: required revision is a future revision", Reason::kBadRequest, "the requested revision is a future revision"},
    {"etcdserver: requested lease not found", Reason::kNotFound, "requested lease not found"},
    {"etcdserver: duplicate key given in txn request", Reason::kBadRequest, "a key of the transaction is changed twice"},
}};

}  // namespace

std::string Keys::to_etcd(std::string_view key) const {
  if (prefix_.empty() || !key.starts_with(kStorageKeyRoot)) return std::string(key);
  return prefix_ + std::string(key.substr(kStorageKeyRoot.size()));
}

std::string Keys::from_etcd(std::string_view key) const {
  if (prefix_.empty() || !key.starts_with(prefix_)) return std::string(key);
  return std::string(kStorageKeyRoot) + std::string(key.substr(prefix_.size()));
}

Status to_status(const CallStatus& status) {
  const std::string& text = status.message;
  for (const Words& words : kWords) {
    if (text.starts_with(words.etcd)) return Status(words.reason, std::string(words.ours));
  }
  switch (status.code) {
    case Code::kDeadlineExceeded:
      return timeout("etcd did not answer in time", 1);
    case Code::kUnavailable:
    case Code::kCancelled:
      return service_unavailable("etcd cannot be reached: " + text);
    default:
      if (text != kDenied) return Status(500, Reason::kNone, text);
      return Status(500, Reason::kNone,
                    text + ": its user needs READWRITE on all keys that begin with --etcd-prefix (without a trailing slash)");
  }
}

bool was_not_sent(const CallStatus& status) {
  return (status.code == Code::kUnavailable && (status.never_sent || status.message == kNoLeader)) || status.message == kDropped;
}

bool is_electing(const CallStatus& status) {
  return (status.code == Code::kUnavailable && status.message.starts_with("etcdserver: ")) || status.message == kDropped;
}

Status stopped_status() { return service_unavailable("the store has stopped"); }
Status compacted_status() { return expired("the requested revision has been compacted away"); }

KeyValue take(etcdserverpb::KeyValue& kv, const Keys& keys) {
  KeyValue out;
  out.key = keys.from_etcd(kv.key());
  out.value = SharedBytes(std::move(*kv.mutable_value()));
  out.create_revision = kv.create_revision();
  out.mod_revision = kv.mod_revision();
  out.lease = kv.lease();
  return out;
}

StorageEvent take(etcdserverpb::Event& event, const Keys& keys) {
  StorageEvent out;
  if (event.type() == etcdserverpb::Event::DELETE) {
    out.type = StorageEvent::Type::kDelete;
    out.kv.key = keys.from_etcd(event.kv().key());
    out.kv.mod_revision = event.kv().mod_revision();
  } else {
    out.kv = take(*event.mutable_kv(), keys);
  }
  if (event.has_prev_kv()) {
    out.previous = SharedBytes(std::move(*event.mutable_prev_kv()->mutable_value()));
    out.previous_revision = event.prev_kv().mod_revision();
  }
  return out;
}

bool reports_progress_in_order(std::string_view version) {
  std::array<int, 3> parts{};
  for (int& part : parts) {
    const auto [end, error] = std::from_chars(version.data(), version.data() + version.size(), part);
    if (error != std::errc()) return false;
    version.remove_prefix(static_cast<std::size_t>(end - version.data()));
    if (version.starts_with('.')) version.remove_prefix(1);
  }
  const auto [major, minor, patch] = parts;
  if (major != 3) return major > 3;
  if (minor == 4) return patch >= 31;
  if (minor == 5) return patch >= 13;
  return minor > 5;
}

}  // namespace backplane::etcd
