#include "storage/etcd_limit.hpp"

#include <string>

namespace backplane {
namespace {

constexpr std::size_t kMaxRequestBytes = 1536 * 1024;   // the default of etcd's --max-request-bytes
constexpr std::size_t kMaxSendBytes = 2 * 1024 * 1024;  // the limit of etcd's client
constexpr std::size_t kRaftHeaderBytes = 17;            // the size of the request ID and the enclosing message, which etcd adds

std::size_t varint(std::size_t value) {
  std::size_t bytes = 1;
  for (; value >= 0x80; value >>= 7) ++bytes;
  return bytes;
}
// The encoded size of a field of `size` bytes: key, length and content.
std::size_t field(std::size_t size) { return 1 + varint(size) + size; }

// The size of a RequestOp in a TxnRequest.
std::size_t operation(std::size_t request) { return field(field(request)); }

// The size of the etcdserverpb.TxnRequest that puts a key if the key does not exist.
std::size_t size_of_create(std::size_t key, std::size_t value) {
  const std::size_t target = 2, revision = 2;
  return field(target + field(key) + revision) + operation(field(key) + field(value));
}

Status refused(std::size_t bytes) {
  if (bytes > kMaxSendBytes) {
    return Status(500, Reason::kNone,
                  "rpc error: code = ResourceExhausted desc = trying to send message larger than max (" + std::to_string(bytes) + " vs. " +
                      std::to_string(kMaxSendBytes) + ")");
  }
  return Status(500, Reason::kNone, "etcdserver: request is too large");
}

}  // namespace

Status check_etcd_limit(std::string_view key, std::size_t bytes, const std::function<Result<std::size_t>()>& in_etcd) {
  if (size_of_create(key.size(), bytes) + kRaftHeaderBytes <= kMaxRequestBytes) return {};
  auto value = in_etcd();
  if (!value.ok()) return std::move(value.status());
  const std::size_t size = size_of_create(key.size(), *value);
  return size + kRaftHeaderBytes <= kMaxRequestBytes ? Status() : refused(size);
}

}  // namespace backplane
