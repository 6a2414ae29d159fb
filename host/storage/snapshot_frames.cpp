#include "storage/snapshot_frames.hpp"

#include <openssl/evp.h>
#include <zlib.h>

#include <array>

#include "backplane/core/json_access.hpp"

namespace backplane::snapshot {
namespace {

void append_number(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

bool is(Frame kind, std::string_view payload) { return !payload.empty() && payload.front() == static_cast<char>(kind); }

std::string json_payload(Frame kind, const Object& content) { return static_cast<char>(kind) + boost::json::serialize(content); }

std::optional<Object> parse_json_payload(Frame kind, std::string_view payload) {
  if (!is(kind, payload)) return std::nullopt;
  boost::system::error_code error;
  Value value = boost::json::parse(payload.substr(1), error);
  if (error || !value.is_object()) return std::nullopt;
  return std::move(value.get_object());
}

std::int64_t integer(const Object& object, std::string_view name) {
  const Value* value = object.if_contains(name);
  return value != nullptr && value->is_int64() ? value->get_int64() : 0;
}

constexpr std::size_t kRevisionAt = 1, kLeaseAt = 9, kKeySizeAt = 17, kKeyAt = 21;

}  // namespace

std::uint32_t checksum(std::string_view payload) {
  return static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(payload.data()), static_cast<uInt>(payload.size())));
}

std::string frame(std::string_view payload) {
  std::string out;
  out.reserve(kFrameHead + payload.size());
  append_number(out, payload.size(), 4);
  append_number(out, checksum(payload), 4);
  out.append(payload);
  return out;
}

Head parse_head(std::string_view bytes) {
  return {static_cast<std::uint32_t>(number_at(bytes, 0, 4)), static_cast<std::uint32_t>(number_at(bytes, 4, 4))};
}

std::string header_payload(const SnapshotHeader& header) {
  return json_payload(Frame::kHeader, {{"revision", header.revision}, {"created", header.created}, {"source", header.source}});
}

std::string record_payload(const KeyValue& item) {
  std::string out(1, static_cast<char>(Frame::kRecord));
  out.reserve(kKeyAt + item.key.size() + item.value.size());
  append_number(out, static_cast<std::uint64_t>(item.mod_revision), 8);
  append_number(out, static_cast<std::uint64_t>(item.lease), 8);
  append_number(out, item.key.size(), 4);
  out.append(item.key).append(item.value.view());
  return out;
}

std::string end_payload(const SnapshotSummary& summary) {
  return json_payload(Frame::kEnd, {{"keys", summary.keys}, {"bytes", summary.bytes}, {"sha256", summary.digest}});
}

std::optional<SnapshotHeader> parse_header(std::string_view payload) {
  const auto content = parse_json_payload(Frame::kHeader, payload);
  if (!content) return std::nullopt;
  return SnapshotHeader{integer(*content, "revision"), std::string(get_string(*content, "created")),
                        std::string(get_string(*content, "source"))};
}

std::optional<KeyValue> parse_record(std::string_view payload) {
  if (!is(Frame::kRecord, payload) || payload.size() < kKeyAt) return std::nullopt;
  const std::size_t size = number_at(payload, kKeySizeAt, 4);
  if (size == 0 || size > payload.size() - kKeyAt) return std::nullopt;
  KeyValue item;
  item.key = payload.substr(kKeyAt, size);
  item.value = SharedBytes(std::string(payload.substr(kKeyAt + size)));
  item.mod_revision = static_cast<Revision>(number_at(payload, kRevisionAt, 8));
  item.lease = static_cast<LeaseId>(number_at(payload, kLeaseAt, 8));
  return item;
}

std::optional<SnapshotSummary> parse_end(std::string_view payload) {
  const auto content = parse_json_payload(Frame::kEnd, payload);
  if (!content) return std::nullopt;
  return SnapshotSummary{static_cast<std::uint64_t>(integer(*content, "keys")), static_cast<std::uint64_t>(integer(*content, "bytes")),
                         std::string(get_string(*content, "sha256"))};
}

FileDigest::FileDigest() : context_(EVP_MD_CTX_new()) { EVP_DigestInit_ex(static_cast<EVP_MD_CTX*>(context_), EVP_sha256(), nullptr); }
FileDigest::~FileDigest() { EVP_MD_CTX_free(static_cast<EVP_MD_CTX*>(context_)); }

void FileDigest::add(std::string_view bytes) { EVP_DigestUpdate(static_cast<EVP_MD_CTX*>(context_), bytes.data(), bytes.size()); }

std::string FileDigest::finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_DigestFinal_ex(static_cast<EVP_MD_CTX*>(context_), digest.data(), &size);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (unsigned i = 0; i < size; ++i) {
    text.push_back(kDigits[digest[i] >> 4]);
    text.push_back(kDigits[digest[i] & 15]);
  }
  return text;
}

}  // namespace backplane::snapshot
